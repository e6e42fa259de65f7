// SPDX-License-Identifier: Apache-2.0
// Sums of products with a bound of their rounding error that holds for every order of summation: one
// accumulator, many, trees, with or without fused multiply-add.
//
// Worst case: each term passes through at most m = n + 3 roundings (its product, n - 1 additions, and three
// for terms that were scaled first), so that |error| <= m * u * sum |a_i b_i|. That grows with n and would
// hide sums held in 16 bits. Where roundings are independent with mean zero the error stays below
//   lambda * sqrt(m) * u * sum |a_i b_i|   with probability at least 1 - 2 exp(-lambda^2 / 2)
// Higham, Mary: A new approach to probabilistic rounding error analysis, SIAM Journal on Scientific Computing
// 41 (2019), theorem 2.4. lambda = 6: a right kernel leaves the bound for one sum in 3e7, and twice the bound
// (the default slack) for one in 1e31.
//
// Roundings of equal terms are not independent: an accumulator lies on the grid of its binade, so that a term
// rounds the same way every time it is added there. A term that occurs c times then counts as one rounding of
// c times the size: with counts c_1, c_2, ... of the distinct magnitudes sqrt(m) becomes
// sqrt(c_1^2 + c_2^2 + ...), which is sqrt(m) when all differ and m, the worst case, when all are equal.
//
// Sums of few digits are exact in any order: where every term is a multiple of some 2^k and the magnitudes
// add up to no more than 2^(k + digits), no partial sum rounds. That holds for the squares of a row, which
// right kernels add up as they are; the products of two rows may be those of rows that were normalised, and
// rounded, first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <Eigen/Core>

#include "math/running_error.hpp"

namespace Eigen {
// RunningError as a scalar of Eigen's arrays.
template <lossgrad::Dtype kType>
struct NumTraits<lossgrad::RunningError<kType>> : NumTraits<double> {
  using Real = lossgrad::RunningError<kType>;
  using NonInteger = lossgrad::RunningError<kType>;
  using Nested = lossgrad::RunningError<kType>;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 2,
    AddCost = 6,
    MulCost = 12
  };
};
}  // namespace Eigen

namespace lossgrad {

template <class T>
using Vector = Eigen::Array<T, Eigen::Dynamic, 1>;

inline constexpr double kSumLambda = 6;

// Roundings on a term's way into a sum in the order that loses most, and in a blocked sum: at most 128 terms
// one after another, pairs of threads across a warp (5), 16 warps one after another, and what `any` has on
// top. The built-in kernels keep to it with the block that they choose for a length.
enum class SumOrder { any, blocked };
inline constexpr double kBlockedRoundings = 128 + 5 + 16 + 3;

// What sums of products of two vectors need to know, in double.
struct ProductSum {
  double value = 0;      // sum of a_i b_i
  double magnitude = 0;  // sum of |a_i b_i|
  std::int64_t terms = 0;
  std::int64_t nonzero = 0;
  bool of_squares = false;                           // a is b
  int lowest_bit = std::numeric_limits<int>::max();  // every term is a multiple of 2^lowest_bit
  // Sum of squares of how often each magnitude |a_i b_i| other than 0 occurs: `nonzero` when all differ.
  double squared_counts = 0;
  bool finite = true;  // all of a and b are
};
ProductSum product_sum(const Vector<double>& a, const Vector<double>& b);

// What scaling, means and the like may add to an exact sum.
inline constexpr double kExactSumUnits = 8;

// Multiples of u * magnitude that bound the error.
inline double sum_error_units(const ProductSum& sum, SumOrder order) {
  const double worst = static_cast<double>(sum.terms) + 3;
  const double roundings = order == SumOrder::blocked ? std::min(worst, kBlockedRoundings) : worst;
  // How much larger than of distinct terms: the same for a part of the sum as for all of it.
  const double alike = sum.nonzero == 0 ? 1 : sum.squared_counts / static_cast<double>(sum.nonzero);
  const double part = roundings / worst;
  const double statistical = kSumLambda * std::sqrt(roundings * std::max(1.0, alike * part));
  return std::min(roundings, statistical);
}

// The sum as a kernel in the compute type may have it.
template <Dtype kType>
RunningError<kType> running_sum(const ProductSum& sum, SumOrder order) {
  using Format = ComputeFormat<kType>;
  const bool exact = sum.of_squares && sum.nonzero > 0 &&
                     sum.magnitude * Format::kUnitRoundoff <= std::ldexp(1.0, sum.lowest_bit);
  const double units = sum_error_units(sum, order);
  const double error =
      (exact ? std::min(units, kExactSumUnits) : units) * Format::kUnitRoundoff * sum.magnitude +
      static_cast<double>(sum.nonzero) * Format::kMinSubnormal;
  if (sum.magnitude + error > Format::kMax && sum.finite) running_error_state.overflow = true;
  return {sum.value, error};
}

}  // namespace lossgrad
