// SPDX-License-Identifier: Apache-2.0
// The system's C++ compiler, as a compiler of kernels into shared objects.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace lossgrad::host {

class Compiler {
 public:
  // $CXX (which may carry options), else the first of c++, g++, clang++ on PATH.
  // Throws ErrorKind::device, saying what was looked for, when there is none or it does not answer --version.
  static Compiler find();

  // First line of --version: "g++ (Debian 12.2.0-14) 12.2.0".
  [[nodiscard]] const std::string& version() const { return version_; }

  // What decides the binary besides the kernel, the texts of the embedded headers included.
  [[nodiscard]] BuildTarget target() const;

  // Compiles into `folder`/kernel.so and returns that path. The folder is private to this call.
  // Throws ErrorKind::compile with the first error in the message and the compiler's whole output as detail,
  // ErrorKind::device when the machine is to blame: a full disk, too little memory, too few descriptors.
  [[nodiscard]] std::filesystem::path compile(const Kernel& kernel,
                                              const std::filesystem::path& folder) const;

 private:
  Compiler(std::vector<std::string> command, std::string version)
      : command_(std::move(command)), version_(std::move(version)) {}

  std::vector<std::string> command_;
  std::string version_;
};

// "x86_64": the machine's name as uname gives it.
std::string machine_architecture();

}  // namespace lossgrad::host
