// SPDX-License-Identifier: Apache-2.0
#include "losses/storage_source.hpp"

#include "embedded/losses_text.hpp"

namespace lossgrad {

std::string_view cuda_type_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return "float";
    case Dtype::f64:
      return "double";
    case Dtype::f16:
      return "__half";
    case Dtype::bf16:
      return "__nv_bfloat16";
  }
  return "?";
}

std::string storage_source(Dtype dtype) {
  std::string source(losses_text::storage_cuh());
  if (dtype == Dtype::f16) source += losses_text::storage_f16_cuh();
  if (dtype == Dtype::bf16) source += losses_text::storage_bf16_cuh();
  return source + std::string(losses_text::compute_math_cuh());
}

}  // namespace lossgrad
