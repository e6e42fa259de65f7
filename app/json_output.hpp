// SPDX-License-Identifier: Apache-2.0
// Where --json goes. A regular file is replaced atomically after each case; standard output, pipes and
// devices get one document at the end.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "results/results.hpp"

namespace lossgrad::app {

class JsonOutput {
 public:
  // `target`: a path, "-" for `standard_output`, or empty for nowhere. Throws ErrorKind::data when it is
  // plain that the file could not be written.
  JsonOutput(const std::string& target, std::ostream& standard_output);

  void save(const Run& run) const;    // after a case; throws ErrorKind::data
  void finish(const Run& run) const;  // the last state, complete or not; throws ErrorKind::data

 private:
  enum class Kind { none, standard_output, regular_file, stream };
  Kind kind_ = Kind::none;
  std::filesystem::path path_;
  std::ostream& standard_output_;
};

}  // namespace lossgrad::app
