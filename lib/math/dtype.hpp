// SPDX-License-Identifier: Apache-2.0
// The four storage types and their arithmetic constants (IEEE 754-2019 binary16/32/64; bfloat16 = upper half
// of binary32).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lossgrad {

enum class Dtype : std::uint8_t { f32, f64, f16, bf16 };

inline constexpr std::array<Dtype, 4> kAllDtypes = {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16};

std::string_view name(Dtype dtype);  // "f32", "f64", "f16", "bf16"
std::optional<Dtype> parse_dtype(std::string_view text);
std::size_t size_in_bytes(Dtype dtype);

struct FloatFormat {
  int precision;         // bits of the significand, the hidden one included
  double max;            // largest finite value
  double min_normal;     // smallest normal value
  double min_subnormal;  // smallest positive value
};
const FloatFormat& format_of(Dtype dtype);

// The type a kernel computes in: f32 for f16, bf16 and f32 storage, f64 for f64 storage.
Dtype compute_type(Dtype storage);

// The nearest value of `dtype` (ties to even); overflows to infinity as IEEE rounding does.
double round_to(Dtype dtype, double value);

// Distance from |value| to the next larger value of `dtype`; the subnormal spacing near zero. NaN for NaN.
double ulp(Dtype dtype, double value);

// Storage bytes <-> double. `bytes` holds values.size() elements.
void decode(Dtype dtype, std::span<const std::byte> bytes, std::span<double> values);
void encode(Dtype dtype, std::span<const double> values, std::span<std::byte> bytes);
// Replaces every NaN among the stored values by one of them, whatever its sign and payload.
void unify_nans(Dtype dtype, std::span<std::byte> bytes);

}  // namespace lossgrad
