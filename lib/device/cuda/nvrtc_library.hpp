// SPDX-License-Identifier: Apache-2.0
// NVRTC as a shared library that is loaded on first use, so that the program starts without it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/nvrtc_search.hpp"

namespace lossgrad {

struct NvrtcFunctions;

class NvrtcLibrary {
 public:
  // ErrorKind::device when no library of the search list can be loaded: the message says what was looked for
  // and how to get NVRTC, the detail lists every place.
  static NvrtcLibrary load(const NvrtcSearch& search);
  // The library of the default search, loaded once.
  static const NvrtcLibrary& instance();

  ~NvrtcLibrary();
  NvrtcLibrary(NvrtcLibrary&&) noexcept;
  NvrtcLibrary& operator=(NvrtcLibrary&&) noexcept;
  NvrtcLibrary(const NvrtcLibrary&) = delete;
  NvrtcLibrary& operator=(const NvrtcLibrary&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const std::string& version() const { return version_; }  // "13.0"
  // What it compiles for, oldest first: "sm_75", "sm_80", ...
  [[nodiscard]] const std::vector<std::string>& architectures() const { return architectures_; }
  // Folder with CUDA's own headers (cuda_fp16.h); kernels that include none compile without it.
  [[nodiscard]] const std::optional<std::filesystem::path>& include_folder() const { return include_folder_; }
  [[nodiscard]] const NvrtcFunctions& functions() const { return *functions_; }

 private:
  NvrtcLibrary(std::filesystem::path path, std::unique_ptr<const NvrtcFunctions> functions,
               const std::vector<std::filesystem::path>& include_folders);

  std::filesystem::path path_;
  std::unique_ptr<const NvrtcFunctions> functions_;
  std::string version_;
  std::vector<std::string> architectures_;
  std::optional<std::filesystem::path> include_folder_;
};

}  // namespace lossgrad
