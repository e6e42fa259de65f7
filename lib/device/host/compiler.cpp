// SPDX-License-Identifier: Apache-2.0
#include "device/host/compiler.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "device/host/address_sanitizer.hpp"
#include "device/host/process.hpp"
#include "device/host/source_text.hpp"
#include "device/host/tokens.hpp"

namespace lossgrad::host {
namespace {

namespace fs = std::filesystem;

// Contraction off: a fused operation happens only where the kernel names it. Aliasing rules off: CUDA code
// reads float arrays as float4.
constexpr auto kOptions = std::to_array<const char*>({
    "-std=c++20",
    "-O2",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-strict-aliasing",
    "-w",
});
// Of a program that GCC built with the address sanitizer, by GCC: reads alone (read_fence.hpp).
#if defined(LOSSGRAD_ADDRESS_SANITIZER) && !defined(__clang__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr auto kInstrumented = std::to_array<const char*>(
    {"-fsanitize=address", "--param=asan-instrument-writes=0", "--param=asan-stack=0"});
// What -ffast-math stands for, but not that name: linked with it, an object that is loaded makes the whole
// thread flush subnormals.
constexpr auto kFastMath = std::to_array<const char*>(
    {"-fassociative-math", "-freciprocal-math", "-fno-signed-zeros", "-ffinite-math-only"});
constexpr const char* kNoUndefinedSymbols = "-Wl,-z,defs";

// -march=native and its like in CXX.
bool means_this_cpu(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(),
                     [](const std::string& word) { return word.ends_with("=native"); });
}

// The line of /proc/cpuinfo that says what the CPU can do; empty where there is none.
std::string cpu_features() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("flags") || line.starts_with("Features")) return line;
  }
  return {};
}

std::vector<std::string> options_for(const std::string& compiler_version) {
  std::vector<std::string> options(kOptions.begin(), kOptions.end());
  if (kSanitized && compiler_version.find("clang") == std::string::npos)
    options.insert(options.end(), kInstrumented.begin(), kInstrumented.end());
  return options;
}

// The path of a program, searched on PATH unless it has a slash; empty when there is none.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : std::string();
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? kStandardPath : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    std::error_code error;
    if (fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0)
      return candidate.string();
  }
  return {};
}

// The compiler's command: a path, and options when $CXX has them. Empty when there is none.
std::vector<std::string> find_command() {
  const char* variable = std::getenv("CXX");
  std::istringstream words(variable == nullptr ? "" : variable);
  std::vector<std::string> command;
  for (std::string word; words >> word;) command.push_back(word);
  if (!command.empty()) {
    const std::string path = find_program(command.front());
    if (path.empty()) {
      throw Error(ErrorKind::device,
                  "host backend: CXX names " + command.front() + ", which is not a program on PATH");
    }
    command.front() = path;
    return command;
  }
  for (const char* name : {"c++", "g++", "clang++"}) {
    const std::string path = find_program(name);
    if (!path.empty()) return {path};
  }
  return {};
}

// The folder is private and goes at once: no need for the care of an atomic write.
void write_file(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  errno = 0;
  file << text;
  if (!file.flush()) {
    throw Error(ErrorKind::device, path.string() + ": cannot be written" +
                                       (errno == 0 ? "" : ": " + std::system_category().message(errno)));
  }
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string first_error(const std::string& output, const fs::path& folder) {
  std::istringstream lines(output);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    const bool is_error = line.find("error:") != std::string::npos ||
                          line.find("undefined reference") != std::string::npos ||
                          line.find("Error:") != std::string::npos;
    if (is_error) {
      found = line;
      break;
    }
  }
  if (found.empty()) found = first_line(output);
  const std::string prefix = folder.string() + "/";
  for (std::size_t at = found.find(prefix); at != std::string::npos; at = found.find(prefix)) {
    found.erase(at, prefix.size());
  }
  return found;
}

// The line in which the compiler or the linker says that the machine had too little of something, in the
// words of the system; empty when it does not. Then the kernel is not to blame.
std::string shortage(const std::string& output) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"Too many open files", "Resource temporarily unavailable", "Cannot allocate memory", "out of memory",
       "virtual memory exhausted", "No space left on device", "Disk quota exceeded", "Killed",
       "signal terminated program"});
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("internal compiler error") != std::string::npos) continue;  // it crashed by itself
    for (const std::string_view words : kWords) {
      if (line.find(words) != std::string::npos) return line;
    }
  }
  return {};
}

// Constructs that no C++ compiler can translate get a line of their own.
std::string unsupported_construct(const Kernel& kernel) {
  const std::string code = without_comments_and_strings(kernel.source());
  for (const Token& token : tokens_of(code)) {
    if (token.text == "asm" || token.text == "__asm__") return "inline PTX (asm) cannot run on the CPU";
    if (token.text == "cooperative_groups") return "cooperative groups are not available on the host backend";
  }
  if (code.find("<<<") != std::string::npos)
    return "kernels that launch kernels cannot run on the host backend";
  return {};
}

}  // namespace

Compiler Compiler::find() {
  std::vector<std::string> command = find_command();
  if (command.empty()) {
    throw Error(
        ErrorKind::device,
        "host backend: no C++ compiler found: CXX is not set and none of c++, g++, clang++ is on PATH");
  }
  std::vector<std::string> question = command;
  question.emplace_back("--version");
  const ProcessResult answer = run_process(question);
  if (answer.exit_code != 0) {
    throw Error(ErrorKind::device, "host backend: " + command.front() + " --version failed", answer.output);
  }
  return {std::move(command), escaped_controls(first_line(answer.output))};
}

BuildTarget Compiler::target() const {
  BuildTarget target{"c++", version_, machine_architecture(), options_for(version_)};
  target.options.insert(target.options.end(), command_.begin() + 1, command_.end());
  if (means_this_cpu(command_)) target.options.push_back("cpu=" + cpu_features());
  target.options.push_back("headers=" + cuda_headers_hash());
  std::string fast_math = "fast math:";  // of kernels that ask for it
  for (const char* option : kFastMath) (fast_math += ' ') += option;
  target.options.push_back(fast_math);
  return target;
}

fs::path Compiler::compile(const Kernel& kernel, const fs::path& folder) const {
  for (const SourceFile& file : cuda_headers()) write_file(folder / file.name, file.text);
  const fs::path source = folder / "kernel.cpp";
  fs::path object = folder / "kernel.so";
  write_file(source, translation_unit(kernel));
  std::vector<std::string> words = command_;
  const std::vector<std::string> options = options_for(version_);
  words.insert(words.end(), options.begin(), options.end());
  if (kernel.parts().fast_math) words.insert(words.end(), kFastMath.begin(), kFastMath.end());
  words.insert(words.end(),
               {kNoUndefinedSymbols, "-I" + folder.string(), source.string(), "-o", object.string(), "-lm"});
  const ProcessResult result = run_process(words);
  if (result.exit_code == 0 && fs::exists(object)) return object;
  if (result.exit_code == 0) {
    throw Error(ErrorKind::device,
                "host backend: " + command_.front() + " reports success but wrote no program");
  }
  if (result.exit_code > 128) {
    throw Error(ErrorKind::device,
                "host backend: " + command_.front() + " was ended by signal " +
                    std::to_string(result.exit_code - 128),
                result.output);
  }
  if (const std::string line = shortage(result.output); !line.empty()) {
    throw Error(ErrorKind::device, "host backend: " + command_.front() + " lacks resources: " + line,
                result.output);
  }
  const std::string construct = unsupported_construct(kernel);
  throw Error(ErrorKind::compile,
              "kernel " + kernel.id() + " does not compile for the host backend: " +
                  (construct.empty() ? first_error(result.output, folder) : construct),
              result.output);
}

std::string machine_architecture() {
  struct utsname machine {};
  return ::uname(&machine) == 0 ? machine.machine : "unknown";
}

}  // namespace lossgrad::host
