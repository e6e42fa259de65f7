// SPDX-License-Identifier: Apache-2.0
// One right value on its way from a running-error evaluation into ReferenceValues.
#pragma once

#include "losses/loss.hpp"
#include "math/running_error.hpp"

namespace lossgrad {

// Every value from low to high is right, within `error`.
struct RightValue {
  double low = 0;
  double high = 0;
  double error = 0;
  bool out_of_range = false;  // of the storage type; of intermediates running_error_state knows
};
template <Dtype kType>
RightValue right_value(const RunningError<kType>& x) {
  return {x.value, x.value, x.error};
}
template <Dtype kType>
RightValue right_value(const HullError<kType>& x) {
  return {x.low, x.high, x.error};
}

// Of what a kernel may hold before it stores.
double half_ulp(Dtype dtype, const RightValue& x);
double half_ulp(Dtype dtype, double magnitude);

// As an output of this storage type: 16-bit types add half an ulp. The reference in double errs like an f64
// kernel does, so its own bound is added there.
RightValue as_stored(Dtype dtype, RightValue x);
// The part of such a bound that is the rounding to a storage type of 16 bits; 0 for other types.
double storage_rounding(Dtype dtype, double low, double high, double bound);

// Flags of an element from running_error_state and from x.
std::uint8_t range_flags(const RightValue& x);

// As the sharp reference, and as the general one so far.
void put_sharp(ReferenceValues& values, std::size_t element, const RightValue& x);
// Widens the general reference: what another form of the same formula may give.
void put_general(ReferenceValues& values, std::size_t element, const RightValue& x);

}  // namespace lossgrad
