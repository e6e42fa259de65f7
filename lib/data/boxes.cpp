// SPDX-License-Identifier: Apache-2.0
#include "data/boxes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "data/box_reader.hpp"
#include "data/npy.hpp"

namespace lossgrad {
namespace {

constexpr std::string_view kAccepted = "expected a .npy or .npz file or COCO JSON ('{' or '[')";

void count_odd_boxes(BoxList& list) {
  for (const auto& box : list.boxes) {
    const bool finite = std::all_of(box.begin(), box.end(), [](double x) { return std::isfinite(x); });
    if (!finite && list.non_finite++ == 0) list.first_non_finite = &box - list.boxes.data();
    if (box[2] == 0 || box[3] == 0) ++list.zero_size;
    if (box[2] < 0 || box[3] < 0) ++list.negative_size;
  }
}

std::string first_bytes(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    if (!text.empty()) text += ' ';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

bool is_space(unsigned char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The offset of the first byte that is neither the byte order mark of UTF-8 nor white space; size() where
// there is none.
std::uint64_t skip_space(ByteSource& source) {
  std::array<unsigned char, 4096> block{};
  std::uint64_t offset = 0;
  while (offset < source.size()) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), source.size() - offset));
    const std::span<unsigned char> part = std::span(block).first(count);
    source.read(offset, std::as_writable_bytes(part));
    const bool mark = offset == 0 && count >= 3 && std::memcmp(block.data(), "\xEF\xBB\xBF", 3) == 0;
    const auto found = std::find_if_not(part.begin() + (mark ? 3 : 0), part.end(), is_space);
    offset += static_cast<std::uint64_t>(found - part.begin());
    if (found != part.end()) break;
  }
  return offset;
}

[[noreturn]] void reject_unknown(ByteSource& source, std::uint64_t offset) {
  std::array<unsigned char, 8> start{};
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(start.size(), source.size() - offset));
  const std::span<unsigned char> part = std::span(start).first(count);
  source.read(offset, std::as_writable_bytes(part));
  source.fail_at(offset,
                 "not a .npy file nor JSON: found " + first_bytes(part) + ", " + std::string(kAccepted));
}

}  // namespace

BoxList read_npy_boxes(ByteSource& source, BoxFormat format) {
  const NpyHeader header = read_npy_header(source);
  const auto& shape = header.shape;
  if (shape.size() != 2 || (shape[0] != 4 && shape[1] != 4)) {
    source.fail("shape " + shape_text(shape) + ", expected [N, 4] or [4, N]");
  }
  if (header.kind == NpyKind::boolean) source.fail("an array of bool, expected numbers");
  BoxList list;
  list.source = source.name();
  list.stored_type = header.stored_type();
  const std::uint64_t boxes = header.count / 4;
  try {
    list.boxes.resize(static_cast<std::size_t>(boxes));
  } catch (const std::exception&) {  // bad_alloc or length_error
    source.fail(std::to_string(boxes) + " boxes do not fit in memory");
  }
  const bool component_major = (shape[0] == 4) != header.fortran_order;
  read_npy_values(source, header, [&](std::uint64_t first, std::span<const double> block) {
    for (std::uint64_t i = first; i < first + block.size(); ++i) {
      const std::uint64_t box = component_major ? i % boxes : i / 4;
      list.boxes[box][component_major ? i / boxes : i % 4] = block[i - first];
    }
  });
  for (auto& box : list.boxes) box = to_cxcywh(format, box);
  return list;
}

BoxList read_boxes(ByteSource& source, const BoxReadOptions& options) {
  if (source.size() == 0) source.fail("empty file, " + std::string(kAccepted));
  std::array<unsigned char, 6> magic{};
  if (source.size() >= magic.size()) source.read(0, std::as_writable_bytes(std::span(magic)));
  BoxList list;
  if (std::memcmp(magic.data(), "\x93NUMPY", magic.size()) == 0) {
    list = read_npy_boxes(source, options.format.value_or(BoxFormat::cxcywh));
  } else {
    const std::uint64_t start = skip_space(source);
    if (start == source.size()) source.fail_at(start, "nothing but white space, " + std::string(kAccepted));
    std::array<unsigned char, 1> byte{};
    source.read(start, std::as_writable_bytes(std::span(byte)));
    if (byte[0] != '{' && byte[0] != '[') reject_unknown(source, start);
    list = read_coco_boxes(source);
  }
  count_odd_boxes(list);
  return list;
}

BoxList read_boxes(const std::filesystem::path& path, const BoxReadOptions& options) {
  const std::unique_ptr<ByteSource> source = open_array_file(path, options.member);
  return read_boxes(*source, options);
}

}  // namespace lossgrad
