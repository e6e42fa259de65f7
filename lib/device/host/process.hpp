// SPDX-License-Identifier: Apache-2.0
// Runs another program, without a shell.
#pragma once

#include <string>
#include <vector>

namespace lossgrad::host {

struct ProcessResult {
  int exit_code = 0;   // 128 + signal when a signal ended it
  std::string output;  // standard output and standard error, in the order they were written
};

// Where programs are looked for when the environment has no PATH.
inline constexpr const char* kStandardPath = "/usr/local/bin:/usr/bin:/bin";

// `arguments[0]` is the path of the program. Its messages are in English, its standard input is empty.
// Throws ErrorKind::device when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments);

}  // namespace lossgrad::host
