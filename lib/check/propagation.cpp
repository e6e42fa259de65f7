// SPDX-License-Identifier: Apache-2.0
#include "check/propagation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "check/kernel_run.hpp"
#include "check/number.hpp"

namespace lossgrad {
namespace {

constexpr std::int64_t kLeastItems = 64;
constexpr std::int64_t kLeastLongItems = 4;  // where items are long
constexpr std::int64_t kMostElements = std::int64_t{1} << 18;
constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kStep = 7;  // no divisor of a warp

// An item with one element that is not finite.
struct Touched {
  std::int64_t item = 0;
  const Argument* argument = nullptr;
  std::int64_t component = 0;
};

struct Value {
  double number;
  std::string text;
  bool at_ends = true;  // put into the ends as well
};
const std::vector<Value>& values_put() {
  static const std::vector<Value> values = {{std::numeric_limits<double>::quiet_NaN(), "a NaN"},
                                            {std::numeric_limits<double>::infinity(), "an infinity"},
                                            {-std::numeric_limits<double>::infinity(), "-infinity", false}};
  return values;
}

class PropagationRun {
 public:
  PropagationRun(const CaseContext& context, const ReadyKernel& kernel)
      : request_(context.request), kernel_(kernel), items_(small_size()), run_(run_of(context)) {
    for (const Argument& argument : kernel.kernel.arguments()) {
      if (argument.role == ArgumentRole::input || argument.role == ArgumentRole::upstream ||
          (argument.role == ArgumentRole::constant && argument.allowed.empty()))
        places_.push_back(&argument);
    }
    run_.provide(kernel.kernel);
    clean_ = context.source.read(0, items_);
  }

  Findings run() {
    launch(clean_, "");
    const StoredOutputs clean = run_.comparable_outputs(kernel_.kernel);
    const auto rounds = static_cast<std::int64_t>(places_.size());
    for (const Value& value : values_put()) {
      for (std::int64_t round = 0; round < rounds; ++round) look(value, touched(round), clean);
      if (!value.at_ends) continue;
      for (const Argument* argument : places_) look(value, ends(*argument), clean);
    }
    return std::move(findings_);
  }

 private:
  // Whatever number of items the case has, which may be none.
  [[nodiscard]] std::int64_t small_size() const {
    const std::int64_t elements = elements_per_item(request_, kernel_.kernel);
    const std::int64_t block = kernel_.kernel.parts().launch.items_per_block;
    const std::int64_t wanted = std::max(2 * block + block / 8 + 1, kLeastItems);
    return std::min(wanted, std::max({kMostElements / elements, block + 1, kLeastLongItems}));
  }

  [[nodiscard]] KernelRun run_of(const CaseContext& context) const {
    return {request_, context.backend, sizes_with(request_, items_), {}, request_.seed};
  }

  [[nodiscard]] std::size_t position(const Argument& argument, std::int64_t item,
                                     std::int64_t component) const {
    return run_.layout(argument.name).position(items_, item, component);
  }

  [[nodiscard]] bool is_finite(std::int64_t item) const {
    for (const Argument* argument : places_) {
      const auto values = clean_.at(argument->name);
      for (std::int64_t c = 0; c < run_.layout(argument->name).per_item(); ++c) {
        if (!std::isfinite(values[position(*argument, item, c)])) return false;
      }
    }
    return true;
  }

  // Components spread over the item, the first and the last one among them.
  [[nodiscard]] std::int64_t component(const Argument& argument, std::int64_t number) const {
    constexpr double kGolden = 0.618033988749895;
    const std::int64_t count = run_.layout(argument.name).per_item();
    const double turns = static_cast<double>(number) * kGolden;
    if (number == 1) return count - 1;
    return static_cast<std::int64_t>((turns - std::floor(turns)) * static_cast<double>(count));
  }

  // Items to touch, each argument in turn; those that are not finite as they are give way to the next.
  [[nodiscard]] std::vector<Touched> touched(std::int64_t round) const {
    const std::int64_t step = items_ < kLeastItems ? 2 : kStep;
    const auto places = static_cast<std::int64_t>(places_.size());
    std::vector<Touched> list;
    for (std::int64_t from = step / 2; from < items_; from += step) {
      std::int64_t item = from;
      const std::int64_t end = std::min(from + step, items_);
      while (item < end && !is_finite(item)) ++item;
      if (item == end) continue;
      const auto number = static_cast<std::int64_t>(list.size());
      const Argument* argument = places_[static_cast<std::size_t>((number + round) % places)];
      list.push_back({item, argument, component(*argument, number / places)});
    }
    return list;
  }

  // One argument in the first and the last item of each 32, and of all: what a warp, a block or a launch may
  // take for its other items.
  [[nodiscard]] std::vector<Touched> ends(const Argument& argument) const {
    std::vector<Touched> list;
    for (std::int64_t item = 0; item < items_; ++item) {
      const bool is_end = item % kWarp == 0 || item % kWarp == kWarp - 1 || item == items_ - 1;
      if (!is_end || !is_finite(item)) continue;
      list.push_back({item, &argument, component(argument, static_cast<std::int64_t>(list.size()))});
    }
    return list;
  }

  void look(const Value& value, const std::vector<Touched>& list, const StoredOutputs& clean) {
    if (list.empty()) return;
    std::vector<std::int64_t> items;
    Items inputs = clean_;
    for (const Touched& touched : list) {
      items.push_back(touched.item);
      inputs.values.at(touched.argument->name)[position(*touched.argument, touched.item, touched.component)] =
          value.number;
    }
    const auto sentinels = launch(inputs, "with " + value.text + " in some " + items_name() + ": ");
    const Comparison comparison = run_.compare_items(kernel_.kernel, items);
    const StoredOutputs touched_outputs =
        run_.comparable_outputs(kernel_.kernel);  // what follows may launch again
    findings_.compared += comparison.compared();
    if (comparison.failed()) note_wrong(value, list, comparison, sentinels);
    note_spilled(value, list, clean, touched_outputs);
  }

  Sentinels launch(const Items& inputs, const std::string& place) {
    run_.write_values(inputs);
    if (kernel_.kernel.pass() == Pass::backward) run_.write_reference_saved(kernel_.kernel);
    LaunchFindings launched = run_.launch(*kernel_.loaded, kernel_.kernel);
    for (const std::string& damage : launched.damage) findings_.lines.push_back(place + damage);
    return std::move(launched.sentinels);
  }

  [[nodiscard]] std::string items_name() const {
    const std::string name = request_.loss->item_name();
    return name.ends_with('x') ? name + "es" : name + "s";
  }
  [[nodiscard]] std::string of_item(std::int64_t item) const {
    return " of " + request_.loss->item_name() + " " + std::to_string(item);
  }
  // "a NaN in pred[2] of box 14"
  [[nodiscard]] std::string text_of(const Value& value, const Touched& touched) const {
    return value.text + " in " + touched.argument->name + "[" + std::to_string(touched.component) + "]" +
           of_item(touched.item);
  }

  // Of a kernel that is wrong on these items as they are only what a value that is not finite did says
  // something here.
  void note_wrong(const Value& value, const std::vector<Touched>& list, const Comparison& comparison,
                  const Sentinels& sentinels) {
    const auto& worst = comparison.worst();
    const auto lost = [](const WorstElement& element) {
      return std::isfinite(element.got) &&
             !(std::isfinite(element.expected_low) && std::isfinite(element.expected_high));
    };
    auto element = std::find_if(worst.begin(), worst.end(), lost);
    const bool swallowed = element != worst.end();
    if (!swallowed) {
      if (is_wrong_anyway(list)) return;
      element = worst.begin();
    }
    const auto touched =
        std::find_if(list.begin(), list.end(), [&](const Touched& t) { return t.item == element->item; });
    const std::string output = element->output + "[" + std::to_string(element->component) + "]";
    if (element->got == sentinels.at(element->output)) {
      findings_.lines.push_back("with " + text_of(value, *touched) + " " + output + " is not written");
      return;
    }
    std::string line =
        swallowed ? text_of(value, *touched) + " was swallowed: " : "with " + text_of(value, *touched) + " ";
    line += output + " is " + number(element->got);
    if (!swallowed) line += ", expected " + number(nearest_expected(*element));
    findings_.lines.push_back(line);
  }

  [[nodiscard]] bool is_wrong_anyway(const std::vector<Touched>& list) {
    std::vector<std::int64_t> items;
    items.reserve(list.size());
    for (const Touched& touched : list) items.push_back(touched.item);
    launch(clean_, "");
    return run_.compare_items(kernel_.kernel, items).failed();
  }

  // The first element of an item that was left alone and has other bits than in the clean run.
  struct Spill {
    std::string output;
    std::int64_t item = 0, component = 0;
  };
  [[nodiscard]] std::optional<Spill> first_spill(const std::vector<Touched>& list, const StoredOutputs& clean,
                                                 const StoredOutputs& now) {
    std::vector<bool> alone(static_cast<std::size_t>(items_), true);
    for (const Touched& touched : list) alone[static_cast<std::size_t>(touched.item)] = false;
    const std::size_t size = size_in_bytes(request_.dtype);
    std::optional<Spill> first;
    for (const auto& [name, bytes] : now) {
      const ItemLayout& layout = run_.layout(name);
      const std::vector<std::byte>& before = clean.at(name);
      for (std::int64_t e = 0; e < layout.elements(); ++e) {
        const std::int64_t item = layout.item_of(items_, e);
        if (!alone[static_cast<std::size_t>(item)]) continue;
        ++findings_.compared;
        const std::size_t at = static_cast<std::size_t>(e) * size;
        if (first || std::memcmp(bytes.data() + at, before.data() + at, size) == 0) continue;
        first = {name, item, layout.component_of(items_, e)};
      }
    }
    return first;
  }

  void note_spilled(const Value& value, const std::vector<Touched>& list, const StoredOutputs& clean,
                    const StoredOutputs& now) {
    const std::optional<Spill> spill = first_spill(list, clean, now);
    if (!spill) return;
    constexpr int kRepeats = 4;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      launch(clean_, "");
      if (run_.comparable_outputs(kernel_.kernel) != clean)
        return;  // it does not repeat itself: the repeatability check says so
    }
    const Touched& nearest =
        *std::min_element(list.begin(), list.end(), [&](const Touched& a, const Touched& b) {
          return std::abs(a.item - spill->item) < std::abs(b.item - spill->item);
        });
    findings_.lines.push_back(spill->output + "[" + std::to_string(spill->component) + "]" +
                              of_item(spill->item) + " changed because of " + value.text + " in another " +
                              request_.loss->item_name() + " (the nearest is in " + nearest.argument->name +
                              "[" + std::to_string(nearest.component) + "]" + of_item(nearest.item) + ")");
  }

  const CheckRequest& request_;
  const ReadyKernel& kernel_;
  std::int64_t items_;
  KernelRun run_;
  std::vector<const Argument*> places_;  // what may be touched
  Items clean_;
  Findings findings_;
};

}  // namespace

Findings check_propagation(const CaseContext& context, const ReadyKernel& kernel) {
  if (context.source.empty()) return {};
  return PropagationRun(context, kernel).run();
}

}  // namespace lossgrad
