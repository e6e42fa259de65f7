// SPDX-License-Identifier: Apache-2.0
// Where --json goes. A regular file is replaced atomically after each case; standard output, pipes, devices
// and descriptors (/dev/stdout, whatever it is redirected to) get one document at the end.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "results/results.hpp"

namespace lossgrad::app {

class JsonOutput {
 public:
  // `target`: a path, "-" for `standard_output`, or empty for nowhere. Throws ErrorKind::data when it could
  // not be written: a regular file is tried with an empty temporary one.
  JsonOutput(const std::string& target, std::ostream& standard_output);

  void save(const Run& run) const;  // after a case; throws ErrorKind::data
  // The last state, complete or not; nothing when it ended before its first result: the file of an earlier
  // run stays. Throws ErrorKind::data. False when a signal ended the wait for a reader.
  [[nodiscard]] bool finish(const Run& run) const;

 private:
  enum class Kind { none, standard_output, regular_file, stream, descriptor };
  bool write_stream(const std::string& text) const;

  Kind kind_ = Kind::none;
  std::string target_;  // as given
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::ostream& standard_output_;
};

}  // namespace lossgrad::app
