// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/nvrtc_compiler.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/error.hpp"
#include "device/cuda/nvrtc_program.hpp"
#include "device/cuda/resource_log.hpp"

namespace lossgrad {
namespace {

constexpr std::string_view kRealPrefix = "sm_";

// sm_90 for sm_90a and sm_100 for sm_100f: the suffix asks for features of that architecture or family alone.
std::string without_suffix(const std::string& architecture) {
  constexpr std::array kFirst = {std::pair{'a', 90}, std::pair{'f', 100}};
  for (const auto& [suffix, first] : kFirst) {
    if (!architecture.starts_with(kRealPrefix) || !architecture.ends_with(suffix)) continue;
    int number = 0;
    std::from_chars(architecture.data() + kRealPrefix.size(), architecture.data() + architecture.size() - 1,
                    number);
    if (number >= first) return architecture.substr(0, architecture.size() - 1);
  }
  return architecture;
}

// Options that decide the binary. Contraction to fused multiply-add stays on, as in every CUDA build: it only
// makes rounding errors smaller than the bound assumes.
std::vector<std::string> build_options(const std::string& architecture) {
  return {"--gpu-architecture=" + architecture, "--std=c++17", "--ptxas-options=-v"};
}

[[noreturn]] void fail_compile(const NvrtcLibrary& library, const Kernel& kernel,
                               const std::string& architecture, std::string log) {
  std::string message = "kernel " + kernel.id() + " does not compile for " + architecture + ": ";
  message += first_error_line(log);
  const bool header_missing = log.find("cannot open source file") != std::string::npos;
  if (header_missing && !library.include_folder()) message += " (CUDA's headers were not found beside NVRTC)";
  throw Error(ErrorKind::compile, message, std::move(log));
}

NvrtcProgram compile_program(const NvrtcLibrary& library, const Kernel& kernel,
                             const std::string& architecture) {
  NvrtcProgram program(library, kernel.source(), kernel.id() + ".cu");
  std::vector<std::string> options = build_options(architecture);
  if (kernel.parts().fast_math) options.emplace_back("--use_fast_math");
  if (library.include_folder()) options.push_back("--include-path=" + library.include_folder()->string());
  const nvrtcResult result = program.compile(options);
  if (result == NVRTC_SUCCESS) return program;
  std::string log = program.log();
  if (log.empty()) log = library.functions().error_string(result);
  fail_compile(library, kernel, architecture, std::move(log));
}

}  // namespace

BuildTarget NvrtcCompiler::target(const std::string& architecture) const {
  return {"nvrtc", library_->version(), architecture, build_options(architecture)};
}

bool NvrtcCompiler::supports(const std::string& architecture) const {
  const std::vector<std::string>& known = library_->architectures();
  return std::find(known.begin(), known.end(), without_suffix(architecture)) != known.end();
}

void NvrtcCompiler::check_architecture(const std::string& architecture) const {
  if (supports(architecture)) return;
  std::string message =
      "unknown GPU architecture '" + architecture + "': NVRTC " + library_->version() + " compiles for";
  const char* separator = " ";
  for (const std::string& known : library_->architectures()) {
    message += separator + known;
    separator = ", ";
  }
  throw Error(ErrorKind::usage, message);
}

CompiledKernel NvrtcCompiler::compile(const Kernel& kernel, const std::string& architecture) const {
  check_architecture(architecture);
  CompiledKernel compiled;
  compiled.content_hash = kernel.content_hash(target(architecture));
  if (auto cached = cache_.find(compiled.content_hash, "cubin")) {
    compiled.cubin = std::move(*cached);
    return compiled;
  }
  compiled.cubin = compile_program(*library_, kernel, architecture).cubin();
  cache_.store(compiled.content_hash, "cubin", compiled.cubin);
  return compiled;
}

KernelResources NvrtcCompiler::resources(const Kernel& kernel, const std::string& architecture) const {
  check_architecture(architecture);
  return parse_resource_log(compile_program(*library_, kernel, architecture).log());
}

std::string NvrtcCompiler::ptx(const Kernel& kernel, const std::string& architecture) const {
  check_architecture(architecture);
  const std::string virtual_architecture = "compute_" + architecture.substr(kRealPrefix.size());
  return compile_program(*library_, kernel, virtual_architecture).ptx();
}

void cuda_build(std::span<const Kernel> kernels, const std::string& architecture) {
  const NvrtcCompiler compiler(NvrtcLibrary::instance(), BinaryCache::open_user_cache());
  for (const Kernel& kernel : kernels) (void)compiler.compile(kernel, architecture);
}

KernelResources cuda_resources(const Kernel& kernel, const std::string& architecture) {
  return NvrtcCompiler(NvrtcLibrary::instance(), BinaryCache(std::nullopt)).resources(kernel, architecture);
}

std::string cuda_ptx(const Kernel& kernel, const std::string& architecture) {
  return NvrtcCompiler(NvrtcLibrary::instance(), BinaryCache(std::nullopt)).ptx(kernel, architecture);
}

}  // namespace lossgrad
