// SPDX-License-Identifier: Apache-2.0
// Small kernels for the tests of the cuda backend.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"

namespace lossgrad {

inline Kernel make_kernel(std::string name, Dtype dtype, std::string body, std::string entry_point,
                          std::vector<Argument> arguments) {
  Kernel::Parts parts;
  parts.name = std::move(name);
  parts.dtype = dtype;
  parts.kernel_source = std::move(body);
  parts.entry_point_source = std::move(entry_point);
  parts.arguments = std::move(arguments);
  parts.launch = {"N", 256, 256};
  return Kernel(std::move(parts));
}

// y = a * x + y
inline Kernel saxpy_kernel() {
  return make_kernel(
      "saxpy", Dtype::f32, "__device__ float saxpy(float a, float x, float y) { return a * x + y; }",
      "extern \"C\" __global__ void saxpy_entry_point(const float* x, float* y, int N, float a) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < N) y[i] = saxpy(a, x[i], y[i]);\n"
      "}\n",
      {{"x", ArgumentRole::constant, {"N"}},
       {"y", ArgumentRole::output, {"N"}},
       {"N", ArgumentRole::size, {}},
       {"a", ArgumentRole::parameter, {}}});
}

// y = 2 * x, in CUDA's own 16-bit types: needs their headers.
inline Kernel twice_kernel(Dtype dtype) {
  const std::string type = dtype == Dtype::f16 ? "__half" : "__nv_bfloat16";
  return make_kernel("twice", dtype, "#include <cuda_bf16.h>\n#include <cuda_fp16.h>",
                     "extern \"C\" __global__ void twice_entry_point(const " + type + "* x, " + type +
                         "* y, int N) {\n"
                         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "  if (i < N) y[i] = " +
                         type + "(2.0f * float(x[i]));\n}\n",
                     {{"x", ArgumentRole::constant, {"N"}},
                      {"y", ArgumentRole::output, {"N"}},
                      {"N", ArgumentRole::size, {}}});
}

// An array that is indexed by data lives in local memory.
inline Kernel local_memory_kernel() {
  return make_kernel(
      "local_memory", Dtype::f32, "",
      "extern \"C\" __global__ void local_memory_entry_point(const int* x, float* y, int N) {\n"
      "  float table[64];\n"
      "  for (int i = 0; i < 64; ++i) table[i] = y[i];\n"
      "  for (int i = 0; i < N; ++i) table[x[i] & 63] += 1.0f;\n"
      "  for (int i = 0; i < 64; ++i) y[i] = table[i];\n"
      "}\n",
      {{"x", ArgumentRole::constant, {"N"}},
       {"y", ArgumentRole::output, {"64"}},
       {"N", ArgumentRole::size, {}}});
}

// More live values than the registers that __launch_bounds__ leaves.
inline Kernel spilling_kernel() {
  return make_kernel("spilling", Dtype::f32, "",
                     "extern \"C\" __global__ void __launch_bounds__(1024) spilling_entry_point(\n"
                     "    const float* x, float* y, int N) {\n"
                     "  float value[80];\n"
                     "#pragma unroll\n"
                     "  for (int i = 0; i < 80; ++i) value[i] = x[i * N + threadIdx.x];\n"
                     "  __syncthreads();\n"
                     "#pragma unroll\n"
                     "  for (int i = 0; i < 80; ++i) y[i * N + threadIdx.x] = value[i] * value[79 - i];\n"
                     "}\n",
                     {{"x", ArgumentRole::constant, {"80", "N"}},
                      {"y", ArgumentRole::output, {"80", "N"}},
                      {"N", ArgumentRole::size, {}}});
}

}  // namespace lossgrad
