// SPDX-License-Identifier: Apache-2.0
#include "data/npy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"

namespace lossgrad {
namespace {

constexpr std::size_t kBlockElements = 1 << 16;

void swap_each(std::span<std::byte> bytes, std::size_t item_size) {
  for (std::size_t i = 0; i < bytes.size(); i += item_size) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + item_size));
  }
}

// Returns the index of the first value that double cannot hold, or values.size().
template <class Integer>
std::size_t decode_integers(std::span<const std::byte> bytes, std::span<double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Integer stored;
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    values[i] = static_cast<double>(stored);
    if constexpr (sizeof stored == 8) {
      // 2^63 and 2^64 do not fit back into the integer; no integer rounds up to them and is exact.
      const bool top = values[i] >= std::ldexp(1.0, std::is_signed_v<Integer> ? 63 : 64);
      if (top || static_cast<Integer>(values[i]) != stored) return i;
    }
  }
  return values.size();
}

std::size_t decode_block(const NpyHeader& header, std::span<const std::byte> bytes,
                         std::span<double> values) {
  const bool is_signed = header.kind == NpyKind::signed_integer;
  if (header.kind == NpyKind::floating) {
    decode(header.item_size == 2   ? Dtype::f16
           : header.item_size == 4 ? Dtype::f32
                                   : Dtype::f64,
           bytes, values);
    return values.size();
  }
  if (header.kind == NpyKind::boolean) {
    std::transform(bytes.begin(), bytes.end(), values.begin(),
                   [](std::byte b) { return b == std::byte{0} ? 0.0 : 1.0; });
    return values.size();
  }
  switch (header.item_size) {
    case 1:
      return is_signed ? decode_integers<std::int8_t>(bytes, values)
                       : decode_integers<std::uint8_t>(bytes, values);
    case 2:
      return is_signed ? decode_integers<std::int16_t>(bytes, values)
                       : decode_integers<std::uint16_t>(bytes, values);
    case 4:
      return is_signed ? decode_integers<std::int32_t>(bytes, values)
                       : decode_integers<std::uint32_t>(bytes, values);
    default:
      return is_signed ? decode_integers<std::int64_t>(bytes, values)
                       : decode_integers<std::uint64_t>(bytes, values);
  }
}

// The place in C order of the elements of a Fortran-order file, one after the other.
class FortranWalk {
 public:
  explicit FortranWalk(const std::vector<std::int64_t>& shape) {
    std::uint64_t stride = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      const auto extent = static_cast<std::uint64_t>(shape[i]);
      // Dimensions of one element never move the place; without them each step is short.
      if (extent > 1) axes_.insert(axes_.begin(), {extent, stride, 0});
      stride *= extent;
    }
  }

  std::uint64_t next() {
    const std::uint64_t place = place_;
    for (Axis& axis : axes_) {
      place_ += axis.stride;
      if (++axis.index < axis.extent) break;
      place_ -= axis.extent * axis.stride;
      axis.index = 0;
    }
    return place;
  }

 private:
  struct Axis {
    std::uint64_t extent;
    std::uint64_t stride;
    std::uint64_t index;
  };
  std::vector<Axis> axes_;
  std::uint64_t place_ = 0;
};

void read_fortran(ByteSource& source, const NpyHeader& header, std::vector<double>& values) {
  FortranWalk walk(header.shape);
  read_npy_values(source, header, [&](std::uint64_t, std::span<const double> block) {
    for (const double value : block) values[walk.next()] = value;
  });
}

std::string header_text(Dtype dtype, std::span<const std::int64_t> shape) {
  std::string text =
      "{'descr': '<f" + std::to_string(size_in_bytes(dtype)) + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  text += shape.size() == 1 ? ",), }" : "), }";
  // Magic, version and length take 10 bytes; the data starts at a multiple of 64.
  text.append(63 - (10 + text.size()) % 64, ' ');
  return text + "\n";
}

}  // namespace

void read_npy_values(ByteSource& source, const NpyHeader& header, const NpyBlockConsumer& take) {
  const std::size_t block = static_cast<std::size_t>(std::min<std::uint64_t>(header.count, kBlockElements));
  std::vector<std::byte> bytes(block * header.item_size);
  std::vector<double> values(block);
  const bool swap = header.item_size > 1 && header.big_endian != (std::endian::native == std::endian::big);
  for (std::uint64_t first = 0; first < header.count; first += block) {
    const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(block, header.count - first));
    const std::span<std::byte> part = std::span(bytes).first(count * header.item_size);
    const std::uint64_t offset = header.data_offset + first * header.item_size;
    source.read(offset, part);
    if (swap) swap_each(part, header.item_size);
    const std::size_t good = decode_block(header, part, std::span(values).first(count));
    if (good < count) {
      source.fail_at(offset + good * header.item_size,
                     "element " + std::to_string(first + good) + " (" + header.stored_type() +
                         ") is an integer that double cannot hold, expected one that it holds exactly");
    }
    take(first, std::span<const double>(values).first(count));
  }
}

Array read_npy(ByteSource& source) {
  const NpyHeader header = read_npy_header(source);
  Array array{source.name(), header.stored_type(), header.shape, {}};
  try {
    array.values.resize(static_cast<std::size_t>(header.count));
  } catch (const std::exception&) {  // bad_alloc or length_error
    source.fail("the values of " + std::to_string(header.count) + " elements do not fit in memory");
  }
  if (header.fortran_order) {
    read_fortran(source, header, array.values);
  } else {
    read_npy_values(source, header, [&](std::uint64_t first, std::span<const double> block) {
      std::copy(block.begin(), block.end(), array.values.begin() + static_cast<std::ptrdiff_t>(first));
    });
  }
  return array;
}

Array read_npy(const std::filesystem::path& path) { return read_npy(*open_file(path)); }

Array parse_npy(std::span<const std::byte> bytes, const std::string& name) {
  return read_npy(*view_memory(bytes, name));
}

std::string npy_bytes(Dtype dtype, std::span<const std::int64_t> shape, std::span<const double> values) {
  std::uint64_t count = 1;
  for (const std::int64_t dimension : shape) count *= static_cast<std::uint64_t>(dimension);
  if (count != values.size())
    throw Error(ErrorKind::internal, "shape of a .npy file does not match its values");
  if (dtype == Dtype::bf16) throw Error(ErrorKind::internal, "the .npy format has no bfloat16");
  const std::string text = header_text(dtype, shape);
  std::string content("\x93NUMPY\x01\x00", 8);
  content += static_cast<char>(text.size() & 0xff);
  content += static_cast<char>(text.size() >> 8);
  content += text;
  const std::size_t start = content.size();
  content.resize(start + values.size() * size_in_bytes(dtype));
  const std::span<std::byte> data = std::as_writable_bytes(std::span(content)).subspan(start);
  encode(dtype, values, data);
  if constexpr (std::endian::native == std::endian::big) swap_each(data, size_in_bytes(dtype));
  return content;
}

void write_npy(const std::filesystem::path& path, Dtype dtype, std::span<const std::int64_t> shape,
               std::span<const double> values) {
  write_file_atomically(path, npy_bytes(dtype, shape, values));
}

}  // namespace lossgrad
