// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lossgrad {

// The version of the build, for example "0.1.0".
std::string_view version();

}  // namespace lossgrad
