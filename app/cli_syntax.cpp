// SPDX-License-Identifier: Apache-2.0
#include "app/cli_syntax.hpp"

#include <algorithm>

#include "app/loss_options.hpp"
#include "app/values.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"
#include "losses/fault.hpp"
#include "report/number_text.hpp"

namespace lossgrad::app {
namespace {

constexpr const char* kExitCodes = R"(
`lossgrad COMMAND --help` describes a command.
Exit codes: 0 passed, 1 a check failed, 2 usage, 3 data, 4 kernel compile, 5 device, 70 internal;
128 + the signal that stopped it: 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP.)";

constexpr const char* kAboutLists =
    R"(Lists make a product of cases. Numbers: 1000, 16k, 1M, 1e6 (k, M, G: powers of 1000), 4Ki, 1Mi (powers of 1024);
ranges: 1k:16M:x4 (times 4), 0:1k:+100 (plus 100).

)";

constexpr const char* kAboutSelftest =
    R"(Injects every fault of the losses' dictionaries into the built-in kernels and expects the checks to catch it.
Exit code 1 when one slips through.

)";

std::string examples_text(const std::vector<std::string>& commands) {
  std::string text = "Examples:";
  for (const std::string& command : commands) text += "\n  lossgrad " + command;
  return text;
}

std::string main_footer() {
  std::vector<std::string> commands;
  for (const Loss* loss : all_losses()) commands.push_back("check " + std::string(loss->name()));
  for (const Loss* loss : all_losses()) commands.push_back("check " + loss->examples().front());
  const Loss& first = *all_losses().front();
  const KernelOptions options{.pass = Pass::backward, .convention = first.conventions().front().name};
  commands.push_back("kernels show " + first.kernel(options).id() + " --source");
  return examples_text(commands) + "\n" + kExitCodes;
}

std::string check_footer() {
  std::vector<std::string> commands = {"check --list"};
  for (const Loss* loss : all_losses()) {
    for (const std::string& example : loss->examples()) commands.push_back("check " + example);
  }
  return kAboutLists + examples_text(commands);
}

std::string selftest_footer() {
  const Loss& first = *all_losses().front();
  const std::string one = first.faults().front().name, other = first.faults().back().name;
  return kAboutSelftest + examples_text({"selftest",
                                         "selftest --loss " + std::string(first.name()) +
                                             " --dtype all --backend cuda --json selftest.json",
                                         "selftest --fault " + one + ',' + other + " --diagnosis"});
}

std::vector<std::string> long_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

// CLI11's own messages name the option first: "--n: 1 required TEXT missing".
std::string one_line(const CLI::ParseError& error) {
  const std::string text = error.what();
  const std::string option = text.substr(0, text.find(':'));
  if (text.find("flag override") != std::string::npos) {  // "list was given a disallowed flag override"
    const std::string flag = text.substr(0, text.find(' '));
    return (flag.size() == 1 ? "-" : "--") + flag + ": takes no value";
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && option.starts_with("-")) {
    return option + ": a value is expected after it";
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

bool Given::flag(const std::string& name) const {
  const auto found = flags.find(name);
  return found != flags.end() && found->second;
}

std::optional<std::string> Given::value(const std::string& name) const {
  const auto found = values.find(name);
  if (found == values.end() || found->second.empty()) return std::nullopt;
  if (found->second.size() > 1) throw Error(ErrorKind::usage, name + ": given more than once");
  const std::string& value = found->second.front();
  if (value.size() > 1 && value[0] == '-' && !(value[1] >= '0' && value[1] <= '9') && value[1] != '.') {
    throw Error(ErrorKind::usage, name + ": a value is expected after it, found the option '" + value + "'");
  }
  return value;
}

std::string Given::positional(const std::string& name) const {
  const auto found = values.find(name);
  if (found == values.end() || found->second.empty()) return "";
  if (found->second.size() > 1)
    throw Error(ErrorKind::usage, "unexpected argument '" + found->second[1] + "'");
  return found->second.front();
}

Syntax::Syntax() {
  app_.allow_extras();
  app_.require_subcommand(0, 1);
  app_.get_formatter()->column_width(30);
  app_.footer(main_footer());
  add_flag(app_, "--version", "print the version");
  add_common(app_);
  add_check();
  add_selftest();
  add_common(*add_command(app_, "devices", "what this machine offers, and why a backend is missing"));
  add_kernels();
}

CLI::App* Syntax::add_command(CLI::App& parent, const std::string& name, const std::string& summary) {
  CLI::App* command = parent.add_subcommand(name, summary);
  command->footer("");
  return command;
}

void Syntax::add_value(CLI::App& command, const std::string& name, const std::string& type,
                       const std::string& help) {
  command.add_option(name, given_.values[name], help)
      ->type_name(type)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

void Syntax::add_flag(CLI::App& command, const std::string& name, const std::string& help) {
  const std::string key = name.substr(name.find("--"));
  command.add_flag(name, given_.flags[key], help)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->disable_flag_override();
}

void Syntax::add_positional(CLI::App& command, const std::string& name, const std::string& help) {
  command.add_option(name, given_.values[name], help)
      ->type_name("")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);  // else CLI11 takes '[a,b]' apart
}

void Syntax::add_common(CLI::App& command) {
  command.set_help_flag("-h,--help", "print this help");
  add_flag(command, "-q,--quiet", "only problems, and the summary of all");
  add_flag(command, "-v,--verbose", "say more on standard error");
  add_value(command, "--color", "WHEN", "auto, always or never");
}

void Syntax::add_check() {
  CLI::App* check = add_command(app_, "check", "verify a loss's kernels");
  check->footer(check_footer());
  add_positional(*check, "LOSS", "one of: " + CLI::detail::join(loss_names()));
  add_flag(*check, "--list", "list losses, conventions, scenarios and checks");
  add_check_case(*check);
  add_check_files(*check);
  add_check_criteria(*check);
  for (const Loss* loss : all_losses()) add_check_of(*check, *loss);
  add_common(*check);
}

// What a loss brings along; an option that another loss has brought already stays with that one.
void Syntax::add_check_of(CLI::App& check, const Loss& loss) {
  const auto add = [&](const std::string& flag, const char* type, const std::string& help) {
    if (given_.values.contains(flag)) return;
    add_value(check, flag, type, help);
    const auto losses = all_losses();
    const bool shared = std::all_of(losses.begin(), losses.end(), [&](const Loss* other) {
      const std::vector<Argument> arguments = file_arguments(*other);
      return std::any_of(arguments.begin(), arguments.end(),
                         [&](const Argument& argument) { return "--" + argument.name == flag; });
    });
    check.get_option(flag)->group("Options of " + (shared ? "every loss" : std::string(loss.name())));
  };
  for (const SizeInfo& size : loss.sizes())
    add(flag_of_size(size.name), "LIST", size.summary + " (default " + std::to_string(size.standard) + ")");
  add(flag_of(loss.block().name), "LIST", loss.block().summary);
  for (const ParameterInfo& parameter : loss.parameters()) {
    add(flag_of(parameter.name), "LIST",
        parameter.summary + " (default " + shortest(parameter.standard) + ")");
  }
  for (const Argument& argument : file_arguments(loss)) {
    const char* const kinds =
        is_box_argument(argument) ? ".npy, .npz[:NAME] or COCO JSON" : ".npy or .npz[:NAME]";
    add("--" + argument.name, "FILE", "take " + argument.name + " from a file: " + kinds);
  }
}

void Syntax::add_check_case(CLI::App& check) {
  add_value(check, "--pass", "LIST", "forward, backward, all (default)");
  add_value(check, "--dtype", "LIST", "f32 (default), f64, f16, bf16, all");
  add_value(check, "--scenario", "LIST", "input distributions, or all");
  add_value(check, "--seed", "S", "of the random inputs (default 1)");
  add_value(check, "--convention", "LIST", "named choices of eps, alpha ..., or all");
  add_value(check, "--backend", "NAME", "auto (default), cuda or host");
  add_value(check, "--device", "I", "index of the GPU (default 0)");
}

void Syntax::add_check_files(CLI::App& check) {
  add_value(check, "--box-format", "FORMAT",
            "of box arrays: cxcywh (default), xyxy or xywh (left-top corner and size)");
  add_value(check, "--match", "RULE",
            "pair boxes by row (default) or by iou (same image and class, IoU at least 0.3)");
}

void Syntax::add_check_criteria(CLI::App& check) {
  add_value(check, "--slack", "F",
            "factor on the certified bound (default 2); beyond 1 not on the rounding to f16 or bf16");
  add_value(check, "--rtol", "X", "with --atol: replaces the bound by atol + rtol*|expected|");
  add_value(check, "--atol", "Y", "see --rtol");
  add_value(check, "--fd-samples", "K", "items compared with finite differences (default 256)");
  add_flag(check, "--full-jacobian", "compare every component of these items, not some of each");
  add_value(check, "--skip", "LIST", "checks to leave out");
  add_flag(check, "--no-diagnosis", "do not look for what a failed kernel does wrong");
  add_flag(check, "--allow-mistrusted", "a mistrusted result does not make the exit code 1");
  add_value(check, "--save-failures", "DIR",
            "write inputs, outputs and the command that repeats it of each failure there");
  add_value(check, "--json", "FILE",
            "write results as JSON; - for standard output, then nothing else goes there");
}

void Syntax::add_selftest() {
  CLI::App* selftest = add_command(app_, "selftest", "prove that the checks catch wrong kernels, as a table");
  selftest->footer(selftest_footer());
  add_value(*selftest, "--loss", "LIST", "losses (default: all)");
  add_value(*selftest, "--dtype", "LIST", "f32 (default), f64, f16, bf16, all");
  add_value(*selftest, "--fault", "LIST", "names of faults (default: all)");
  add_flag(*selftest, "--diagnosis", "also what a diagnosis of each faulty kernel suggests");
  add_value(*selftest, "--backend", "NAME", "auto (default), cuda or host");
  add_value(*selftest, "--device", "I", "index of the GPU (default 0)");
  add_value(*selftest, "--json", "FILE",
            "write results as JSON; - for standard output, then nothing else goes there");
  add_common(*selftest);
}

void Syntax::add_kernels() {
  CLI::App* kernels = add_command(app_, "kernels", "the built-in kernels: list, show ID, build");
  add_common(*add_command(*kernels, "list", "ids of the built-in kernels"));
  CLI::App* show = add_command(*kernels, "show", "one kernel; without a view its arguments and launch");
  const KernelOptions any{.convention = all_losses().front()->conventions().front().name};
  show->footer(examples_text(
      {"kernels show " + all_losses().front()->kernel(any).id() + " --resources --arch sm_90"}));
  add_positional(*show, "ID", "NAME__DTYPE__BLOCK[__CONVENTION]");
  add_flag(*show, "--source", "the whole source");
  add_flag(*show, "--entry-point", "the generated entry point alone");
  add_flag(*show, "--ptx", "PTX, compiled for --arch (default sm_90)");
  add_flag(*show, "--resources", "registers, memory and spills for each --arch");
  add_value(*show, "--arch", "LIST", "architectures: sm_75, sm_90 ...");
  CLI::App* build = add_command(*kernels, "build", "compile the built-in kernels into the cache");
  add_value(*build, "--backend", "NAME", "auto (default), cuda or host");
  add_value(*build, "--arch", "LIST", "cuda: compile for these architectures; needs no device");
  for (CLI::App* command : {kernels, show, build}) add_common(*command);
}

void Syntax::reject_unknown(const CLI::App& command) const {
  const std::vector<std::string> rest = command.remaining(false);
  if (rest.empty()) return;
  const std::string& first = rest.front();
  const std::string where = command_.empty() ? "lossgrad" : "lossgrad " + command_;
  if (first.starts_with("-") && first.size() > 1) {
    throw Error(ErrorKind::usage, nearest_name_message("option", first.substr(0, first.find('=')),
                                                       long_names(command), "see " + where + " --help"));
  }
  const std::vector<std::string> commands = command_names(command);
  if (!commands.empty()) throw Error(ErrorKind::usage, unknown_name_message("command", first, commands));
  // An option that took another option for its value says more than the word that this left over.
  for (const auto& [name, values] : given_.values) {
    if (name.starts_with("-")) (void)given_.value(name);
  }
  throw Error(ErrorKind::usage, "unexpected argument '" + first + "' (see " + where + " --help)");
}

void Syntax::parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app_.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    help_wanted_ = true;
    return;
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, one_line(error));
  }
  const CLI::App* command = &app_;
  reject_unknown(*command);
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    command_ += (command_.empty() ? "" : " ") + command->get_name();
    reject_unknown(*command);
  }
}

}  // namespace lossgrad::app
