// SPDX-License-Identifier: Apache-2.0
#include "check/parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>

#include "check/check_request.hpp"

namespace lossgrad {
namespace {

constexpr std::int64_t kSpreadItems = 64;
constexpr std::int64_t kMostElements = std::int64_t{1} << 17;
constexpr std::size_t kLeastElements = 3;  // that are off: two points always lie on some line
constexpr std::size_t kMostComponents = 8;
// Of the bound: a part that is taken several times has as many times its error.
constexpr double kToleranceInBounds = 4;

struct Element {
  std::string output;
  std::size_t component = 0;
  double difference = 0;  // got - expected
  double tolerance = 0;
  double whole = 0;           // expected
  std::vector<double> parts;  // in the order of the labels

  [[nodiscard]] bool is_off() const { return std::abs(difference) > tolerance; }
  [[nodiscard]] std::string label() const { return output + "[" + std::to_string(component) + "]"; }
};

struct Evidence {
  std::vector<LossPart> labels;  // names; the values are of no meaning
  std::vector<Element> elements;
};

std::vector<std::int64_t> items_to_look_at(const KernelRun& run, const Comparison& comparison,
                                           std::int64_t most) {
  std::vector<std::int64_t> items;
  const auto add = [&](std::int64_t item) {
    if (static_cast<std::int64_t>(items.size()) < most &&
        std::find(items.begin(), items.end(), item) == items.end())
      items.push_back(item);
  };
  for (const WorstElement& element : comparison.worst()) add(element.item);
  const auto& failing = comparison.failing_items();
  const std::int64_t total = run.item_count();
  // In turn, so that both kinds are there when only few items fit.
  for (std::int64_t k = 0; k < kSpreadItems; ++k) {
    if (static_cast<std::size_t>(k) < failing.size()) add(failing[static_cast<std::size_t>(k)]);
    add(static_cast<std::int64_t>((static_cast<double>(k) + 0.5) * static_cast<double>(total) /
                                  static_cast<double>(kSpreadItems)));
  }
  return items;
}

// Elements with one certain right value.
void add_item(const CheckRequest& request, const Kernel& kernel, const Items& item, Evidence& evidence) {
  Reference reference;
  request.loss->evaluate({kernel.pass(), request.dtype, request.convention}, item, reference);
  std::vector<LossPart> parts = request.loss->parts(kernel.pass(), request.convention, item, 0);
  for (const Argument& argument : kernel.arguments()) {
    if (!argument.is_array() || !is_written(argument, kernel.pass())) continue;
    const ReferenceValues& values = reference.at(argument.name);
    const auto got = item.at(argument.name);
    for (std::size_t e = 0; e < got.size(); ++e) {
      // Without a kink the two ends differ by rounding alone.
      const double expected = 0.5 * (values.low[e] + values.high[e]);
      Element element{argument.name, e, got[e] - expected, 0, expected, {}};
      element.tolerance = kToleranceInBounds * values.bound[e] + 0.5 * (values.high[e] - values.low[e]) +
                          ulp(request.dtype, got[e]);
      bool usable =
          values.flags[e] == 0 && std::isfinite(element.difference) && std::isfinite(element.tolerance);
      for (const LossPart& part : parts) {
        const auto found = part.values.find(argument.name);
        element.parts.push_back(found == part.values.end() ? 0 : found->second[e]);
        usable = usable && std::isfinite(element.parts.back());
      }
      if (usable) evidence.elements.push_back(std::move(element));
    }
  }
  evidence.labels = std::move(parts);
}

Evidence collect(const CheckRequest& request, const KernelRun& run, const Kernel& kernel,
                 const Comparison& comparison) {
  const std::int64_t per_item = elements_per_item(request, kernel);
  Evidence evidence;
  const std::int64_t most = std::max<std::int64_t>(3, kMostElements / std::max<std::int64_t>(1, per_item));
  for (const std::int64_t item : items_to_look_at(run, comparison, most))
    add_item(request, kernel, run.read(kernel.arguments(), item, 1), evidence);
  return evidence;
}

struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

// The factors f for which (f - 1) * part explains every difference; empty when low > high.
Interval factors(const std::vector<const Element*>& elements, const auto& value_of_part) {
  Interval factor;
  for (const Element* element : elements) {
    const double part = value_of_part(*element);
    if (part == 0) {
      if (element->is_off()) return {1, -1};
      continue;
    }
    const double a = 1 + (element->difference - element->tolerance) / part;
    const double b = 1 + (element->difference + element->tolerance) / part;
    factor.low = std::max(factor.low, std::min(a, b));
    factor.high = std::min(factor.high, std::max(a, b));
  }
  return factor;
}

std::string shortest_between(double low, double high) {
  std::array<char, 40> text{};
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text.data(), text.size(), "%.*g", digits, 0.5 * (low + high));
    const double value = std::strtod(text.data(), nullptr);
    if (value >= low && value <= high) break;
  }
  return text.data();
}

// What people get wrong is wanted first; other factors have to be known to a few percent.
std::optional<double> factor_in(const Interval& interval) {
  if (!(interval.low <= interval.high)) return std::nullopt;
  const double width = interval.high - interval.low;
  for (const double likely : {0.0, -1.0, 2.0, 0.5}) {
    if (interval.low <= likely && likely <= interval.high && width <= 0.1) return likely;
  }
  if (!(width <= 0.02 * std::abs(interval.low))) return std::nullopt;
  return std::strtod(shortest_between(interval.low, interval.high).c_str(), nullptr);
}

std::string fault_text(const std::string& what, double factor) {
  if (factor == 0) return "the " + what + " is missing";
  if (factor == -1) return "the " + what + " has the other sign";
  if (factor == 2) return "the " + what + " is taken twice";
  return "the " + what + " is taken " + shortest_between(factor, factor) + " times";
}

// `where`: " of dx1", or nothing.
std::optional<PartFault> explain(const Evidence& evidence, const std::vector<const Element*>& elements,
                                 Pass pass, const std::string& where) {
  const auto off =
      std::count_if(elements.begin(), elements.end(), [](const Element* e) { return e->is_off(); });
  if (static_cast<std::size_t>(off) < kLeastElements) return std::nullopt;
  std::vector<PartFault> explanations;
  const auto consider = [&](const std::string& name, const std::string& what, const auto& value_of_part) {
    if (const auto factor = factor_in(factors(elements, value_of_part)))
      explanations.push_back({name, *factor, fault_text(what + where, *factor)});
  };
  consider("whole", pass == Pass::forward ? "whole result" : "whole gradient",
           [](const Element& element) { return element.whole; });
  for (std::size_t i = 0; i < evidence.labels.size(); ++i) {
    consider(evidence.labels[i].name, evidence.labels[i].label,
             [i](const Element& element) { return element.parts[i]; });
  }
  if (explanations.size() != 1) return std::nullopt;
  return explanations.front();
}

// The elements of those groups (outputs, or components) in which something is off.
template <class GroupOf>
std::optional<PartFault> explain_groups(const Evidence& evidence, Pass pass, GroupOf group_of) {
  std::set<std::string> all, wrong;
  for (const Element& element : evidence.elements) {
    all.insert(group_of(element));
    if (element.is_off()) wrong.insert(group_of(element));
  }
  if (wrong.size() == all.size()) return std::nullopt;  // the same as all elements
  std::vector<const Element*> elements;
  for (const Element& element : evidence.elements) {
    if (wrong.contains(group_of(element))) elements.push_back(&element);
  }
  std::string where;
  for (const std::string& group : wrong) where += (where.empty() ? " of " : ", ") + group;
  return explain(evidence, elements, pass, where);
}

}  // namespace

std::optional<PartFault> part_that_is_off(const CheckRequest& request, const KernelRun& run,
                                          const Kernel& kernel, const Comparison& comparison) {
  const Evidence evidence = collect(request, run, kernel, comparison);
  if (evidence.labels.empty()) return std::nullopt;
  std::vector<const Element*> all;
  bool few_components = true;
  for (const Element& element : evidence.elements) {
    all.push_back(&element);
    few_components = few_components && element.component < kMostComponents;
  }
  if (auto fault = explain(evidence, all, kernel.pass(), "")) return fault;
  const auto by_output = [](const Element& element) { return element.output; };
  if (auto fault = explain_groups(evidence, kernel.pass(), by_output)) return fault;
  if (!few_components) return std::nullopt;
  return explain_groups(evidence, kernel.pass(), [](const Element& element) { return element.label(); });
}

}  // namespace lossgrad
