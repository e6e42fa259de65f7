// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "check/disagreement.hpp"
#include "check/gradient_checks.hpp"
#include "check/kernel_run.hpp"

namespace lossgrad {
namespace {

// All points that the differences of the samples need, as one case for the f64 kernels: for each sample the
// base point, then for each component the points above and below at every step.
struct DifferencePlan {
  Items items;
  std::vector<double> widths;      // one per (sample, component, step)
  std::vector<std::int64_t> base;  // item index of each sample's base point
};

// Copies the sample's single item to position `at` of the plan.
void place(const CheckRequest& request, const std::vector<Argument>& arguments, const Sample& sample,
           const std::vector<double>& point, std::int64_t at, Items& items) {
  std::size_t used = 0;
  for (const Argument& argument : arguments) {
    if (!argument.is_array() || !sample.item.values.contains(argument.name)) continue;
    const ItemLayout one = item_layout(argument, request.loss->item_size(), [&] {
      Sizes sizes = request.sizes;
      sizes[request.loss->item_size()] = 1;
      return sizes;
    }());
    auto& to = items.values[argument.name];
    to.resize(static_cast<std::size_t>(items.count * one.per_item()));
    const auto& from = sample.item.values.at(argument.name);
    const bool moves = argument.role == ArgumentRole::input;
    for (std::int64_t o = 0; o < one.outer; ++o) {
      for (std::int64_t k = 0; k < one.inner; ++k) {
        const auto component = static_cast<std::size_t>(o * one.inner + k);
        to[static_cast<std::size_t>((o * items.count + at) * one.inner + k)] =
            moves ? point[used + component] : from[component];
      }
    }
    if (moves) used += static_cast<std::size_t>(one.per_item());
  }
}

DifferencePlan plan_differences(const CheckRequest& request, const std::vector<Argument>& arguments,
                                const std::vector<Sample>& samples) {
  DifferencePlan plan;
  for (const Sample& sample : samples) {
    plan.base.push_back(plan.items.count);
    plan.items.count += 1 + 2 * kRiddersSteps * static_cast<std::int64_t>(sample.components.size());
  }
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const Sample& sample = samples[s];
    std::int64_t at = plan.base[s];
    place(request, arguments, sample, sample.oracles.point, at++, plan.items);
    for (const auto& [c, first_step] : sample.components) {
      for (const double step : ridders_steps(first_step, kRiddersSteps)) {
        std::vector<double> above = sample.oracles.point, below = above;
        above[c] += step;
        below[c] -= step;
        plan.widths.push_back(above[c] - below[c]);
        place(request, arguments, sample, above, at++, plan.items);
        place(request, arguments, sample, below, at++, plan.items);
      }
    }
  }
  return plan;
}

// Values that the forward kernel gives at every point of the plan, what the convention holds fixed taken from
// the base.
std::vector<double> forward_values(const CheckRequest& request, const KernelRun& run, const Kernel& forward,
                                   const DifferencePlan& plan) {
  const Items outputs = run.read(forward.arguments(), 0, run.item_count());
  const auto outputs_of = [&](std::int64_t item) {
    Loss::ItemOutputs values;
    for (const Argument& argument : forward.arguments()) {
      if (is_written(argument, Pass::forward))
        values[argument.name] = {outputs.at(argument.name)[static_cast<std::size_t>(item)]};
    }
    return values;
  };
  std::vector<double> values(static_cast<std::size_t>(run.item_count()));
  for (std::size_t s = 0; s < plan.base.size(); ++s) {
    const std::int64_t end = s + 1 < plan.base.size() ? plan.base[s + 1] : run.item_count();
    const auto base = outputs_of(plan.base[s]);
    for (std::int64_t i = plan.base[s]; i < end; ++i) {
      values[static_cast<std::size_t>(i)] =
          request.loss->value_from_outputs(request.convention, outputs_of(i), base);
    }
  }
  return values;
}

// Element of a gradient component of item `item` of `items`: the gradients' components follow each other in
// the order of the arguments.
struct GradientElement {
  std::string output;
  std::size_t element = 0;
};
GradientElement gradient_element(const KernelRun& run, const Kernel& backward, std::size_t component,
                                 std::size_t item, std::size_t items) {
  for (const Argument& argument : backward.arguments()) {
    if (argument.role != ArgumentRole::gradient) continue;
    const ItemLayout& layout = run.layout(argument.name);
    const auto per_item = static_cast<std::size_t>(layout.per_item());
    if (component >= per_item) {
      component -= per_item;
      continue;
    }
    const auto inner = static_cast<std::size_t>(layout.inner);
    return {argument.name, (component / inner * items + item) * inner + component % inner};
  }
  throw Error(ErrorKind::internal, "the gradients have fewer components than the inputs");
}

std::string name_with_role(const Kernel& kernel, ArgumentRole role) {
  for (const Argument& argument : kernel.arguments()) {
    if (argument.role == role) return argument.name;
  }
  throw Error(ErrorKind::internal, kernel.id() + " has no argument of the role " + std::string(name(role)));
}

struct Looked {
  Disagreement found;
  std::int64_t compared = 0;
};

// What the f64 kernels gave at the plan's points.
struct WideRun {
  const KernelRun& run;
  const Kernel& forward;
  const Kernel& backward;
  Items all;
};

// One sample: each gradient component of the kernel against the differences of its own forward values.
struct SampleView {
  const Sample& sample;
  std::size_t base;  // item of the base point
  double dy;
  Reference gradients;  // the reference at the base point
  double value_error;   // bound of one forward value
};

void compare_component(const CheckRequest& request, const SampleView& view,
                       const Sample::Component& component, const DerivativeEstimate& difference,
                       const WideRun& wide, Looked& looked) {
  const auto items = static_cast<std::size_t>(wide.run.item_count());
  const auto place = gradient_element(wide.run, wide.backward, component.index, view.base, items);
  const ReferenceValues& right = view.gradients.at(place.output);
  const std::size_t e = gradient_element(wide.run, wide.backward, component.index, 0, 1).element;
  const double allowed = request.tolerance.slack * (right.bound[e] + right.high[e] - right.low[e]) +
                         kEstimateSafety * difference.error * std::abs(view.dy);
  if (!informative(difference, view.sample.oracles.closed[component.index]) || !std::isfinite(allowed))
    return;
  ++looked.compared;
  const GradientPair pair{wide.all.at(place.output)[place.element], view.dy * difference.value, allowed};
  if (!agree(pair))
    note_disagreement(looked.found, view.sample, component, pair, "forward differences differ");
}

void compare_with_differences(const CheckRequest& request, const std::vector<Sample>& samples,
                              const DifferencePlan& plan, const WideRun& wide, Looked& looked) {
  const std::vector<double> values = forward_values(request, wide.run, wide.forward, plan);
  const std::string output = name_with_role(wide.forward, ArgumentRole::output);
  const auto dy = wide.all.at(name_with_role(wide.backward, ArgumentRole::upstream));
  std::size_t width = 0;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const auto base = static_cast<std::size_t>(plan.base[s]);
    SampleView view{samples[s], base, dy[base], {}, 0};
    Reference right_values;
    request.loss->evaluate({Pass::forward, Dtype::f64, request.convention}, samples[s].item, right_values);
    request.loss->evaluate({Pass::backward, Dtype::f64, request.convention}, samples[s].item, view.gradients);
    view.value_error = right_values.at(output).bound.front();
    std::size_t at = base + 1;
    for (const auto& component : samples[s].components) {
      std::vector<double> above, below;
      for (int step = 0; step < kRiddersSteps; ++step) {
        above.push_back(values[at++]);
        below.push_back(values[at++]);
      }
      const auto widths = std::span(plan.widths).subspan(width, kRiddersSteps);
      width += kRiddersSteps;
      const auto difference = ridders_extrapolate(above, below, widths, view.value_error);
      compare_component(request, view, component, difference, wide, looked);
    }
  }
}

// Runs both f64 kernels on the points that the samples' differences need and compares.
Looked look(const CaseContext& context, const ReadyKernel& forward, const ReadyKernel& backward,
            const std::vector<Sample>& samples) {
  const CheckRequest& request = context.request;
  CheckRequest wide = request;
  wide.dtype = Dtype::f64;
  const DifferencePlan plan = plan_differences(request, backward.kernel.arguments(), samples);
  Sizes sizes = request.sizes;
  sizes[request.loss->item_size()] = plan.items.count;
  KernelRun run(wide, context.backend, sizes, 0, request.seed);
  run.provide(forward.kernel);
  run.provide(backward.kernel);
  run.write_values(plan.items);
  Looked looked;
  for (const ReadyKernel* kernel : {&forward, &backward}) {
    const LaunchFindings launched = run.launch(*kernel->loaded, kernel->kernel);
    if (!launched.damage.empty()) looked.found.damage = "f64 build: " + launched.damage.front();
  }
  const WideRun outcome{run, forward.kernel, backward.kernel,
                        run.read(backward.kernel.arguments(), 0, plan.items.count)};
  compare_with_differences(request, samples, plan, outcome, looked);
  return looked;
}

}  // namespace

void check_self_consistency(const CaseContext& context, CheckResult& result) {
  const CheckRequest& request = context.request;
  const ReadyKernel* forward = context.kernels.find(Pass::forward, Dtype::f64, request.block);
  const ReadyKernel* backward = context.kernels.find(Pass::backward, Dtype::f64, request.block);
  if (forward == nullptr || backward == nullptr) {
    result.verdict = Verdict::skipped;
    result.reason = "needs the kernel's f64 build, which is not offered";
    return;
  }
  const auto samples = draw_samples(request, context.source);
  Looked looked;
  if (!samples.empty()) looked = look(context, *forward, *backward, samples);
  result.compared = looked.compared;
  if (looked.found.count > 0) looked = look(context, *forward, *backward, looked.found.doubtful);
  conclude_differences(result, looked.found, samples.size(), made_of_kinks(request),
                       "components of the kernel's backward differ from differences of its own forward");
}

}  // namespace lossgrad
