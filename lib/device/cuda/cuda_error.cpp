// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/cuda_error.hpp"

#include <spdlog/spdlog.h>

#include "base/error.hpp"

namespace lossgrad {

std::string describe(cudaError_t code) {
  return std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code);
}

bool is_sticky(cudaError_t code) {
  switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorContextIsDestroyed:
      return true;
    default:
      return false;
  }
}

void check_cuda(cudaError_t code, std::string_view doing) {
  if (code == cudaSuccess) return;
  cudaGetLastError();
  throw Error(ErrorKind::device, std::string(doing) + ": " + describe(code));
}

void log_cuda_failure(cudaError_t code, const char* function) noexcept {
  if (code == cudaSuccess || code == cudaErrorCudartUnloading) return;
  cudaGetLastError();
  try {
    const auto level = is_sticky(code) ? spdlog::level::debug : spdlog::level::warn;
    spdlog::log(level, "{}: {}", function, describe(code));
  } catch (...) {  // Out of memory for the line: a release that failed is not worth ending the program.
    return;
  }
}

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace lossgrad
