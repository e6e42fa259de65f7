// SPDX-License-Identifier: Apache-2.0
// One NVRTC program: source text in; log, cubin and PTX out.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/nvrtc_functions.hpp"
#include "device/cuda/nvrtc_library.hpp"

namespace lossgrad {

class NvrtcProgram {
 public:
  // `file_name` stands in the compiler's messages. The library must outlive the program.
  NvrtcProgram(const NvrtcLibrary& library, const std::string& source, const std::string& file_name);
  ~NvrtcProgram();
  NvrtcProgram(NvrtcProgram&& other) noexcept;
  NvrtcProgram& operator=(NvrtcProgram&& other) noexcept;
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;

  // NVRTC_SUCCESS, or why not (NVRTC_ERROR_COMPILATION: see log()).
  [[nodiscard]] nvrtcResult compile(std::span<const std::string> options);
  [[nodiscard]] std::string log() const;
  // ErrorKind::internal before a successful compile() for a real (sm_90), respectively virtual architecture.
  [[nodiscard]] std::vector<std::byte> cubin() const;
  [[nodiscard]] std::string ptx() const;

 private:
  void check(nvrtcResult result, const char* function) const;
  void destroy() noexcept;

  const NvrtcFunctions* functions_;
  nvrtcProgram program_ = nullptr;
};

}  // namespace lossgrad
