// SPDX-License-Identifier: Apache-2.0
// A .npy writer of the tests' own: nothing here is shared with the library.
#pragma once

#include <string>
#include <string_view>

#include "data/npy.hpp"
#include "test_files.hpp"

namespace lossgrad::test {

inline std::string with_header(int version, std::string dict, std::string_view data) {
  const std::size_t prefix = version == 1 ? 10 : 12;
  while ((prefix + dict.size() + 1) % 64 != 0) dict += ' ';
  dict += '\n';
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (std::size_t i = 0; i < (version == 1 ? 2u : 4u); ++i)
    file += static_cast<char>(dict.size() >> (8 * i));
  return file + dict + std::string(data);
}

inline std::string dict_of(const std::string& descr, bool fortran, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

// What the library says about the file.
inline std::string read_error(const std::string& file) {
  return data_error([&] { parse_npy(bytes_of(file), "x.npy"); });
}

}  // namespace lossgrad::test
