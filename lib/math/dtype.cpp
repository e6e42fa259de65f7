// SPDX-License-Identifier: Apache-2.0
#include "math/dtype.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.hpp"

namespace lossgrad {
namespace {

constexpr FloatFormat kF16 = {11, 65504.0, 0x1p-14, 0x1p-24};
constexpr FloatFormat kBf16 = {8, 0x1.FEp127, 0x1p-126, 0x1p-133};
constexpr FloatFormat kF32 = {24, 0x1.FFFFFEp127, 0x1p-126, 0x1p-149};
constexpr FloatFormat kF64 = {53, 0x1.FFFFFFFFFFFFFp1023, 0x1p-1022, 0x1p-1074};

// 2^exponent, for exponents of normal numbers.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// Rounds to a narrower binary format: a multiple of the spacing there, ties to even, subnormals included.
double round_narrow(const FloatFormat& format, double value) {
  if (!(std::abs(value) < 2 * format.max)) {
    return std::isnan(value) ? value : std::copysign(std::numeric_limits<double>::infinity(), value);
  }
  if (std::abs(value) < format.min_subnormal / 4) return std::copysign(0.0, value);
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff) - 1023;
  const double spacing = std::max(power_of_two(exponent - format.precision + 1), format.min_subnormal);
  // The sum holds no digit below one spacing: the addition rounds, to nearest with ties to even.
  const double anchor = 0x1.8p52 * spacing;
  const double rounded = (value + anchor) - anchor;
  if (std::abs(rounded) > format.max) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return std::copysign(rounded, value);
}

double f16_to_double(std::uint16_t bits) {
  const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  if (exponent == 31) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * fraction * 0x1p-24;
  return sign * (1024 + fraction) * power_of_two(exponent - 25);
}

std::uint16_t f16_bits(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000u : 0u;
  if (std::isnan(value)) return sign | 0x7e00u;
  const double magnitude = std::abs(round_narrow(kF16, value));
  if (std::isinf(magnitude)) return sign | 0x7c00u;
  if (magnitude < kF16.min_normal) return sign | static_cast<std::uint16_t>(magnitude * 0x1p24);
  // As a float, whose exponent is biased by 127 instead of 15, with 13 more fraction bits, which are zero.
  const auto wide = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude));
  return static_cast<std::uint16_t>(sign | ((wide >> 13) - ((127u - 15u) << 10)));
}

double bf16_to_double(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t bf16_bits(double value) {
  if (std::isnan(value)) return std::signbit(value) ? 0xffc0u : 0x7fc0u;
  // After rounding the value is a float whose lower half is zero.
  return static_cast<std::uint16_t>(
      std::bit_cast<std::uint32_t>(static_cast<float>(round_narrow(kBf16, value))) >> 16);
}

template <class Stored, class Convert>
void decode_as(std::span<const std::byte> bytes, std::span<double> values, Convert convert) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    values[i] = convert(stored);
  }
}

template <class Stored, class Convert>
void encode_as(std::span<const double> values, std::span<std::byte> bytes, Convert convert) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Stored stored = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof stored, &stored, sizeof stored);
  }
}

// `infinity`: the bits of plus infinity.
template <class Bits>
void unify_nans_as(std::span<std::byte> bytes, Bits infinity) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  for (std::size_t at = 0; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
    Bits stored;
    std::memcpy(&stored, bytes.data() + at, sizeof stored);
    if ((stored & kMagnitude) <= infinity) continue;
    stored = kMagnitude;
    std::memcpy(bytes.data() + at, &stored, sizeof stored);
  }
}

void require_size(Dtype dtype, std::size_t bytes, std::size_t count) {
  if (bytes != count * size_in_bytes(dtype))
    throw Error(ErrorKind::internal, "buffer size does not match its values");
}

}  // namespace

std::string_view name(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return "f32";
    case Dtype::f64:
      return "f64";
    case Dtype::f16:
      return "f16";
    case Dtype::bf16:
      return "bf16";
  }
  return "?";
}

std::optional<Dtype> parse_dtype(std::string_view text) {
  for (const Dtype dtype : kAllDtypes) {
    if (text == name(dtype)) return dtype;
  }
  return std::nullopt;
}

std::size_t size_in_bytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return 8;
    case Dtype::f32:
      return 4;
    case Dtype::f16:
    case Dtype::bf16:
      return 2;
  }
  return 0;
}

const FloatFormat& format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return kF32;
    case Dtype::f64:
      return kF64;
    case Dtype::f16:
      return kF16;
    case Dtype::bf16:
      return kBf16;
  }
  return kF64;
}

Dtype compute_type(Dtype storage) { return storage == Dtype::f64 ? Dtype::f64 : Dtype::f32; }

double round_to(Dtype dtype, double value) {
  switch (dtype) {
    case Dtype::f64:
      return value;
    case Dtype::f32:
      return static_cast<double>(static_cast<float>(value));
    case Dtype::f16:
      return round_narrow(kF16, value);
    case Dtype::bf16:
      return round_narrow(kBf16, value);
  }
  return value;
}

double ulp(Dtype dtype, double value) {
  const FloatFormat& format = format_of(dtype);
  if (std::isnan(value)) return value;
  const double magnitude = std::min(std::abs(value), format.max);
  if (magnitude < format.min_normal) return format.min_subnormal;
  return std::ldexp(1.0, std::ilogb(magnitude) - format.precision + 1);
}

void decode(Dtype dtype, std::span<const std::byte> bytes, std::span<double> values) {
  require_size(dtype, bytes.size(), values.size());
  switch (dtype) {
    case Dtype::f64:
      decode_as<double>(bytes, values, [](double x) { return x; });
      break;
    case Dtype::f32:
      decode_as<float>(bytes, values, [](float x) { return static_cast<double>(x); });
      break;
    case Dtype::f16:
      decode_as<std::uint16_t>(bytes, values, f16_to_double);
      break;
    case Dtype::bf16:
      decode_as<std::uint16_t>(bytes, values, bf16_to_double);
      break;
  }
}

void unify_nans(Dtype dtype, std::span<std::byte> bytes) {
  switch (dtype) {
    case Dtype::f64:
      return unify_nans_as<std::uint64_t>(bytes, 0x7ff0000000000000u);
    case Dtype::f32:
      return unify_nans_as<std::uint32_t>(bytes, 0x7f800000u);
    case Dtype::f16:
      return unify_nans_as<std::uint16_t>(bytes, 0x7c00u);
    case Dtype::bf16:
      return unify_nans_as<std::uint16_t>(bytes, 0x7f80u);
  }
}

void encode(Dtype dtype, std::span<const double> values, std::span<std::byte> bytes) {
  require_size(dtype, bytes.size(), values.size());
  switch (dtype) {
    case Dtype::f64:
      encode_as<double>(values, bytes, [](double x) { return x; });
      break;
    case Dtype::f32:
      encode_as<float>(values, bytes, [](double x) { return static_cast<float>(x); });
      break;
    case Dtype::f16:
      encode_as<std::uint16_t>(values, bytes, f16_bits);
      break;
    case Dtype::bf16:
      encode_as<std::uint16_t>(values, bytes, bf16_bits);
      break;
  }
}

}  // namespace lossgrad
