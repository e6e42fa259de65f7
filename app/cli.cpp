// SPDX-License-Identifier: Apache-2.0
#include "app/cli.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "app/cli_syntax.hpp"
#include "app/loss_options.hpp"
#include "app/values.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"
#include "base/version.hpp"

namespace lossgrad::app {
namespace {

template <class Value, std::size_t Count>
using NameTable = std::array<std::pair<std::string_view, Value>, Count>;

constexpr NameTable<ColorChoice, 3> kColors = {
    {{"auto", ColorChoice::automatic}, {"always", ColorChoice::always}, {"never", ColorChoice::never}}};
constexpr NameTable<BackendChoice, 3> kBackends = {
    {{"auto", BackendChoice::automatic}, {"cuda", BackendChoice::cuda}, {"host", BackendChoice::host}}};
constexpr NameTable<MatchRule, 2> kMatchRules = {{{"row", MatchRule::row}, {"iou", MatchRule::iou}}};
constexpr NameTable<BoxFormat, 3> kBoxFormats = {
    {{"xyxy", BoxFormat::xyxy}, {"xywh", BoxFormat::xywh}, {"cxcywh", BoxFormat::cxcywh}}};
constexpr NameTable<Pass, 2> kPasses = {{{"forward", Pass::forward}, {"backward", Pass::backward}}};
constexpr NameTable<Dtype, 4> kDtypes = {
    {{"f32", Dtype::f32}, {"f64", Dtype::f64}, {"f16", Dtype::f16}, {"bf16", Dtype::bf16}}};

template <class Value, std::size_t Count>
Value look_up(const NameTable<Value, Count>& table, std::string_view flag, std::string_view given,
              bool all_is_known = false) {
  std::vector<std::string> known;
  for (const auto& [text, value] : table) {
    if (text == given) return value;
    known.emplace_back(text);
  }
  if (all_is_known) known.emplace_back("all");
  throw Error(ErrorKind::usage, std::string(flag) + ": " + unknown_name_message("value", given, known));
}

// Values of a comma list; `all` stands for every one.
template <class Value, std::size_t Count>
std::vector<Value> look_up_list(const NameTable<Value, Count>& table, std::string_view flag,
                                std::string_view given) {
  std::vector<Value> values;
  const std::vector<std::string> names = parse_names(flag, given);
  for (const std::string& name : names) {
    if (name != "all") values.push_back(look_up(table, flag, name, true));
  }
  if (values.size() == names.size()) return values;
  values.clear();
  for (const auto& [text, value] : table) values.push_back(value);
  return values;
}

CommonOptions common_options(const Given& given) {
  CommonOptions options;
  if (given.flag("--quiet") && given.flag("--verbose")) {
    throw Error(ErrorKind::usage, "--quiet and --verbose exclude each other");
  }
  if (given.flag("--quiet")) options.verbosity = Verbosity::quiet;
  if (given.flag("--verbose")) options.verbosity = Verbosity::verbose;
  if (const auto color = given.value("--color")) options.color = look_up(kColors, "--color", *color);
  return options;
}

int device_index(const std::string& text) {
  const std::int64_t index = parse_count("--device", text);
  if (index > std::numeric_limits<int>::max())
    throw Error(ErrorKind::usage, "--device: " + text + " is too large");
  return static_cast<int>(index);
}

std::string json_target(const Given& given) {
  const auto path = given.value("--json");
  if (path && path->empty()) throw Error(ErrorKind::usage, "--json: a file name or - is expected");
  return path.value_or("");
}

void read_case(const Given& given, CheckOptions& options) {
  if (const auto text = given.value("--pass")) options.passes = look_up_list(kPasses, "--pass", *text);
  if (const auto text = given.value("--dtype")) options.dtypes = look_up_list(kDtypes, "--dtype", *text);
  for (const SizeInfo& size : all_sizes()) {
    const std::string flag = flag_of_size(size.name);
    if (const auto text = given.value(flag)) options.sizes[size.name] = parse_counts(flag, *text);
  }
  for (const BlockInfo& block : all_blocks()) {
    const std::string flag = flag_of(block.name);
    if (const auto text = given.value(flag)) options.blocks[block.name] = parse_counts(flag, *text);
  }
  for (const ParameterInfo& parameter : all_parameters()) {
    const std::string flag = flag_of(parameter.name);
    if (const auto text = given.value(flag)) options.parameters[parameter.name] = parse_numbers(flag, *text);
  }
  if (const auto text = given.value("--scenario")) options.scenarios = parse_names("--scenario", *text);
  if (const auto text = given.value("--seed")) options.seed = parse_seed("--seed", *text);
  if (const auto text = given.value("--convention")) options.conventions = parse_names("--convention", *text);
  if (const auto text = given.value("--backend")) options.backend = look_up(kBackends, "--backend", *text);
  if (const auto text = given.value("--device")) options.device = device_index(*text);
}

void read_files(const Given& given, CheckOptions& options) {
  for (const Argument& argument : all_file_arguments()) {
    const auto path = given.value("--" + argument.name);
    if (!path) continue;
    if (path->empty()) throw Error(ErrorKind::usage, "--" + argument.name + ": a file name is expected");
    options.files[argument.name] = *path;
  }
  if (const auto text = given.value("--box-format"))
    options.box_format = look_up(kBoxFormats, "--box-format", *text);
  if (const auto text = given.value("--match")) options.match = look_up(kMatchRules, "--match", *text);
}

void read_criteria(const Given& given, CheckOptions& options) {
  if (const auto text = given.value("--slack")) options.slack = parse_positive("--slack", *text);
  if (const auto text = given.value("--rtol")) options.rtol = parse_not_negative("--rtol", *text);
  if (const auto text = given.value("--atol")) options.atol = parse_not_negative("--atol", *text);
  if (options.rtol.has_value() != options.atol.has_value()) {
    throw Error(ErrorKind::usage, options.rtol ? "--rtol needs --atol too" : "--atol needs --rtol too");
  }
  if (options.rtol && given.value("--slack")) {
    throw Error(ErrorKind::usage,
                "--slack multiplies the bound that --rtol and --atol replace: give one or the other");
  }
  if (const auto text = given.value("--fd-samples")) options.fd_samples = parse_count("--fd-samples", *text);
  if (options.fd_samples == 0) {
    throw Error(ErrorKind::usage,
                "--fd-samples: 1 or more is expected (--skip oracles,self_consistency leaves them out)");
  }
  options.full_jacobian = given.flag("--full-jacobian");
  if (const auto text = given.value("--skip")) options.skip = parse_names("--skip", *text);
  options.allow_mistrusted = given.flag("--allow-mistrusted");
  options.diagnose = !given.flag("--no-diagnosis");
  options.json = json_target(given);
  if (const auto folder = given.value("--save-failures")) {
    if (folder->empty()) throw Error(ErrorKind::usage, "--save-failures: a folder is expected");
    options.save_failures = *folder;
  }
}

CheckOptions check_options(const Given& given) {
  CheckOptions options;
  read_case(given, options);
  read_files(given, options);
  read_criteria(given, options);
  options.loss = given.positional("LOSS");
  options.list = given.flag("--list");
  if (options.loss.empty() && !options.list) {
    throw Error(ErrorKind::usage, "check: a loss is expected: " + CLI::detail::join(loss_names(), ", ") +
                                      " (lossgrad check --list describes them)");
  }
  return options;
}

SelftestOptions selftest_options(const Given& given) {
  SelftestOptions options;
  if (const auto text = given.value("--loss")) options.losses = parse_names("--loss", *text);
  if (const auto text = given.value("--dtype")) options.dtypes = look_up_list(kDtypes, "--dtype", *text);
  if (const auto text = given.value("--fault")) options.faults = parse_names("--fault", *text);
  options.diagnosis = given.flag("--diagnosis");
  if (const auto text = given.value("--backend")) options.backend = look_up(kBackends, "--backend", *text);
  if (const auto text = given.value("--device")) options.device = device_index(*text);
  options.json = json_target(given);
  return options;
}

KernelsShowOptions show_options(const Given& given) {
  KernelsShowOptions options;
  options.id = given.positional("ID");
  if (options.id.empty()) {
    throw Error(ErrorKind::usage, "kernels show: a kernel id is expected (lossgrad kernels list names them)");
  }
  constexpr NameTable<KernelView, 4> kViews = {{{"--source", KernelView::source},
                                                {"--entry-point", KernelView::entry_point},
                                                {"--ptx", KernelView::ptx},
                                                {"--resources", KernelView::resources}}};
  int views = 0;
  for (const auto& [flag, view] : kViews) {
    if (!given.flag(std::string(flag))) continue;
    options.view = view;
    ++views;
  }
  if (views > 1)
    throw Error(ErrorKind::usage, "kernels show: only one of --source, --entry-point, --ptx, --resources");
  if (const auto text = given.value("--arch")) options.architectures = parse_architectures("--arch", *text);
  const bool compiles = options.view == KernelView::ptx || options.view == KernelView::resources;
  if (!options.architectures.empty() && !compiles)
    throw Error(ErrorKind::usage, "--arch needs --ptx or --resources");
  return options;
}

KernelsBuildOptions build_options(const Given& given) {
  KernelsBuildOptions options;
  if (const auto text = given.value("--backend")) options.backend = look_up(kBackends, "--backend", *text);
  if (const auto text = given.value("--arch")) options.architectures = parse_architectures("--arch", *text);
  if (!options.architectures.empty() && options.backend == BackendChoice::host) {
    throw Error(ErrorKind::usage, "--arch is for --backend cuda");
  }
  return options;
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  Syntax syntax;
  syntax.parse(arguments);
  if (syntax.help_wanted()) return {{}, ShowText{syntax.help()}};
  const Given& given = syntax.given();
  if (given.flag("--version")) return {{}, ShowText{"lossgrad " + std::string(version()) + "\n"}};
  const CommonOptions common = common_options(given);
  const std::string& command = syntax.command();
  if (command == "check") return {common, check_options(given)};
  if (command == "selftest") return {common, selftest_options(given)};
  if (command == "devices") return {common, DevicesOptions{}};
  if (command == "kernels list") return {common, KernelsListOptions{}};
  if (command == "kernels show") return {common, show_options(given)};
  if (command == "kernels build") return {common, build_options(given)};
  if (command == "kernels") throw Error(ErrorKind::usage, "kernels: list, show ID or build is expected");
  throw Error(ErrorKind::usage,
              "a command is expected: check, selftest, devices or kernels (see lossgrad --help)");
}

}  // namespace lossgrad::app
