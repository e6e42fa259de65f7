// SPDX-License-Identifier: Apache-2.0
// Where NVRTC (CUDA's run-time compiler) and the headers that kernels may include are looked for. Plain data,
// so that tests can point it elsewhere; nothing is loaded here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lossgrad {

struct NvrtcSearch {
  std::vector<std::string> names;              // file names in order of preference: "libnvrtc.so.13"
  bool use_loader_path = true;                 // first each name alone, as the dynamic loader finds it
  std::vector<std::filesystem::path> folders;  // then each name in each of these folders
  // Folders with cuda_fp16.h, tried after those that belong to the library found.
  std::vector<std::filesystem::path> include_folders;
};

// The default search: $CUDA_HOME and $CUDA_PATH, /usr/local/cuda, then folders in the layout of NVIDIA's
// Python wheels (`<folder>/nvidia/cu13/lib`): .deps/cuda of the checkout, the same beside or above the
// program, site-packages.
NvrtcSearch default_nvrtc_search();

// The parts of the default search; `toolkits` hold lib64/ or lib/ and include/, `wheels` hold nvidia/.
NvrtcSearch nvrtc_search(const std::vector<std::filesystem::path>& toolkits,
                         const std::vector<std::filesystem::path>& wheels);

// Folders with headers that belong to the library at `library`, likely ones first; not all need exist.
std::vector<std::filesystem::path> include_folders_beside(const std::filesystem::path& library);

}  // namespace lossgrad
