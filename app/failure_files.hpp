// SPDX-License-Identifier: Apache-2.0
// Where --save-failures goes: for each pass of a case with a failed check an .npz file with inputs and
// outputs and a .txt file with the command that repeats the failure.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/options.hpp"
#include "check/check.hpp"

namespace lossgrad::app {

class FailureFiles {
 public:
  using WriteArrays = std::function<void(const std::filesystem::path&, std::span<const NamedArray>)>;

  // Throws ErrorKind::data when nothing could be written there: the folder is no folder, or it, or the place
  // where it would be made, cannot be written to. Nothing is made yet.
  FailureFiles(const CheckOptions& options, WriteArrays write_arrays);

  [[nodiscard]] bool wanted() const { return !folder_.empty(); }
  // Writes the record of a pass of the request's case and gives the command that repeats its failure to the
  // failed results of that pass. The folder is made when it is not there, for its owner alone; files that are
  // there stay. Throws ErrorKind::data.
  void save(const CheckRequest& request, const FailedPass& failed, std::span<CheckResult> results) const;

 private:
  // Path without a suffix that no file has yet.
  [[nodiscard]] std::filesystem::path free_stem(const CaseId& id) const;
  [[nodiscard]] std::string command_for(const CheckRequest& request, const FailedPass& failed,
                                        const std::filesystem::path& arrays,
                                        const std::string& backend) const;

  const CheckOptions& options_;
  std::filesystem::path folder_;
  WriteArrays write_arrays_;
};

}  // namespace lossgrad::app
