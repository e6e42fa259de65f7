// SPDX-License-Identifier: Apache-2.0
#include "check/check_request.hpp"

#include <algorithm>

namespace lossgrad {

bool wants(const CheckRequest& request, Pass pass) {
  return std::find(request.passes.begin(), request.passes.end(), pass) != request.passes.end();
}

bool skips(const CheckRequest& request, std::string_view check) {
  return request.skip.contains(std::string(check));
}

const ScenarioInfo* scenario_of(const CheckRequest& request) {
  if (!request.inputs.empty()) return nullptr;
  for (const ScenarioInfo& scenario : request.loss->scenarios()) {
    if (scenario.name == request.scenario) return &scenario;
  }
  return nullptr;
}

bool made_of_kinks(const CheckRequest& request) {
  const ScenarioInfo* scenario = scenario_of(request);
  return scenario != nullptr && scenario->made_of_kinks;
}

Kernel own_kernel(const CheckRequest& request, Pass pass, Dtype dtype) {
  return request.loss->kernel({pass, dtype, request.convention, request.block, request.sizes});
}

int main_block(const CheckRequest& request) {
  const Kernel kernel = own_kernel(request, Pass::forward, request.dtype);
  return static_cast<int>(kernel.constant(request.loss->block().name));
}

std::int64_t elements_per_item(const CheckRequest& request, const Kernel& kernel) {
  std::int64_t elements = 0;
  for (const Argument& argument : kernel.arguments()) {
    if (argument.is_array()) elements += item_layout(request, argument).per_item();
  }
  return elements;
}

ItemLayout item_layout(const CheckRequest& request, const Argument& argument) {
  return item_layout(argument, request.loss->item_size(), request.sizes);
}

Sizes sizes_with(const CheckRequest& request, std::int64_t items) {
  Sizes sizes = request.sizes;
  sizes[request.loss->item_size()] = items;
  return sizes;
}

}  // namespace lossgrad
