// SPDX-License-Identifier: Apache-2.0
#include "check/guarded_buffer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/content_hash.hpp"
#include "base/error.hpp"

namespace lossgrad {
namespace {

// Canary zones: two blocks of 1024 f64 elements at least, a sixteenth of the data where that is more, at most
// 4 MiB.
constexpr std::size_t kLeastZoneBytes = 16384;
constexpr std::size_t kMostZoneBytes = std::size_t{4} << 20;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kPieceBytes = std::size_t{4} << 20;  // for hashing without a copy of the whole buffer

// A finite number that no loss or gradient is likely to be: 13 bits of a hash decide sign, exponent and
// significand. From 2 to 32: a loss added to it is seen in 16-bit types too.
double unlikely_number(Dtype dtype, std::uint64_t salt) {
  const std::uint64_t hash = hash_bytes(std::as_bytes(std::span(&salt, 1)), 0x6c6f7373);
  const double significand = 1.0 + static_cast<double>(hash & 0x3ff) / 1024;
  const int exponent = 1 + static_cast<int>(hash >> 10 & 3);
  return round_to(dtype, std::ldexp((hash >> 20 & 1) != 0 ? -significand : significand, exponent));
}

std::vector<std::byte> stored(Dtype dtype, double value) {
  std::vector<std::byte> bytes(size_in_bytes(dtype));
  encode(dtype, std::span(&value, 1), bytes);
  return bytes;
}

std::size_t elements_off(const BufferPlan& plan, const std::string& name) {
  const bool concerned = plan.misaligned.empty() || plan.misaligned == name;
  return concerned ? static_cast<std::size_t>(plan.misalignment) : 0;
}

}  // namespace

GuardedBuffer::GuardedBuffer(Backend& backend, std::string name, Dtype dtype, const ItemLayout& layout,
                             const BufferPlan& plan, std::uint64_t salt)
    : backend_(backend),
      name_(std::move(name)),
      dtype_(dtype),
      layout_(layout),
      in_nans_(plan.in_nans),
      zone_bytes_(std::clamp(bytes() / 16 / 256 * 256, kLeastZoneBytes, kMostZoneBytes)),
      data_offset_(zone_bytes_ + elements_off(plan, name_) * size_in_bytes(dtype)),
      canary_(stored(dtype, in_nans_ ? kNan : unlikely_number(dtype, salt ^ 0xca9a57))),
      memory_(backend.allocate(data_offset_ + bytes() + zone_bytes_)) {
  backend_.fill(*memory_, 0, data_offset_, canary_);
  backend_.fill(*memory_, data_offset_ + bytes(), zone_bytes_, canary_);
  backend_.fence(*memory_, data_offset_, bytes());
}

std::byte* GuardedBuffer::address() const { return memory_->address() + data_offset_; }

void GuardedBuffer::write_items(std::int64_t first, std::int64_t count, std::span<const double> values) {
  const std::size_t element = size_in_bytes(dtype_);
  std::vector<std::byte> staging(values.size() * element);
  encode(dtype_, values, staging);
  const std::size_t slice = static_cast<std::size_t>(count * layout_.inner) * element;
  for (std::int64_t o = 0; o < layout_.outer; ++o) {
    const auto start = static_cast<std::size_t>((o * layout_.items + first) * layout_.inner) * element;
    backend_.upload(*memory_, data_offset_ + start,
                    std::span<const std::byte>(staging).subspan(static_cast<std::size_t>(o) * slice, slice));
  }
}

std::vector<std::byte> GuardedBuffer::read_items(std::int64_t first, std::int64_t count) const {
  const std::size_t element = size_in_bytes(dtype_);
  const std::size_t slice = static_cast<std::size_t>(count * layout_.inner) * element;
  std::vector<std::byte> staging(slice * static_cast<std::size_t>(layout_.outer));
  for (std::int64_t o = 0; o < layout_.outer; ++o) {
    const auto start = static_cast<std::size_t>((o * layout_.items + first) * layout_.inner) * element;
    backend_.download(*memory_, data_offset_ + start,
                      std::span(staging).subspan(static_cast<std::size_t>(o) * slice, slice));
  }
  return staging;
}

double GuardedBuffer::fill_with_sentinel(std::uint64_t salt, std::uint64_t launch) {
  const double sign = unlikely_number(dtype_, salt) * (launch % 2 == 0 ? 1 : -1);
  const double sentinel = in_nans_ ? kNan : std::copysign(unlikely_number(dtype_, salt + launch), sign);
  if (bytes() > 0) backend_.fill(*memory_, data_offset_, bytes(), stored(dtype_, sentinel));
  return sentinel;
}

std::vector<std::byte> GuardedBuffer::download(std::size_t offset, std::size_t count) const {
  std::vector<std::byte> piece(count);
  backend_.download(*memory_, offset, piece);
  return piece;
}

template <class Visit>
void GuardedBuffer::for_each_piece(Visit visit) const {
  std::vector<std::byte> piece;
  for (std::size_t done = 0; done < bytes(); done += kPieceBytes) {
    piece.resize(std::min(kPieceBytes, bytes() - done));
    backend_.download(*memory_, data_offset_ + done, piece);
    visit(piece);
  }
}

std::uint64_t GuardedBuffer::content_hash() const {
  std::uint64_t hash = 0;
  for_each_piece([&](std::span<std::byte> piece) { hash = hash_bytes(piece, hash); });
  return hash;
}

std::uint64_t GuardedBuffer::result_hash() const {
  std::uint64_t hash = 0;
  for_each_piece([&](std::span<std::byte> piece) {
    unify_nans(dtype_, piece);
    hash = hash_bytes(piece, hash);
  });
  return hash;
}

std::optional<std::string> GuardedBuffer::canary_damage() const {
  const std::size_t element = canary_.size();
  const auto intact = [&](const std::vector<std::byte>& zone, std::size_t at) {
    return std::memcmp(canary_.data(), zone.data() + at, element) == 0;
  };
  // A zone is whole when it begins with the canary and repeats itself.
  const auto whole = [&](const std::vector<std::byte>& zone) {
    return intact(zone, 0) && std::memcmp(zone.data(), zone.data() + element, zone.size() - element) == 0;
  };
  const auto before = download(0, data_offset_);
  const auto after = download(data_offset_ + bytes(), zone_bytes_);
  if (whole(before) && whole(after)) return std::nullopt;
  for (std::size_t at = before.size(); at >= element; at -= element) {
    if (intact(before, at - element)) continue;
    const std::size_t distance = (before.size() - at) / element + 1;
    return "written " + std::to_string(distance) + (distance == 1 ? " element" : " elements") +
           " before the start of " + name_;
  }
  for (std::size_t at = 0; at < after.size(); at += element) {
    if (intact(after, at)) continue;
    return "written at element " +
           std::to_string(layout_.elements() + static_cast<std::int64_t>(at / element)) + " of " + name_ +
           ", which has " + std::to_string(layout_.elements());
  }
  return std::nullopt;
}

}  // namespace lossgrad
