// SPDX-License-Identifier: Apache-2.0
// CUDA runtime errors in words.
#pragma once

#include <string>
#include <string_view>

#include <cuda_runtime_api.h>

#if CUDART_VERSION < 12080
#error "lossgrad needs the CUDA runtime 12.8 or later (cudaLibraryLoadData)"
#endif

namespace lossgrad {

// "cudaErrorIllegalAddress: an illegal memory access was encountered"
std::string describe(cudaError_t code);

// Whether the error leaves the device's context unusable: every later call of the process fails.
bool is_sticky(cudaError_t code);

// Throws ErrorKind::device: "<doing>: <name>: <text>". Clears CUDA's record of the last error.
void check_cuda(cudaError_t code, std::string_view doing);

// For destructors. After a sticky error every release fails, which says nothing new, so those are debug
// lines.
void log_cuda_failure(cudaError_t code, const char* function) noexcept;

// "13.0" for 13000.
std::string cuda_version_text(int version);

}  // namespace lossgrad
