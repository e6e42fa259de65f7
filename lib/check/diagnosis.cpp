// SPDX-License-Identifier: Apache-2.0
#include "check/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "check/kernel_run.hpp"
#include "losses/fault.hpp"
#include "math/running_error.hpp"

namespace lossgrad {
namespace {

constexpr std::int64_t kFirstItems = 256;
constexpr std::int64_t kMostElements = 1 << 17;
constexpr double kLeastShare = 0.9;
constexpr int kRanksKept = 2;
// A deviation may lose more digits than the right formula: what its own numbers may err by, in units.
constexpr double kDeviationUnits = 64;

// The case cut down to some of its items, as a request with inputs of its own.
CheckRequest cut_request(const CaseContext& context, Pass pass, const std::vector<std::int64_t>& items) {
  const CheckRequest& request = context.request;
  CheckRequest cut = request;
  cut.passes = {pass};
  cut.sizes = sizes_with(request, static_cast<std::int64_t>(items.size()));
  cut.inputs.clear();
  const Kernel backward = own_kernel(request, Pass::backward, request.dtype);  // has every input and dy
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Items one = context.source.read(items[i], 1);
    for (const Argument& argument : backward.arguments()) {
      const auto values = one.values.find(argument.name);
      if (values == one.values.end()) continue;
      const ItemLayout layout = item_layout(cut, argument);
      auto& all = cut.inputs[argument.name];
      all.resize(static_cast<std::size_t>(layout.elements()));
      copy_items(layout, 1, values->second, {1, 0}, all, {layout.items, static_cast<std::int64_t>(i)});
    }
  }
  return cut;
}

std::vector<std::int64_t> items_to_look_at(const CheckRequest& request, const Kernel& kernel,
                                           const std::vector<std::int64_t>& worst) {
  const std::int64_t per_item = elements_per_item(request, kernel);
  const std::int64_t count = request.sizes.at(request.loss->item_size());
  const std::int64_t first = std::min(
      count, std::clamp<std::int64_t>(kMostElements / std::max<std::int64_t>(1, per_item), 1, kFirstItems));
  std::vector<std::int64_t> items;
  for (std::int64_t i = 0; i < first; ++i) items.push_back(i);
  for (const std::int64_t item : worst) {
    if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(item);
  }
  return items;
}

// What kernels of one pass and type give for the items of a request, whose inputs are written once.
class ItemsRun {
 public:
  ItemsRun(const CheckRequest& request, Backend& backend, const Kernel& kernel)
      : run_(request, backend, request.sizes, {}, request.seed) {
    run_.provide(kernel);
    run_.write_inputs(InputSource(request));
    if (kernel.pass() == Pass::backward) run_.write_reference_saved(kernel);
  }
  OutputValues outputs_of(const Kernel& kernel, LoadedKernel& loaded) {
    (void)run_.launch(loaded, kernel, 0);
    return run_.output_values(kernel);
  }

 private:
  KernelRun run_;
};

// What is judged of one output element: where the right value is certain.
struct Element {
  double got, right, tolerance;
};
struct Elements {
  std::vector<std::pair<std::string, std::size_t>> places;  // output and position
  std::vector<Element> values;
};

Elements elements_of(const CheckRequest& cut, const Kernel& kernel, const OutputValues& got) {
  const InputSource source(cut);
  const std::int64_t count = cut.sizes.at(cut.loss->item_size());
  Reference reference;
  cut.loss->evaluate({kernel.pass(), cut.dtype, cut.convention}, source.read(0, count), reference);
  Elements elements;
  for (const auto& [output, values] : got) {
    const ReferenceValues& right = reference.at(output);
    for (std::size_t e = 0; e < values.size(); ++e) {
      // Where NaN is expected that is certain too, whatever became infinite on the way.
      const bool certain = right.flags[e] == 0 || (right.flags[e] == kOutOfRange && std::isnan(right.low[e]));
      if (!certain || !std::isfinite(right.bound[e])) continue;
      elements.places.emplace_back(output, e);
      elements.values.push_back({values[e], right.low[e],
                                 allowed_error(cut.tolerance.slack, cut.dtype, expected_element(right, e))});
    }
  }
  return elements;
}

bool same(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return std::isinf(a) && std::isinf(b);
  return std::abs(a - b) <= tolerance;
}

// How well `deviation` explains the elements that are wrong or that it would make wrong.
double share_explained(const Elements& elements, const OutputValues& deviation, Dtype dtype) {
  const double unit = compute_type(dtype) == Dtype::f64 ? ComputeFormat<Dtype::f64>::kUnitRoundoff
                                                        : ComputeFormat<Dtype::f32>::kUnitRoundoff;
  std::int64_t telling = 0, wrong = 0, explained = 0;
  for (std::size_t i = 0; i < elements.values.size(); ++i) {
    const Element& element = elements.values[i];
    const auto& [output, place] = elements.places[i];
    double other = deviation.at(output)[place];
    double slack = element.tolerance;
    if (std::isfinite(other)) {
      slack += kDeviationUnits * unit * std::abs(other);
      if (size_in_bytes(dtype) == 2) slack += ulp(dtype, other);
      if (std::abs(other) > format_of(dtype).max)
        other = std::copysign(std::numeric_limits<double>::infinity(), other);
    }
    const bool is_wrong = !same(element.got, element.right, element.tolerance);
    if (!is_wrong && same(other, element.right, slack)) continue;
    ++telling;
    wrong += is_wrong ? 1 : 0;
    // What the deviation leaves right it does not explain.
    const bool deviates = !same(other, element.right, element.tolerance);
    explained += deviates && same(element.got, other, slack) ? 1 : 0;
  }
  return wrong == 0 ? 0 : static_cast<double>(explained) / static_cast<double>(telling);
}

struct Candidate {
  Diagnosis diagnosis;
  Kernel kernel;
};

std::vector<Candidate> candidates(const CheckRequest& cut, Pass pass, const Kernel& failed) {
  const Loss& loss = *cut.loss;
  KernelOptions options{pass, Dtype::f64, cut.convention, cut.block, cut.sizes};
  std::vector<Candidate> list;
  // A kernel that cannot be made throws before anything of its candidate is.
  const auto add = [&list](const std::string& name, const std::string& summary, Kernel kernel) {
    Diagnosis diagnosis;
    diagnosis.name = name;
    diagnosis.summary = summary;
    list.push_back(Candidate{std::move(diagnosis), std::move(kernel)});
  };
  for (const NamedChoice& convention : loss.conventions()) {
    if (convention.name == cut.convention) continue;
    KernelOptions other = options;
    other.convention = convention.name;
    add("convention_" + convention.name, "the convention were " + convention.name, loss.kernel(other));
  }
  for (const Fault& fault : loss.faults()) {
    const bool of_this_convention = fault.convention.empty() || fault.convention == cut.convention;
    if (fault.pass != pass || !fault.is_diagnosable() || !fault.kernel_convention.empty() ||
        !of_this_convention || !fault.shows_in(failed.dtype()))
      continue;
    add(fault.name, fault.summary, faulty_kernel(loss, fault, options));
  }
  return list;
}

}  // namespace

std::vector<Diagnosis> diagnose(const CaseContext& context, Pass pass,
                                const std::vector<std::int64_t>& worst) {
  const ReadyKernel& failed = context.kernels.main(pass);
  const CheckRequest cut =
      cut_request(context, pass, items_to_look_at(context.request, failed.kernel, worst));
  ItemsRun own(cut, context.backend, failed.kernel);
  const Elements elements = elements_of(cut, failed.kernel, own.outputs_of(failed.kernel, *failed.loaded));
  CheckRequest wide = cut;
  wide.dtype = Dtype::f64;
  const std::vector<Candidate> list = candidates(cut, pass, failed.kernel);
  if (list.empty()) return {};
  std::vector<Kernel> kernels;
  kernels.reserve(list.size());
  for (const Candidate& candidate : list) kernels.push_back(candidate.kernel);
  const auto loaded = context.backend.load_all(kernels);
  ItemsRun deviating(wide, context.backend, list.front().kernel);
  std::vector<Diagnosis> found;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Diagnosis diagnosis = list[i].diagnosis;
    diagnosis.share = share_explained(elements, deviating.outputs_of(list[i].kernel, *loaded[i]), cut.dtype);
    if (diagnosis.share >= kLeastShare) found.push_back(std::move(diagnosis));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Diagnosis& a, const Diagnosis& b) { return a.share > b.share; });
  for (std::size_t i = 1; i < found.size(); ++i)
    found[i].rank = found[i - 1].rank + (found[i].share < found[i - 1].share ? 1 : 0);
  std::erase_if(found, [](const Diagnosis& diagnosis) { return diagnosis.rank > kRanksKept; });
  return found;
}

}  // namespace lossgrad
