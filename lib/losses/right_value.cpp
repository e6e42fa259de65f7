// SPDX-License-Identifier: Apache-2.0
#include "losses/right_value.hpp"

#include <algorithm>
#include <cmath>

namespace lossgrad {
namespace {

double largest_of(const RightValue& x) { return std::max(std::abs(x.low), std::abs(x.high)) + x.error; }

}  // namespace

double half_ulp(Dtype dtype, double magnitude) { return 0.5 * ulp(dtype, magnitude); }

double half_ulp(Dtype dtype, const RightValue& x) { return half_ulp(dtype, largest_of(x)); }

RightValue as_stored(Dtype dtype, RightValue x) {
  if (!std::isfinite(x.low) || !std::isfinite(x.high)) return {x.low, x.high, 0};
  if (dtype == Dtype::f64) x.error *= 2;
  if (size_in_bytes(dtype) == 2) {
    x.out_of_range = largest_of(x) > format_of(dtype).max;
    x.error += half_ulp(dtype, x);
  }
  return x;
}

double storage_rounding(Dtype dtype, double low, double high, double bound) {
  if (size_in_bytes(dtype) != 2) return 0;
  // Half an ulp of the largest value that arithmetic may give, which is what the bound leaves without it.
  const double largest = std::max(std::abs(low), std::abs(high));
  const double error = std::max(0.0, bound - half_ulp(dtype, largest));
  return std::min(half_ulp(dtype, largest + error), bound);
}

std::uint8_t range_flags(const RightValue& x) {
  std::uint8_t flags = 0;
  if (running_error_state.infinite || x.out_of_range) flags |= kOutOfRange;
  if (running_error_state.overflow) flags |= kOverflow;
  if (x.high > x.low) flags |= kKink;
  return flags;
}

void put_sharp(ReferenceValues& values, std::size_t element, const RightValue& x) {
  values.low[element] = values.sharp_low[element] = x.low;
  values.high[element] = values.sharp_high[element] = x.high;
  values.bound[element] = values.sharp_bound[element] = x.error;
  values.flags[element] |= range_flags(x);
  // Of the sharp form only: where that one divides for sure by something, a right kernel gives a number.
  if (running_error_state.divisor_may_be_zero) values.flags[element] |= kOutOfRange;
}

void put_general(ReferenceValues& values, std::size_t element, const RightValue& x) {
  if (x.low < values.low[element]) values.low[element] = x.low;
  if (x.high > values.high[element]) values.high[element] = x.high;
  values.bound[element] = std::max(values.bound[element], x.error);
  values.flags[element] |= range_flags(x);
}

}  // namespace lossgrad
