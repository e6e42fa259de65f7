// SPDX-License-Identifier: Apache-2.0
// CUDA on the CPU: what kernel text needs to compile as ordinary C++. The only header that a kernel sees.
#pragma once

#include "atomics.hpp"
#include "bfloat16_types.hpp"
#include "half_types.hpp"
#include "keywords.hpp"
#include "math_functions.hpp"
#include "runner.hpp"
#include "synchronisation.hpp"
#include "vector_types.hpp"
