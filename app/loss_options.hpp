// SPDX-License-Identifier: Apache-2.0
// What the losses say about their own options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "losses/loss.hpp"

namespace lossgrad::app {

// Arrays that may come from files: inputs, constants and dy, in the order of the kernels' argument lists,
// each once.
std::vector<Argument> file_arguments(const Loss& loss);
// A box argument: [4, N].
bool is_box_argument(const Argument& argument);

std::vector<Argument> all_file_arguments();  // over all losses, each name once
std::vector<SizeInfo> all_sizes();           // over all losses, each name once
std::vector<BlockInfo> all_blocks();
std::vector<ParameterInfo> all_parameters();
// "--block-n" for "block_n".
std::string flag_of(std::string_view name);
std::string flag_of_size(std::string_view size);  // "--n" for "N"

std::vector<std::string> names_of(std::span<const NamedChoice> choices);
std::vector<std::string> names_of(std::span<const ScenarioInfo> scenarios);
std::vector<std::string> loss_names();

}  // namespace lossgrad::app
