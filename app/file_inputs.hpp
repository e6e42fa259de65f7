// SPDX-License-Identifier: Apache-2.0
// Inputs of a loss that come from files.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/options.hpp"
#include "data/array.hpp"
#include "data/boxes.hpp"
#include "data/npz.hpp"
#include "losses/loss.hpp"

namespace lossgrad::app {

// How files are read; the program uses lib/data, tests their own.
struct FileReaders {
  std::function<BoxList(const std::filesystem::path&, const BoxReadOptions&)> boxes;
  std::function<Array(const std::filesystem::path&, const MemberChoice&)> array;
};

struct FileInputs {
  std::map<std::string, std::vector<double>>
      values;                         // argument name -> values in the argument's layout, as stored
  Sizes sizes;                        // that the files give
  std::optional<Dtype> stored_dtype;  // the widest type of the files; labels do not count
  std::vector<std::pair<std::string, std::string>>
      files;                       // argument name -> path, in the order of the arguments
  std::vector<std::string> notes;  // pairs left out, odd boxes
};

// Throws ErrorKind::usage when a needed file is missing from the options, ErrorKind::data for what is wrong
// in a file.
FileInputs read_file_inputs(const Loss& loss, const CheckOptions& options, const FileReaders& readers);

// The values rounded to `dtype`. Adds notes on values that changed.
std::map<std::string, std::vector<double>> rounded_inputs(const FileInputs& files, Dtype dtype,
                                                          std::vector<std::string>& notes);

}  // namespace lossgrad::app
