// SPDX-License-Identifier: Apache-2.0
#include "math/running_sum.hpp"

#include <bit>
#include <vector>

namespace lossgrad {
namespace {

// Counts how often each magnitude occurs, in a table of hashes: one pass, no sorting. Different magnitudes
// that meet in a place of the table look alike; what that adds on average is taken off again.
class Repetitions {
 public:
  explicit Repetitions(std::int64_t terms) {
    const auto places = std::bit_ceil(static_cast<std::uint64_t>(2 * terms + 1));
    shift_ = 64 - std::countr_zero(places);
    counts_.assign(places, 0);
  }

  void add(double magnitude) {
    // The finaliser of MurmurHash3: numbers of few digits fall apart as well as others.
    auto bits = std::bit_cast<std::uint64_t>(magnitude);
    bits = (bits ^ bits >> 33) * 0xFF51AFD7ED558CCDu;
    bits = (bits ^ bits >> 33) * 0xC4CEB9FE1A85EC53u;
    std::uint32_t& count = counts_[bits >> shift_];
    squares_ += 2.0 * count + 1;
    ++count;
    ++terms_;
  }

  // Sum of the squared counts of the distinct magnitudes.
  [[nodiscard]] double squared_counts() const {
    const double by_chance = terms_ * (terms_ - 1) / static_cast<double>(counts_.size());
    return std::max(terms_, squares_ - by_chance);
  }

 private:
  std::vector<std::uint32_t>& counts_ = table();
  int shift_ = 0;
  double squares_ = 0, terms_ = 0;

  static std::vector<std::uint32_t>& table() {
    static thread_local std::vector<std::uint32_t> counts;
    return counts;
  }
};

// The exponent of the last binary digit that is not zero.
int lowest_bit(double x) {
  constexpr int kFraction = 52, kBias = 1023;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto exponent = static_cast<int>(bits >> kFraction & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << kFraction) - 1);
  const std::uint64_t digits = exponent == 0 ? fraction : fraction | std::uint64_t{1} << kFraction;
  return std::max(exponent, 1) - kBias - kFraction + std::countr_zero(digits);
}

}  // namespace

ProductSum product_sum(const Vector<double>& a, const Vector<double>& b) {
  ProductSum sum;
  sum.of_squares = &a == &b;
  sum.terms = a.size();
  Repetitions repetitions(sum.terms);
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    const double term = a[i] * b[i];
    sum.value += term;
    sum.magnitude += std::abs(term);
    if (term == 0) continue;
    ++sum.nonzero;
    repetitions.add(std::abs(term));
    sum.lowest_bit = std::min(sum.lowest_bit, lowest_bit(term));
  }
  sum.finite = a.isFinite().all() && b.isFinite().all();
  sum.squared_counts = repetitions.squared_counts();
  return sum;
}

}  // namespace lossgrad
