// SPDX-License-Identifier: Apache-2.0
#include "base/version.hpp"

namespace lossgrad {

std::string_view version() { return LOSSGRAD_VERSION; }

}  // namespace lossgrad
