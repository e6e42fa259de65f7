// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/nvrtc_search.hpp"

#include <cstdlib>
#include <system_error>

namespace lossgrad {
namespace {

namespace fs = std::filesystem;

void add_from_environment(const char* variable, const fs::path& below, std::vector<fs::path>& folders) {
  const char* value = std::getenv(variable);
  if (value != nullptr && *value == '/') folders.push_back(fs::path(value) / below);
}

// .deps/cuda of the checkout that the program was built in, wherever the checkout lies now, and the place
// that an installed program would have it.
void add_beside_program(std::vector<fs::path>& wheels) {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (ignored || !program.has_parent_path()) return;
  fs::path folder = program.parent_path();
  wheels.push_back(folder.parent_path() / "lib" / "lossgrad" / "cuda");
  constexpr int kLevels = 5;  // build/<preset>/tests/device/cuda
  for (int level = 0; level <= kLevels && folder.has_relative_path();
       ++level, folder = folder.parent_path()) {
    wheels.push_back(folder / ".deps" / "cuda");
  }
}

// <prefix>/lib/python3.N/site-packages (Debian: dist-packages), for every N.
void add_python_packages(const fs::path& prefix, std::vector<fs::path>& wheels) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", ignored)) {
    if (!entry.path().filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      const fs::path folder = entry.path() / packages;
      if (fs::is_directory(folder / "nvidia", ignored)) wheels.push_back(folder);
    }
  }
}

}  // namespace

NvrtcSearch nvrtc_search(const std::vector<fs::path>& toolkits, const std::vector<fs::path>& wheels) {
  NvrtcSearch search;
  search.names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  for (const fs::path& toolkit : toolkits) {
    search.folders.push_back(toolkit / "lib64");
    search.folders.push_back(toolkit / "lib");
    search.include_folders.push_back(toolkit / "include");
  }
  for (const fs::path& wheel : wheels) {
    search.folders.push_back(wheel / "nvidia" / "cu13" / "lib");
    search.folders.push_back(wheel / "nvidia" / "cuda_nvrtc" / "lib");
    search.include_folders.push_back(wheel / "nvidia" / "cu13" / "include");
    search.include_folders.push_back(wheel / "nvidia" / "cuda_runtime" / "include");
  }
  return search;
}

NvrtcSearch default_nvrtc_search() {
  std::vector<fs::path> toolkits;
  add_from_environment("CUDA_HOME", "", toolkits);
  add_from_environment("CUDA_PATH", "", toolkits);
  toolkits.emplace_back("/usr/local/cuda");

  std::vector<fs::path> wheels = {LOSSGRAD_CUDA_WHEELS};
  add_beside_program(wheels);
  std::vector<fs::path> prefixes;
  add_from_environment("VIRTUAL_ENV", "", prefixes);
  add_from_environment("CONDA_PREFIX", "", prefixes);
  add_from_environment("HOME", ".local", prefixes);
  prefixes.emplace_back("/usr/local");
  for (const fs::path& prefix : prefixes) add_python_packages(prefix, wheels);

  NvrtcSearch search = nvrtc_search(toolkits, wheels);
  search.include_folders.emplace_back(LOSSGRAD_CUDA_INCLUDE_DIR);
  return search;
}

std::vector<fs::path> include_folders_beside(const fs::path& library) {
  std::vector<fs::path> folders;
  const auto add_around = [&](const fs::path& folder) {
    folders.push_back(folder.parent_path() / "include");  // toolkit, wheel of 13
    folders.push_back(folder.parent_path().parent_path() / "cuda_runtime" / "include");  // wheels of 12
    folders.push_back(folder.parent_path().parent_path() / "include");                   // /usr/lib/<triplet>
  };
  add_around(library.parent_path());
  std::error_code failed;
  const fs::path real = fs::canonical(library, failed);
  if (!failed && real.parent_path() != library.parent_path()) add_around(real.parent_path());
  return folders;
}

}  // namespace lossgrad
