// SPDX-License-Identifier: Apache-2.0
// What the losses say about their own options.
#pragma once

#include <string>
#include <vector>

#include "losses/loss.hpp"

namespace lossgrad::app {

// Arrays that may come from files: inputs, constants and dy, in the order of the kernels' argument lists,
// each once.
std::vector<Argument> file_arguments(const Loss& loss);
// A box argument: [4, N].
bool is_box_argument(const Argument& argument);

std::vector<std::string> all_file_arguments();  // names over all losses
std::vector<std::string> all_size_names();      // "N", ... over all losses

std::vector<std::string> names_of(std::span<const NamedChoice> choices);
std::vector<std::string> names_of(std::span<const ScenarioInfo> scenarios);
std::vector<std::string> loss_names();

}  // namespace lossgrad::app
