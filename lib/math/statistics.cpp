// SPDX-License-Identifier: Apache-2.0
#include "math/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lossgrad {

int LogHistogram::bin_of(double value) {
  if (value == 0) return 0;
  if (std::isinf(value)) return kBins - 1;
  int exponent = 0;
  const double fraction =
      std::frexp(value, &exponent);  // value = fraction * 2^exponent, fraction in [0.5, 1)
  if (exponent <= kLowestExponent) return 1;
  if (exponent > kHighestExponent) return kBins - 1;
  const int within = std::min(kBinsPerOctave - 1, static_cast<int>((fraction - 0.5) * 2 * kBinsPerOctave));
  return 2 + (exponent - 1 - kLowestExponent) * kBinsPerOctave + within;
}

void LogHistogram::add(double value) {
  if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
  ++counts_[static_cast<std::size_t>(bin_of(value))];
  ++count_;
  max_ = std::max(max_, value);
}

void LogHistogram::merge(const LogHistogram& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

double LogHistogram::quantile(double fraction) const {
  const auto rank = static_cast<std::int64_t>(std::ceil(fraction * static_cast<double>(count_)));
  std::int64_t seen = 0;
  for (int bin = 0; bin < kBins; ++bin) {
    seen += counts_[static_cast<std::size_t>(bin)];
    if (seen < rank || seen == 0) continue;
    if (bin == 0) return 0;
    if (bin == kBins - 1) return max_;
    const int index = bin - 1;  // upper edge: linear within the octave
    const int octave = index / kBinsPerOctave, within = index % kBinsPerOctave;
    const double edge =
        std::ldexp(1.0 + static_cast<double>(within) / kBinsPerOctave, octave + kLowestExponent);
    return std::min(edge, max_);
  }
  return max_;
}

}  // namespace lossgrad
