// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz files: zip archives of .npy arrays, stored or deflated. Members are read in place by their
// names and never written to disk, whatever those names look like.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/array.hpp"
#include "data/byte_source.hpp"
#include "math/dtype.hpp"

namespace lossgrad {

// Which array of an archive is meant.
struct MemberChoice {
  std::string member;               // by name; empty: that of `argument`, else the only one there is
  std::string argument;             // that the array is for
  std::vector<std::string> others;  // arguments that the only array of an archive must not be meant for
};

// "boxes.npz:pred" is the member `pred` of boxes.npz, unless there is a file of that whole name.
struct ArrayPlace {
  std::filesystem::path file;
  std::string member;  // empty: none named
};
ArrayPlace array_place(const std::string& text);

bool is_zip(ByteSource& source);

// The chosen member of the archive as a source of its own, read front to back without holding all of it. Its
// size is that of the archive's directory; data that is shorter, longer or has another checksum is an error
// at the latest with the last byte. Throws ErrorKind::data: file, member, what was found, what was expected.
std::unique_ptr<ByteSource> open_member(std::unique_ptr<ByteSource> archive, const MemberChoice& choice);

// The file itself, or the chosen member where it is an archive.
std::unique_ptr<ByteSource> open_array_file(const std::filesystem::path& path, const MemberChoice& choice);
// An array of a .npy file or of a member of an .npz file.
Array read_array(const std::filesystem::path& path, const MemberChoice& choice);

struct NamedArray {
  std::string name;
  Dtype dtype = Dtype::f64;  // bf16, for which NumPy has no type, is written as f32
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};
// Stored, not deflated, as numpy.savez does; the same arrays give the same bytes. Atomic, and throws, as
// write_file_atomically does.
void write_npz(const std::filesystem::path& path, std::span<const NamedArray> arrays);

}  // namespace lossgrad
