// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file (NumPy enhancement proposal 1): magic, version 1.0, 2.0 or 3.0, a Python literal
// dict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/byte_source.hpp"

namespace lossgrad {

enum class NpyKind : std::uint8_t { floating, signed_integer, unsigned_integer, boolean };

struct NpyHeader {
  NpyKind kind = NpyKind::floating;
  std::uint32_t item_size = 0;  // bytes of one element: 1, 2, 4 or 8
  bool big_endian = false;
  bool fortran_order = false;       // the first index varies fastest
  std::vector<std::int64_t> shape;  // none negative; () for a single number
  std::uint64_t data_offset = 0;    // byte where the data starts
  std::uint64_t count = 0;  // elements; count * item_size bytes follow the header, no more and no less

  // "f16", "f32", "f64", "i8" ... "u64", "bool".
  [[nodiscard]] std::string stored_type() const;
};

// Reads the header alone and checks what it promises against the size of the file before anything is
// allocated. Objects, text, complex, structured and other dtypes are rejected by name; nothing is ever
// unpickled. Throws ErrorKind::data: path, byte, what was found, what was expected.
NpyHeader read_npy_header(ByteSource& source);

}  // namespace lossgrad
