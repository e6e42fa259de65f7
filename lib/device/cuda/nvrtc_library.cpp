// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/nvrtc_library.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <dlfcn.h>

#include "base/error.hpp"
#include "device/cuda/nvrtc_functions.hpp"

namespace lossgrad {
namespace {

namespace fs = std::filesystem;

std::string last_loader_error() {
  const char* text = ::dlerror();
  return text == nullptr ? "unknown error" : text;
}

template <typename Function>
void resolve(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, symbol));
  if (function == nullptr) throw Error(ErrorKind::device, std::string("NVRTC lacks ") + symbol);
}

std::unique_ptr<const NvrtcFunctions> resolve_all(void* library) {
  auto functions = std::make_unique<NvrtcFunctions>();
  resolve(library, "nvrtcVersion", functions->version);
  resolve(library, "nvrtcGetErrorString", functions->error_string);
  resolve(library, "nvrtcGetNumSupportedArchs", functions->supported_arch_count);
  resolve(library, "nvrtcGetSupportedArchs", functions->supported_archs);
  resolve(library, "nvrtcCreateProgram", functions->create_program);
  resolve(library, "nvrtcDestroyProgram", functions->destroy_program);
  resolve(library, "nvrtcCompileProgram", functions->compile_program);
  resolve(library, "nvrtcGetProgramLogSize", functions->log_size);
  resolve(library, "nvrtcGetProgramLog", functions->log);
  resolve(library, "nvrtcGetCUBINSize", functions->cubin_size);
  resolve(library, "nvrtcGetCUBIN", functions->cubin);
  resolve(library, "nvrtcGetPTXSize", functions->ptx_size);
  resolve(library, "nvrtcGetPTX", functions->ptx);
  return functions;
}

// The file that a symbol was loaded from; the name that the loader was given need not be a path.
fs::path file_of(const void* symbol, const std::string& otherwise) {
  Dl_info info{};
  if (::dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return otherwise;
  return info.dli_fname;
}

std::string version_of(const NvrtcFunctions& functions) {
  int major = 0;
  int minor = 0;
  if (functions.version(&major, &minor) != NVRTC_SUCCESS) return "unknown";
  return std::to_string(major) + "." + std::to_string(minor);
}

std::vector<std::string> architectures_of(const NvrtcFunctions& functions) {
  int count = 0;
  if (functions.supported_arch_count(&count) != NVRTC_SUCCESS || count <= 0) return {};
  std::vector<int> numbers(static_cast<std::size_t>(count));
  if (functions.supported_archs(numbers.data()) != NVRTC_SUCCESS) return {};
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::string> names;
  names.reserve(numbers.size());
  for (const int number : numbers) names.push_back("sm_" + std::to_string(number));
  return names;
}

// NVRTC opens its builtins by bare name, which fails where the loader does not search its folder (wheels).
// Once loaded from there, that name resolves to the loaded library.
void load_builtins(const fs::path& nvrtc, const std::string& version) {
  const fs::path builtins = nvrtc.parent_path() / ("libnvrtc-builtins.so." + version);
  ::dlopen(builtins.c_str(), RTLD_NOW | RTLD_LOCAL);
}

struct Attempts {
  std::string looked_for;  // one line per place
  std::string failure;     // the first library that exists but does not load
};

// Libraries stay loaded until the process ends: NVRTC registers handlers that run at exit.
void* open_first(const NvrtcSearch& search, std::string& opened, Attempts& attempts) {
  const auto try_open = [&](const std::string& name) {
    void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) opened = name;
    return library;
  };
  if (search.use_loader_path) {
    attempts.looked_for += "the dynamic loader's path\n";
    for (const std::string& name : search.names) {
      if (void* library = try_open(name)) return library;
    }
  }
  for (const fs::path& folder : search.folders) {
    attempts.looked_for += folder.string() + "\n";
    for (const std::string& name : search.names) {
      std::error_code ignored;
      if (!fs::exists(folder / name, ignored)) continue;
      if (void* library = try_open((folder / name).string())) return library;
      if (attempts.failure.empty()) attempts.failure = last_loader_error();
    }
  }
  return nullptr;
}

[[noreturn]] void fail_not_found(const NvrtcSearch& search, const Attempts& attempts) {
  std::string message = "NVRTC not found: looked for ";
  for (std::size_t i = 0; i < search.names.size(); ++i) message += (i == 0 ? "" : ", ") + search.names[i];
  if (search.use_loader_path) message += " in the loader's path";
  message +=
      (search.use_loader_path ? " and in " : " in ") + std::to_string(search.folders.size()) + " folders";
  if (!attempts.failure.empty()) message += " (one does not load: " + attempts.failure + ")";
  message += "; run scripts/setup or install the CUDA Toolkit";
  throw Error(ErrorKind::device, message, "looked in:\n" + attempts.looked_for);
}

}  // namespace

NvrtcLibrary::NvrtcLibrary(fs::path path, std::unique_ptr<const NvrtcFunctions> functions,
                           const std::vector<fs::path>& include_folders)
    : path_(std::move(path)),
      functions_(std::move(functions)),
      version_(version_of(*functions_)),
      architectures_(architectures_of(*functions_)) {
  std::vector<fs::path> candidates = include_folders_beside(path_);
  candidates.insert(candidates.end(), include_folders.begin(), include_folders.end());
  const auto found = std::find_if(candidates.begin(), candidates.end(), [](const fs::path& folder) {
    std::error_code ignored;
    return fs::exists(folder / "cuda_fp16.h", ignored);
  });
  if (found != candidates.end()) include_folder_ = *found;
}

NvrtcLibrary::~NvrtcLibrary() = default;
NvrtcLibrary::NvrtcLibrary(NvrtcLibrary&&) noexcept = default;
NvrtcLibrary& NvrtcLibrary::operator=(NvrtcLibrary&&) noexcept = default;

NvrtcLibrary NvrtcLibrary::load(const NvrtcSearch& search) {
  std::string name;
  Attempts attempts;
  void* library = open_first(search, name, attempts);
  if (library == nullptr) fail_not_found(search, attempts);
  auto functions = resolve_all(library);
  const fs::path path = file_of(reinterpret_cast<const void*>(functions->version), name);
  NvrtcLibrary nvrtc(path, std::move(functions), search.include_folders);
  load_builtins(nvrtc.path(), nvrtc.version());
  return nvrtc;
}

const NvrtcLibrary& NvrtcLibrary::instance() {
  static const NvrtcLibrary library = load(default_nvrtc_search());
  return library;
}

}  // namespace lossgrad
