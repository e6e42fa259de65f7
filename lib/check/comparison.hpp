// SPDX-License-Identifier: Apache-2.0
// Compares a kernel's outputs with the reference, element by element. Fails closed: what is neither within
// its bound nor explicitly excused (and counted, as an element or as an item with an input that is not
// finite) is a failure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check/check.hpp"
#include "losses/loss.hpp"
#include "math/statistics.hpp"
#include "results/results.hpp"

namespace lossgrad {

// One reference value; see ReferenceValues.
struct ExpectedElement {
  double low, high, bound;
  double sharp_low, sharp_high, sharp_bound;
  std::uint8_t flags;
};

ExpectedElement expected_element(const ReferenceValues& values, std::size_t element);

struct ItemState {
  bool has_nan = false;
  bool has_infinity = false;
};

// How far a value may be off: slack times the certified bound. The rounding of the output to a storage type
// of 16 bits is known and counts once (a slack below 1 narrows all of it): slack is for what arithmetic and
// saved values may do. Most such bounds are that rounding, and results that are cut instead of rounded fail.
double allowed_error(double slack, Dtype dtype, const ExpectedElement& expected);

// Running figures of one output argument or of several together. Merging is order-independent.
class Comparison {
 public:
  Comparison(Dtype dtype, const Tolerance& tolerance) : dtype_(dtype), tolerance_(tolerance) {}

  // `output`, `item`, `component` name the element in reports.
  void add(const std::string& output, std::int64_t item, std::int64_t component, double got,
           const ExpectedElement& expected, ItemState state);
  void count_non_finite_item() { ++non_finite_items_; }
  void merge(const Comparison& other);

  [[nodiscard]] bool failed() const { return failures_ > 0; }
  [[nodiscard]] std::int64_t failures() const { return failures_; }
  [[nodiscard]] std::int64_t compared() const { return compared_; }
  // Elements of which zero would be accepted too.
  [[nodiscard]] std::int64_t zeros() const { return zeros_; }
  [[nodiscard]] std::int64_t seen() const { return seen_; }
  // Elements that are kinks, unbounded, out of range or not finite by the formula; one that is several of
  // them counts once.
  [[nodiscard]] std::int64_t undecided() const { return undecided_; }
  [[nodiscard]] const std::vector<WorstElement>& worst() const { return worst_; }
  // The first items with a wrong element, at most 64, rising.
  [[nodiscard]] const std::vector<std::int64_t>& failing_items() const { return failing_items_; }

  // Figures and worst elements into a result; the verdict is the caller's.
  void fill(CheckResult& result) const;
  // "3 of 4096 elements are wrong; worst: d_pred[2] of box 17 is 0.5, expected 0.25, 1.2e+04 times its bound"
  [[nodiscard]] std::string failure_reason(const std::string& item_name) const;

 private:
  // The element without its errors, as it stands when it fails.
  static WorstElement element_of(const std::string& output, std::int64_t item, std::int64_t component,
                                 double got, const ExpectedElement& expected);
  void fail(WorstElement element, const std::string& note);
  void keep(const WorstElement& element);
  void keep_failing(std::int64_t item);
  // The bound in force: the certified one, or rtol and atol where they replace it (usage 1 is their limit).
  [[nodiscard]] double bound_at(double expected, double certified) const;
  [[nodiscard]] bool replaces_bound() const;
  // How far a value may be from the nearest right one.
  [[nodiscard]] double limit_at(double nearest, const ExpectedElement& expected) const;
  // Values that are not finite on either side. True when it decided the element.
  bool decide_non_finite(const WorstElement& element, const ExpectedElement& expected, ItemState state);

  Dtype dtype_;
  Tolerance tolerance_;
  std::int64_t seen_ = 0, compared_ = 0, failures_ = 0, zeros_ = 0;
  std::int64_t kinks_ = 0, out_of_range_ = 0, unbounded_ = 0, undecided_ = 0, non_finite_items_ = 0;
  LogHistogram usage_, sharp_usage_, abs_, rel_, ulp_;
  std::vector<WorstElement> worst_;
  std::vector<std::int64_t> failing_items_;
};

}  // namespace lossgrad
