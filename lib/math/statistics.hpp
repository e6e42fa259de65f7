// SPDX-License-Identifier: Apache-2.0
// Maximum and quantiles of non-negative numbers in one pass and constant memory, for tens of millions of
// errors.
#pragma once

#include <array>
#include <cstdint>

namespace lossgrad {

// Counts by logarithmic bins, 8 per octave: a quantile is too large by at most one eighth, the maximum is
// exact. Order-independent, so that a parallel run gives the same figures as a sequential one.
class LogHistogram {
 public:
  void add(double value);  // value >= 0; infinity and NaN count as infinity
  void merge(const LogHistogram& other);
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] double max() const { return max_; }
  // The upper edge of the bin that holds the value of rank ceil(fraction * count); never above max(). 0 when
  // empty.
  [[nodiscard]] double quantile(double fraction) const;

 private:
  static constexpr int kBinsPerOctave = 8;
  static constexpr int kLowestExponent = -160;  // smaller values share the first bin
  static constexpr int kHighestExponent = 160;
  static constexpr int kBins =
      (kHighestExponent - kLowestExponent) * kBinsPerOctave + 3;  // zero, below, ..., above
  static int bin_of(double value);

  std::array<std::int64_t, kBins> counts_{};
  std::int64_t count_ = 0;
  double max_ = 0;
};

}  // namespace lossgrad
