// SPDX-License-Identifier: Apache-2.0
// What a request says about its case.
#pragma once

#include <string_view>

#include "check/check.hpp"
#include "kernel/item_layout.hpp"

namespace lossgrad {

bool wants(const CheckRequest& request, Pass pass);
bool skips(const CheckRequest& request, std::string_view check);
// The loss's own kernel of a pass as the request wants it.
Kernel own_kernel(const CheckRequest& request, Pass pass, Dtype dtype);
// The block of its kernels: the request's, or the loss's own choice.
int main_block(const CheckRequest& request);
// The case's scenario; null for inputs from files, of which nothing is known.
const ScenarioInfo* scenario_of(const CheckRequest& request);
// Whether it consists of kinks on purpose.
bool made_of_kinks(const CheckRequest& request);
// Where the case's items lie in an argument.
ItemLayout item_layout(const CheckRequest& request, const Argument& argument);
// Over all arrays of the kernel.
std::int64_t elements_per_item(const CheckRequest& request, const Kernel& kernel);
// The request's sizes with another number of items.
Sizes sizes_with(const CheckRequest& request, std::int64_t items);

}  // namespace lossgrad
