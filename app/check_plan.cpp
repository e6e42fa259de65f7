// SPDX-License-Identifier: Apache-2.0
#include "app/check_plan.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "app/loss_options.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"
#include "base/suggest.hpp"
#include "report/number_text.hpp"

namespace lossgrad::app {
namespace {

// The wanted names, each known; `all` stands for every one, nothing for the default.
std::vector<std::string> choose(const char* kind, const std::vector<std::string>& wanted,
                                const std::vector<std::string>& known, const std::string& standard) {
  if (wanted.empty()) return {standard};
  std::vector<std::string> choices = known;
  choices.emplace_back("all");
  for (const std::string& given : wanted) {
    if (std::find(choices.begin(), choices.end(), given) == choices.end())
      throw Error(ErrorKind::usage, unknown_name_message(kind, given, choices));
  }
  return std::find(wanted.begin(), wanted.end(), "all") == wanted.end() ? wanted : known;
}

// Unlike other lists `all` is no choice here: a run that checks nothing is not wanted.
void require_skips(const std::vector<std::string>& skip) {
  std::vector<std::string> known;
  for (const CheckName& check : check_names()) known.push_back(check.name);
  for (const std::string& given : skip) {
    if (std::find(known.begin(), known.end(), given) == known.end())
      throw Error(ErrorKind::usage, unknown_name_message("check", given, known));
  }
}

// What makes no sense together with files, or without them.
void require_consistent_files(const Loss& loss, const CheckOptions& options) {
  const auto arguments = file_arguments(loss);
  const bool takes_boxes = std::any_of(arguments.begin(), arguments.end(), is_box_argument);
  if (!takes_boxes && (options.match || options.box_format)) {
    throw Error(ErrorKind::usage, std::string(options.match ? "--match" : "--box-format") + ": " +
                                      std::string(loss.name()) + " takes no boxes");
  }
  if (options.files.empty()) {
    if (options.match) throw Error(ErrorKind::usage, "--match is for boxes from files");
    if (options.box_format) throw Error(ErrorKind::usage, "--box-format is for boxes from files");
    return;
  }
  for (const auto& [argument, path] : options.files) {
    std::error_code unknown;
    if (!options.json.empty() && std::filesystem::equivalent(array_place(path).file, options.json, unknown))
      throw Error(ErrorKind::usage, "--json " + options.json + " would replace the file of --" + argument);
  }
  const std::string file_flag = "--" + options.files.begin()->first;
  if (!options.scenarios.empty())
    throw Error(ErrorKind::usage, "--scenario makes inputs that " + file_flag + " gives already");
  if (!options.sizes.empty()) {
    const std::string flag = flag_of_size(options.sizes.begin()->first);
    throw Error(ErrorKind::usage, flag + ": the files of " + file_flag + " decide the size");
  }
}

template <class Info>
const Info& find_own(std::span<const Info> own, const Loss& loss, const std::string& name,
                     std::string (*flag_of_own)(std::string_view), const char* kind) {
  const auto found =
      std::find_if(own.begin(), own.end(), [&](const Info& info) { return info.name == name; });
  if (found == own.end()) {
    std::string known;
    for (const Info& info : own) known += (known.empty() ? ", it has " : " and ") + flag_of_own(info.name);
    throw Error(ErrorKind::usage,
                flag_of_own(name) + ": " + std::string(loss.name()) + " has no such " + kind + known);
  }
  return *found;
}

void require_in_range(const SizeInfo& size, std::int64_t value) {
  if (value >= size.least && value <= size.most) return;
  throw Error(ErrorKind::usage, flag_of_size(size.name) + ": found " + std::to_string(value) + ", expected " +
                                    std::to_string(size.least) + " to " + std::to_string(size.most));
}

// Every combination of the given values with what is there already: a map for each.
template <class Value>
std::vector<std::map<std::string, Value>> product_with(std::vector<std::map<std::string, Value>> product,
                                                       const std::string& name,
                                                       const std::vector<Value>& values) {
  std::vector<std::map<std::string, Value>> longer;
  for (const auto& entry : product) {
    for (const Value value : values) {
      longer.push_back(entry);
      longer.back()[name] = value;
    }
  }
  return longer;
}

std::vector<Sizes> size_product(const Loss& loss, const CheckOptions& options) {
  std::vector<Sizes> product = {default_sizes(loss)};
  for (const auto& [name, values] : options.sizes) {
    const SizeInfo& size = find_own(loss.sizes(), loss, name, flag_of_size, "size");
    for (const std::int64_t value : values) require_in_range(size, value);
    product = product_with(std::move(product), name, values);
  }
  return product;
}

std::vector<Parameters> parameter_product(const Loss& loss, const CheckOptions& options) {
  std::vector<Parameters> product = {default_parameters(loss)};
  for (const auto& [name, given] : options.parameters) {
    const std::string flag = flag_of(name);
    (void)find_own(loss.parameters(), loss, name, flag_of, "parameter");
    std::vector<double> values;
    for (const double value : given) {
      values.push_back(round_to(Dtype::f32, value));  // kernels take it as f32
      if (!std::isfinite(values.back()))
        throw Error(ErrorKind::usage, flag + ": " + shortest(value) + " is too large for f32");
    }
    product = product_with(std::move(product), name, values);
  }
  return product;
}

std::vector<int> block_list(const Loss& loss, const CheckOptions& options) {
  std::vector<int> blocks;
  for (const auto& [name, values] : options.blocks) {
    if (name != loss.block().name) {
      throw Error(ErrorKind::usage, flag_of(name) + ": " + std::string(loss.name()) +
                                        " has no such option, " + flag_of(loss.block().name) + " is its own");
    }
    for (const std::int64_t value : values) {
      if (value > std::numeric_limits<int>::max())
        throw Error(ErrorKind::usage, flag_of(name) + ": " + std::to_string(value) + " is too large");
      blocks.push_back(static_cast<int>(value));
    }
  }
  if (blocks.empty()) blocks = {kOwnBlock};
  return blocks;
}

CheckRequest base_request(const Loss& loss, const CheckOptions& options) {
  CheckRequest request;
  request.loss = &loss;
  request.passes = options.passes;
  request.seed = options.seed;
  request.tolerance.slack = options.slack;
  request.tolerance.rtol = options.rtol;
  request.tolerance.atol = options.atol;
  request.skip = {options.skip.begin(), options.skip.end()};
  request.fd_samples = options.fd_samples;
  request.full_jacobian = options.full_jacobian;
  request.diagnose = options.diagnose;
  return request;
}

// The kernels are made once here, so that a case that no kernel takes is a usage error of the whole run.
void require_kernels(const CheckRequest& request) {
  for (const Pass pass : request.passes) {
    const Kernel kernel =
        request.loss->kernel({pass, request.dtype, request.convention, request.block, request.sizes});
    (void)kernel.launch_shape(request.sizes);
  }
}

struct CaseLists {
  std::vector<std::string> conventions;
  std::vector<Dtype> dtypes;
  std::vector<Sizes> sizes;
  std::vector<Parameters> parameters;
  std::vector<std::string> scenarios;
  std::vector<int> blocks;
};

// So many cases are a slip, and would fill the memory before the first of them runs.
void require_few_cases(const CheckOptions& options, const CaseLists& lists) {
  constexpr double kMostCases = 100'000;
  constexpr double kMostShown = 1e15;
  double cases = 1;  // no whole number: there are lists enough to exceed any
  const auto times = [&cases](std::size_t count) { cases *= static_cast<double>(count); };
  for (const std::size_t count :
       {lists.conventions.size(), lists.dtypes.size(), lists.scenarios.size(), lists.blocks.size()})
    times(count);
  for (const auto& [size, values] : options.sizes) times(values.size());
  for (const auto& [parameter, values] : options.parameters) times(values.size());
  if (cases <= kMostCases) return;
  const std::string count =
      cases <= kMostShown ? grouped(static_cast<std::int64_t>(cases)) : "more than 10^15";
  throw Error(ErrorKind::usage, "the lists make " + count + " cases, expected at most " +
                                    grouped(static_cast<std::int64_t>(kMostCases)));
}

CaseLists case_lists(const CheckOptions& options, const CheckPlan& plan) {
  const Loss& loss = *plan.loss;
  CaseLists lists;
  const auto conventions = names_of(loss.conventions());
  lists.conventions = choose("convention", options.conventions, conventions, conventions.front());
  lists.dtypes = options.dtypes;
  if (lists.dtypes.empty())
    lists.dtypes = {plan.files ? plan.files->stored_dtype.value_or(Dtype::f32) : Dtype::f32};
  lists.blocks = block_list(loss, options);
  lists.scenarios =
      choose("scenario", options.scenarios, names_of(loss.scenarios()), loss.default_scenario());
  if (plan.files) lists.scenarios = {"file"};
  require_few_cases(options, lists);
  lists.sizes = plan.files ? std::vector<Sizes>{plan.files->sizes} : size_product(loss, options);
  lists.parameters = parameter_product(loss, options);
  return lists;
}

void add_requests(const CheckOptions& options, const CaseLists& lists, CheckPlan& plan) {
  CheckRequest request = base_request(*plan.loss, options);
  if (plan.files) request.files = plan.files->files;
  const auto add_blocks = [&] {
    for (const int block : lists.blocks) {
      request.block = block;
      require_kernels(request);
      plan.requests.push_back(request);
    }
  };
  const auto add_inputs = [&] {
    for (const Sizes& sizes : lists.sizes) {
      request.sizes = sizes;
      for (const Parameters& parameters : lists.parameters) {
        request.parameters = parameters;
        for (const std::string& scenario : lists.scenarios) {
          request.scenario = scenario;
          add_blocks();
        }
      }
    }
  };
  for (const std::string& convention : lists.conventions) {
    request.convention = convention;
    for (const Dtype dtype : lists.dtypes) {
      request.dtype = dtype;
      add_inputs();
    }
  }
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

std::string box_options(const CheckOptions& options) {
  std::string text;
  if (options.box_format) text += " --box-format " + std::string(name(*options.box_format));
  if (options.match) text += *options.match == MatchRule::iou ? " --match iou" : " --match row";
  return text;
}

// Criteria that differ from the defaults.
std::string criteria(const CheckOptions& options) {
  const CheckOptions standard;
  std::string text;
  if (options.slack != standard.slack) text += " --slack " + shortest(options.slack);
  if (options.rtol && options.atol)
    text += " --rtol " + shortest(*options.rtol) + " --atol " + shortest(*options.atol);
  if (options.fd_samples != standard.fd_samples)
    text += " --fd-samples " + std::to_string(options.fd_samples);
  if (options.full_jacobian) text += " --full-jacobian";
  if (!options.skip.empty()) text += " --skip " + joined(options.skip);
  if (!options.diagnose) text += " --no-diagnosis";
  if (options.allow_mistrusted) text += " --allow-mistrusted";
  return text;
}

}  // namespace

CheckPlan make_check_plan(const CheckOptions& options, const FileReaders& readers) {
  CheckPlan plan;
  plan.loss = &find_loss(options.loss);
  require_skips(options.skip);
  require_consistent_files(*plan.loss, options);
  // Names are looked up before any file is read.
  (void)case_lists(options, plan);
  if (!options.files.empty()) plan.files = read_file_inputs(*plan.loss, options, readers);
  add_requests(options, case_lists(options, plan), plan);
  return plan;
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  // What no terminal and no JSON would carry unchanged is written in the form of bash, zsh and ksh.
  if (const std::string visible = escaped_controls(text); visible != text) {
    std::string escaped;
    for (const char c : text) escaped += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    return "$'" + escaped_controls(escaped) + "'";
  }
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string repeat_command(const CheckOptions& options, const CheckRequest& request,
                           std::string_view backend) {
  return repeat_command(options, request, request.passes, request.files, backend);
}

std::string repeat_command(const CheckOptions& options, const CheckRequest& request,
                           const std::vector<Pass>& passes, const InputFiles& files,
                           std::string_view backend) {
  std::string text = "lossgrad check " + std::string(request.loss->name());
  if (passes.size() == 1) text += " --pass " + std::string(name(passes.front()));
  text += " --dtype " + std::string(name(request.dtype));
  if (files.empty()) {
    for (const auto& [size, value] : request.sizes)
      text.append(" ").append(flag_of_size(size)).append(" ").append(std::to_string(value));
    text += " --scenario " + request.scenario;
  }
  for (const auto& [argument, path] : files)
    text.append(" --").append(argument).append(" ").append(shell_quoted(path));
  text += box_options(options);
  text += " --seed " + std::to_string(request.seed) + " --convention " + request.convention;
  for (const auto& [parameter, value] : request.parameters)
    text.append(" ").append(flag_of(parameter)).append(" ").append(parameter_text(value));
  if (request.block != kOwnBlock)
    text += " " + flag_of(request.loss->block().name) + " " + std::to_string(request.block);
  text += " --backend " + std::string(backend);
  if (options.device != 0) text += " --device " + std::to_string(options.device);
  return text + criteria(options);
}

}  // namespace lossgrad::app
