// SPDX-License-Identifier: Apache-2.0
#include "check/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "check/number.hpp"
#include "losses/right_value.hpp"

namespace lossgrad {
namespace {

constexpr std::size_t kWorstKept = 8;
constexpr std::size_t kFailingKept = 64;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double distance(double got, double low, double high) {
  return got < low ? low - got : (got > high ? got - high : 0);
}

double usage_of(double error, double bound) {
  if (std::isnan(bound)) return kInfinity;
  return error == 0 ? 0 : (bound > 0 ? error / bound : kInfinity);
}

Distribution distribution(const LogHistogram& histogram) {
  return {histogram.max(), histogram.quantile(0.999), histogram.quantile(0.99), histogram.quantile(0.5)};
}

// What is wrong first, then larger usage, then lower position: a total order, so that merging does not depend
// on threads.
bool worse(const WorstElement& a, const WorstElement& b) {
  if (a.wrong != b.wrong) return a.wrong;
  if (a.bound_usage != b.bound_usage) return a.bound_usage > b.bound_usage;
  if (a.item != b.item) return a.item < b.item;
  if (a.output != b.output) return a.output < b.output;
  return a.component < b.component;
}

}  // namespace

ExpectedElement expected_element(const ReferenceValues& values, std::size_t element) {
  return {values.low[element],       values.high[element],       values.bound[element],
          values.sharp_low[element], values.sharp_high[element], values.sharp_bound[element],
          values.flags[element]};
}

double allowed_error(double slack, Dtype dtype, const ExpectedElement& expected) {
  const double bound = expected.bound;
  // A bound of 0 is that of what is not finite.
  if (slack <= 1 || !(bound > 0)) return slack * bound;
  const double rounding = storage_rounding(dtype, expected.low, expected.high, bound);
  return rounding + slack * (bound - rounding);
}

double Comparison::limit_at(double nearest, const ExpectedElement& expected) const {
  return replaces_bound() ? bound_at(nearest, expected.bound)
                          : allowed_error(tolerance_.slack, dtype_, expected);
}

double Comparison::bound_at(double expected, double certified) const {
  if (tolerance_.rtol && tolerance_.atol) return *tolerance_.atol + *tolerance_.rtol * std::abs(expected);
  return certified;
}

bool Comparison::replaces_bound() const { return tolerance_.rtol && tolerance_.atol; }

void Comparison::keep(const WorstElement& element) {
  if (worst_.size() == kWorstKept && !worse(element, worst_.back())) return;
  worst_.insert(std::upper_bound(worst_.begin(), worst_.end(), element, worse), element);
  if (worst_.size() > kWorstKept) worst_.pop_back();
}

void Comparison::keep_failing(std::int64_t item) {
  if (failing_items_.size() == kFailingKept && item >= failing_items_.back()) return;
  const auto place = std::lower_bound(failing_items_.begin(), failing_items_.end(), item);
  if (place != failing_items_.end() && *place == item) return;
  failing_items_.insert(place, item);
  if (failing_items_.size() > kFailingKept) failing_items_.pop_back();
}

void Comparison::fail(WorstElement element, const std::string& note) {
  ++failures_;
  keep_failing(element.item);
  element.note = note;
  element.wrong = true;
  keep(element);
}

bool Comparison::decide_non_finite(const WorstElement& element, const ExpectedElement& expected,
                                   ItemState state) {
  const double got = element.got;
  if (std::isnan(expected.low) || std::isnan(expected.high)) {
    if ((expected.flags & (kOverflow | kNanOfInfinity)) != 0 && !state.has_nan) return true;
    ++compared_;
    if (std::isnan(got)) return true;
    // inf - inf in one form of the formula is inf, or the 0 of x / inf, in another. Which elements an
    // infinity of the item reaches is not looked at.
    if (state.has_infinity && !state.has_nan && (std::isinf(got) || got == 0)) return true;
    if (got == 0 && (expected.flags & kZeroToo) != 0) return true;
    fail(element, state.has_nan ? "a NaN input was swallowed" : "the formula gives NaN here");
    return true;
  }
  if ((std::isinf(expected.low) || std::isinf(expected.high)) && expected.low != expected.high) {  // a kink
    ++unbounded_;
    return true;
  }
  if (std::isinf(expected.low)) {
    if ((expected.flags & kOverflow) != 0) return true;  // as below
    ++compared_;
    if (!std::isfinite(got)) return true;
    fail(element, "the formula gives infinity here");
    return true;
  }
  // Counted by the caller: an overflow on the way may leave anything, infinity on the way only what is not
  // finite.
  if ((expected.flags & kOverflow) != 0) return true;
  if ((expected.flags & kOutOfRange) != 0 && !std::isfinite(got)) return true;
  // No bound: any number will do, but where the accurate form has one a right kernel gives a number.
  if (expected.bound == kInfinity && !replaces_bound() &&
      (std::isfinite(got) || expected.sharp_bound == kInfinity)) {
    ++unbounded_;
    return true;
  }
  if (std::isfinite(got)) return false;
  ++compared_;
  if (std::isnan(got) && (state.has_nan || state.has_infinity))
    return true;  // same item: may be NaN or right
  fail(element, "not finite");
  return true;
}

WorstElement Comparison::element_of(const std::string& output, std::int64_t item, std::int64_t component,
                                    double got, const ExpectedElement& expected) {
  WorstElement element;
  element.output = output;
  element.item = item;
  element.component = component;
  element.got = got;
  element.expected_low = expected.low;
  element.expected_high = expected.high;
  element.kink = (expected.flags & kKink) != 0;
  element.bound = expected.bound;
  element.bound_usage = element.abs_error = element.rel_error = element.ulp_error = kInfinity;
  return element;
}

void Comparison::add(const std::string& output, std::int64_t item, std::int64_t component, double got,
                     const ExpectedElement& expected, ItemState state) {
  ++seen_;
  const bool out_of_range = (expected.flags & (kOutOfRange | kOverflow)) != 0;
  if (out_of_range) ++out_of_range_;
  WorstElement element = element_of(output, item, component, got, expected);
  const std::int64_t unbounded_before = unbounded_;
  const bool decided = decide_non_finite(element, expected, state);
  const bool kink = !decided && (expected.flags & kKink) != 0;
  if (out_of_range || kink || unbounded_ != unbounded_before || !std::isfinite(expected.low)) ++undecided_;
  if (decided) return;

  ++compared_;
  if (kink) ++kinks_;
  const double nearest_zero = std::clamp(0.0, expected.low, expected.high);
  if (std::abs(nearest_zero) <= limit_at(nearest_zero, expected)) ++zeros_;
  const double nearest = std::clamp(got, expected.low, expected.high);
  element.abs_error = distance(got, expected.low, expected.high);
  element.rel_error = usage_of(element.abs_error, std::abs(nearest));
  element.ulp_error = element.abs_error / ulp(dtype_, nearest);
  const bool significant = std::abs(nearest) > expected.bound;
  element.bound = bound_at(nearest, expected.bound);
  element.bound_usage = usage_of(element.abs_error, element.bound);
  usage_.add(element.bound_usage);
  if (std::isfinite(expected.sharp_bound)) {
    sharp_usage_.add(usage_of(distance(got, expected.sharp_low, expected.sharp_high), expected.sharp_bound));
  }
  abs_.add(element.abs_error);
  if (significant) {
    rel_.add(element.rel_error);
    ulp_.add(element.ulp_error);
  }
  if (!(element.abs_error <= limit_at(nearest, expected))) {  // nor is a NaN within
    std::string note = kink ? "outside the hull of the undecided branches" : "";
    const bool rounding_counts_once = size_in_bytes(dtype_) == 2 && tolerance_.slack > 1 && !replaces_bound();
    if (note.empty() && rounding_counts_once && element.bound_usage <= tolerance_.slack)
      note = "more than the rounding to " + std::string(name(dtype_)) + " allows";
    fail(element, note);
  } else if (worst_.size() < kWorstKept ||
             (!worst_.back().wrong && element.bound_usage >= worst_.back().bound_usage)) {
    keep(element);
  }
}

void Comparison::merge(const Comparison& other) {
  seen_ += other.seen_, compared_ += other.compared_, failures_ += other.failures_, zeros_ += other.zeros_;
  kinks_ += other.kinks_, out_of_range_ += other.out_of_range_, unbounded_ += other.unbounded_;
  undecided_ += other.undecided_, non_finite_items_ += other.non_finite_items_;
  usage_.merge(other.usage_), sharp_usage_.merge(other.sharp_usage_);
  abs_.merge(other.abs_), rel_.merge(other.rel_), ulp_.merge(other.ulp_);
  for (const WorstElement& element : other.worst_) keep(element);
  for (const std::int64_t item : other.failing_items_) keep_failing(item);
}

void Comparison::fill(CheckResult& result) const {
  result.compared = compared_;
  result.kinks = kinks_;
  result.out_of_range = out_of_range_;
  result.unbounded = unbounded_;
  result.non_finite_items = non_finite_items_;
  if (usage_.count() > 0) {
    result.bound_usage = distribution(usage_);
    result.abs_error = distribution(abs_);
  }
  if (rel_.count() > 0) {
    result.rel_error = distribution(rel_);
    result.ulp_error = distribution(ulp_);
  }
  if (sharp_usage_.count() > 0) result.sharp_bound_usage = distribution(sharp_usage_);
  result.worst = worst_;
}

std::string Comparison::failure_reason(const std::string& item_name) const {
  if (failures_ == 0 || worst_.empty()) return "";
  const WorstElement& first = worst_.front();
  const int digits = dtype_ == Dtype::f64 ? 17 : 9;  // what reads back as the same value
  std::string text = std::to_string(failures_) + " of " + std::to_string(seen_) +
                     (seen_ == 1 ? " element is wrong; worst: " : " elements are wrong; worst: ") +
                     first.output + "[" + std::to_string(first.component) + "] of " + item_name + " " +
                     std::to_string(first.item) + " is " + number(first.got, digits) + ", expected " +
                     number(first.kink ? first.expected_low : nearest_expected(first), digits);
  if (first.kink) text += " to " + number(first.expected_high, digits);
  if (std::isfinite(first.bound_usage)) text += ", " + number(first.bound_usage, 3) + " times its bound";
  if (!first.note.empty()) text += " (" + first.note + ")";
  return text;
}

}  // namespace lossgrad
