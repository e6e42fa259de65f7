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
    constexpr std::uint64_t kGolden =
        0x9E3779B97F4A7C15u;  // Knuth's multiplicative hash: 2^64 / golden ratio
    std::uint64_t bits = std::bit_cast<std::uint64_t>(magnitude);
    bits ^= bits >> 32;  // few digits leave the lower half empty
    std::uint32_t& count = counts_[(bits * kGolden) >> shift_];
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

}  // namespace

ProductSum product_sum(const Vector<double>& a, const Vector<double>& b) {
  ProductSum sum;
  sum.terms = a.size();
  Repetitions repetitions(sum.terms);
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    const double term = a[i] * b[i];
    sum.value += term;
    sum.magnitude += std::abs(term);
    if (term == 0) continue;
    ++sum.nonzero;
    repetitions.add(std::abs(term));
  }
  sum.finite = a.isFinite().all() && b.isFinite().all();
  sum.squared_counts = repetitions.squared_counts();
  return sum;
}

}  // namespace lossgrad
