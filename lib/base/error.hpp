// SPDX-License-Identifier: Apache-2.0
// Faults are exceptions of this one type, caught in one place, where the program ends. Verdicts about kernels
// are values, never exceptions.
#pragma once

#include <stdexcept>
#include <string>

namespace lossgrad {

enum class ErrorKind {
  usage,     // a flag or its value; exit code 2
  data,      // an input file or its content; exit code 3
  compile,   // a kernel that does not compile or cannot be run by the backend; exit code 4
  device,    // a device, a driver, a launch; exit code 5
  internal,  // a defect of lossgrad itself; exit code 70
};

int exit_code(ErrorKind kind);

class Error : public std::runtime_error {
 public:
  // `message` is one line that names the flag or the file and position and says what was expected.
  // `detail` may have many lines (a compiler's log); it is shown with -v, and always for compile errors.
  Error(ErrorKind kind, const std::string& message, std::string detail = {});

  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  ErrorKind kind_;
  std::string detail_;
};

}  // namespace lossgrad
