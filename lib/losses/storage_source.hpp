// SPDX-License-Identifier: Apache-2.0
// What every kernel source begins with: conversions between the storage type and the compute type, and the
// functions of the compute type.
#pragma once

#include <string>
#include <string_view>

#include "math/dtype.hpp"

namespace lossgrad {

std::string_view cuda_type_name(Dtype dtype);  // float, double, __half, __nv_bfloat16

// storage.cuh, the part for the 16-bit type where there is one, compute_math.cuh.
std::string storage_source(Dtype dtype);

}  // namespace lossgrad
