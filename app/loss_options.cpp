// SPDX-License-Identifier: Apache-2.0
#include "app/loss_options.hpp"

#include <algorithm>

#include "results/size_fields.hpp"

namespace lossgrad::app {
namespace {

template <class Named>
void add_once(std::vector<Named>& list, const Named& added) {
  const bool known =
      std::any_of(list.begin(), list.end(), [&](const Named& other) { return other.name == added.name; });
  if (!known) list.push_back(added);
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
      if (is_drawn(argument, pass)) add_once(arguments, argument);
    }
  }
  return arguments;
}

bool is_box_argument(const Argument& argument) {
  return argument.axes.size() == 2 && argument.axes[0] == "4";
}

std::vector<Argument> all_file_arguments() {
  std::vector<Argument> all;
  for (const Loss* loss : all_losses()) {
    for (const Argument& argument : file_arguments(*loss)) add_once(all, argument);
  }
  return all;
}

std::vector<SizeInfo> all_sizes() {
  std::vector<SizeInfo> sizes;
  for (const Loss* loss : all_losses()) {
    for (const SizeInfo& size : loss->sizes()) add_once(sizes, size);
  }
  return sizes;
}

std::vector<BlockInfo> all_blocks() {
  std::vector<BlockInfo> blocks;
  for (const Loss* loss : all_losses()) add_once(blocks, loss->block());
  return blocks;
}

std::vector<ParameterInfo> all_parameters() {
  std::vector<ParameterInfo> parameters;
  for (const Loss* loss : all_losses()) {
    for (const ParameterInfo& parameter : loss->parameters()) add_once(parameters, parameter);
  }
  return parameters;
}

std::string flag_of(std::string_view name) {
  std::string flag = "--" + std::string(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string flag_of_size(std::string_view size) { return "--" + std::string(field_of_size(size)); }

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
