// SPDX-License-Identifier: Apache-2.0
#include "app/loss_options.hpp"

#include <algorithm>

namespace lossgrad::app {
namespace {

bool may_come_from_file(const Argument& argument) {
  return argument.is_array() &&
         (argument.role == ArgumentRole::input || argument.role == ArgumentRole::constant ||
          argument.role == ArgumentRole::upstream);
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

template <class Named>
std::vector<std::string> collect_names(std::span<const Named> choices) {
  std::vector<std::string> names;
  names.reserve(choices.size());
  for (const Named& choice : choices) names.push_back(choice.name);
  return names;
}

}  // namespace

std::vector<Argument> file_arguments(const Loss& loss) {
  std::vector<Argument> arguments;
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    KernelOptions options;
    options.pass = pass;
    options.convention = loss.conventions().front().name;
    const Kernel kernel = loss.kernel(options);
    for (const Argument& argument : kernel.arguments()) {
      const bool known = std::any_of(arguments.begin(), arguments.end(),
                                     [&](const Argument& other) { return other.name == argument.name; });
      if (may_come_from_file(argument) && !known) arguments.push_back(argument);
    }
  }
  return arguments;
}

bool is_box_argument(const Argument& argument) {
  return argument.axes.size() == 2 && argument.axes[0] == "4" && argument.axes[1] == "N";
}

std::vector<std::string> all_file_arguments() {
  std::vector<std::string> names;
  for (const Loss* loss : all_losses()) {
    for (const Argument& argument : file_arguments(*loss)) add_once(names, argument.name);
  }
  return names;
}

std::vector<std::string> all_size_names() {
  std::vector<std::string> names;
  for (const Loss* loss : all_losses()) {
    for (const auto& [size, value] : loss->default_sizes()) add_once(names, size);
  }
  return names;
}

std::vector<std::string> names_of(std::span<const NamedChoice> choices) { return collect_names(choices); }
std::vector<std::string> names_of(std::span<const ScenarioInfo> scenarios) {
  return collect_names(scenarios);
}

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (const Loss* loss : all_losses()) names.emplace_back(loss->name());
  return names;
}

}  // namespace lossgrad::app
