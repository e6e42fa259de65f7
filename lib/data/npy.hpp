// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: versions 1.0, 2.0 and 3.0; f16, f32, f64, integers and bool; both byte orders; C and
// Fortran order; any number of dimensions, also with no elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "data/array.hpp"
#include "data/byte_source.hpp"
#include "data/npy_header.hpp"
#include "math/dtype.hpp"

namespace lossgrad {

// All three throw ErrorKind::data: path, byte, what was found, what was expected. An integer that double
// cannot hold is rejected, not rounded. Bools are 0 and 1. The file is read in blocks: the memory needed is
// that of the values.
Array read_npy(const std::filesystem::path& path);
Array read_npy(ByteSource& source);
Array parse_npy(std::span<const std::byte> bytes, const std::string& name);

// The values in the order of the file, in blocks: `take(first, values)` gets elements first, first + 1, ...
using NpyBlockConsumer = std::function<void(std::uint64_t first, std::span<const double> values)>;
void read_npy_values(ByteSource& source, const NpyHeader& header, const NpyBlockConsumer& take);

// A file of version 1.0, little-endian, C order. Values are rounded to `dtype`: f16, f32 or f64 (.npy has no
// bfloat16). Throws ErrorKind::internal when shape and values disagree.
std::string npy_bytes(Dtype dtype, std::span<const std::int64_t> shape, std::span<const double> values);
// The same to a file, atomically. Throws ErrorKind::data as write_file_atomically does.
void write_npy(const std::filesystem::path& path, Dtype dtype, std::span<const std::int64_t> shape,
               std::span<const double> values);

}  // namespace lossgrad
