// SPDX-License-Identifier: Apache-2.0
// From options to the cases of a run. Everything that can be wrong with the command line is found here,
// before a device is opened.
#pragma once

#include <optional>
#include <vector>

#include "app/file_inputs.hpp"
#include "app/options.hpp"
#include "check/check.hpp"

namespace lossgrad::app {

struct CheckPlan {
  const Loss* loss = nullptr;
  std::vector<CheckRequest> requests;  // without `inputs`, which depend on the dtype, and without `command`
  std::optional<FileInputs> files;
};

// Throws ErrorKind::usage (names are answered with the nearest ones) and ErrorKind::data (files).
CheckPlan make_check_plan(const CheckOptions& options, const FileReaders& readers);

// The command line that repeats one case on one backend.
std::string repeat_command(const CheckOptions& options, const CheckRequest& request,
                           std::string_view backend);
// The same with other passes and files.
std::string repeat_command(const CheckOptions& options, const CheckRequest& request,
                           const std::vector<Pass>& passes, const InputFiles& files,
                           std::string_view backend);
// As a shell reads it back: left alone when it has no special character; $'...' where it has control
// characters or bytes that are no UTF-8, else for any POSIX shell.
std::string shell_quoted(std::string_view text);

}  // namespace lossgrad::app
