// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/cuda_kernel.hpp"

#include <utility>

#include "base/error.hpp"

namespace lossgrad {
namespace {

bool accepts(const Argument& declared, const LaunchArgument& given) {
  if (declared.is_array()) return std::holds_alternative<std::byte*>(given);
  if (declared.role == ArgumentRole::size) return std::holds_alternative<std::int32_t>(given);
  return std::holds_alternative<float>(given);
}

}  // namespace

CudaKernel::CudaKernel(const Kernel& kernel, CompiledKernel compiled)
    : LoadedKernel(kernel.id(), std::move(compiled.content_hash)),
      arguments_(kernel.arguments()),
      image_(std::move(compiled.cubin)) {
  const std::string doing = "loading kernel " + id();
  cudaLibrary_t library = nullptr;
  check_cuda(cudaLibraryLoadData(&library, image_.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), doing);
  library_ = LibraryHandle(library);
  check_cuda(cudaLibraryGetKernel(&kernel_, library, kernel.entry_point_name().c_str()),
             doing + ", entry point " + kernel.entry_point_name());
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, static_cast<const void*>(kernel_)), doing);
  threads_limit_ = static_cast<std::uint32_t>(attributes.maxThreadsPerBlock);
  static_shared_bytes_ = attributes.sharedSizeBytes;
  allowed_shared_bytes_ = static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes);
}

void CudaKernel::check_launch(const LaunchShape& shape, std::span<const LaunchArgument> arguments,
                              const LaunchLimits& limits) {
  if (arguments.size() != arguments_.size()) {
    throw Error(ErrorKind::internal, "kernel " + id() + " takes " + std::to_string(arguments_.size()) +
                                         " arguments, " + std::to_string(arguments.size()) + " given");
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (accepts(arguments_[i], arguments[i])) continue;
    throw Error(ErrorKind::internal,
                "kernel " + id() + ": argument " + arguments_[i].name + " has the wrong type");
  }
  std::string problem = launch_shape_problem(shape, limits);
  const std::uint32_t threads = shape.block[0] * shape.block[1] * shape.block[2];
  if (problem.empty() && threads > threads_limit_) {
    problem = "threads per block is " + std::to_string(threads) + ", this kernel's limit on the device is " +
              std::to_string(threads_limit_) + " (its registers or __launch_bounds__)";
  }
  if (!problem.empty()) throw Error(ErrorKind::device, "kernel " + id() + " cannot be launched: " + problem);
  if (shape.shared_bytes > allowed_shared_bytes_) allow_shared_bytes(shape.shared_bytes, limits);
}

void CudaKernel::allow_shared_bytes(std::size_t bytes, const LaunchLimits& limits) {
  if (bytes + static_shared_bytes_ > limits.shared_bytes_opt_in) {
    throw Error(ErrorKind::device, "kernel " + id() + " cannot be launched: shared memory is " +
                                       std::to_string(bytes + static_shared_bytes_) +
                                       " bytes, the device's limit is " +
                                       std::to_string(limits.shared_bytes_opt_in));
  }
  check_cuda(cudaFuncSetAttribute(static_cast<const void*>(kernel_),
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
             "kernel " + id() + ": asking for " + std::to_string(bytes) + " bytes of shared memory");
  allowed_shared_bytes_ = bytes;
}

cudaError_t CudaKernel::launch(const LaunchShape& shape, std::span<const LaunchArgument> arguments,
                               cudaStream_t stream) const {
  std::vector<void*> addresses;
  addresses.reserve(arguments.size());
  for (const LaunchArgument& argument : arguments) {
    // CUDA copies the values and takes them through pointers to non-const.
    addresses.push_back(std::visit(
        [](const auto& value) { return const_cast<void*>(static_cast<const void*>(&value)); }, argument));
  }
  const dim3 grid(shape.grid[0], shape.grid[1], shape.grid[2]);
  const dim3 block(shape.block[0], shape.block[1], shape.block[2]);
  return cudaLaunchKernel(static_cast<const void*>(kernel_), grid, block, addresses.data(),
                          shape.shared_bytes, stream);
}

}  // namespace lossgrad
