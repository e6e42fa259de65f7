// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <span>

#include "base/error.hpp"
#include "check/disagreement.hpp"
#include "check/gradient_checks.hpp"
#include "check/kernel_run.hpp"

namespace lossgrad {
namespace {

// All points that the differences of some samples need, as one case for the f64 kernels: for each sample the
// base point, then for each direction the points above and below at every step.
struct DifferencePlan {
  Items items;
  std::vector<double> widths;      // one per (sample, direction, step)
  std::vector<std::int64_t> base;  // item index of each sample's base point
};

// Samples that are looked at together: about so many values.
constexpr std::int64_t kPlanValues = std::int64_t{1} << 21;

// Copies the sample's single item to position `at` of the plan.
void place(const CheckRequest& request, const std::vector<Argument>& arguments, const Sample& sample,
           const std::vector<double>& point, std::int64_t at, Items& items) {
  std::size_t used = 0;
  for (const Argument& argument : arguments) {
    if (!argument.is_array() || !sample.item.values.contains(argument.name)) continue;
    const ItemLayout one = item_layout(argument, request.loss->item_size(), sizes_with(request, 1));
    auto& to = items.values[argument.name];
    to.resize(static_cast<std::size_t>(items.count * one.per_item()));
    const auto& from = sample.item.values.at(argument.name);
    const bool moves = argument.role == ArgumentRole::input;
    for (std::int64_t c = 0; c < one.per_item(); ++c) {
      const auto component = static_cast<std::size_t>(c);
      to[one.position(items.count, at, c)] = moves ? point[used + component] : from[component];
    }
    if (moves) used += static_cast<std::size_t>(one.per_item());
  }
}

std::int64_t points_of(const Sample& sample) {
  return 1 + 2 * kRiddersSteps * static_cast<std::int64_t>(sample.directions.size());
}

DifferencePlan plan_differences(const CheckRequest& request, const std::vector<Argument>& arguments,
                                std::span<const Sample> samples) {
  DifferencePlan plan;
  for (const Sample& sample : samples) {
    plan.base.push_back(plan.items.count);
    plan.items.count += points_of(sample);
  }
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const Sample& sample = samples[s];
    std::int64_t at = plan.base[s];
    place(request, arguments, sample, sample.oracles.point, at++, plan.items);
    for (const Direction& direction : sample.directions) {
      for (const double step : ridders_steps(direction.first_step, kRiddersSteps)) {
        const std::vector<double> above = direction.moved(sample.oracles.point, step);
        const std::vector<double> below = direction.moved(sample.oracles.point, -step);
        plan.widths.push_back(direction.width(above, below, step));
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
      if (!is_written(argument, Pass::forward)) continue;
      const ItemLayout& layout = run.layout(argument.name);
      for (std::int64_t c = 0; c < layout.per_item(); ++c) {
        values[argument.name].push_back(
            outputs.at(argument.name)[layout.position(run.item_count(), item, c)]);
      }
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

// All gradient components of item `item`, in the order of the arguments; `items` in the layout of a run.
std::vector<double> gradients_of(const KernelRun& run, const Kernel& backward, std::int64_t item,
                                 std::int64_t items,
                                 const std::function<double(const std::string&, std::size_t)>& element) {
  std::vector<double> gradients;
  for (const Argument& argument : backward.arguments()) {
    if (argument.role != ArgumentRole::gradient) continue;
    const ItemLayout& layout = run.layout(argument.name);
    for (std::int64_t c = 0; c < layout.per_item(); ++c)
      gradients.push_back(element(argument.name, layout.position(items, item, c)));
  }
  return gradients;
}

std::string name_with_role(const Kernel& kernel, ArgumentRole role) {
  for (const Argument& argument : kernel.arguments()) {
    if (argument.role == role) return argument.name;
  }
  throw Error(ErrorKind::internal, kernel.id() + " has no argument of the role " + std::string(name(role)));
}

struct F64Kernels {
  const ReadyKernel& forward;
  const ReadyKernel& backward;
};

struct Looked {
  Disagreement found;
  std::int64_t compared = 0;
  std::int64_t unclear = 0;  // directions whose differences said nothing
};

// What the f64 kernels gave at the plan's points.
struct WideRun {
  const KernelRun& run;
  const Kernel& forward;
  const Kernel& backward;
  Items all;
};

struct SampleView {
  const Sample& sample;
  double dy;
  std::vector<double> got;      // the kernel's gradients at the base point
  std::vector<double> allowed;  // how far a right kernel's may be from the exact ones
  double value_error;           // bound of one value of any right forward kernel
};

SampleView view_of(const CheckRequest& request, const Sample& sample, std::int64_t base,
                   const WideRun& wide) {
  Reference right, right_value;
  request.loss->evaluate({Pass::backward, Dtype::f64, request.convention}, sample.item, right);
  request.loss->evaluate({Pass::forward, Dtype::f64, request.convention}, sample.item, right_value);
  SampleView view{
      sample,
      wide.all.at(name_with_role(wide.backward, ArgumentRole::upstream))[static_cast<std::size_t>(base)],
      {},
      {},
      right_value.at(name_with_role(wide.forward, ArgumentRole::output)).bound.front()};
  view.got = gradients_of(wide.run, wide.backward, base, wide.run.item_count(),
                          [&](const std::string& output, std::size_t e) { return wide.all.at(output)[e]; });
  view.allowed = gradients_of(wide.run, wide.backward, 0, 1, [&](const std::string& output, std::size_t e) {
    const ReferenceValues& values = right.at(output);
    return request.tolerance.slack * (values.bound[e] + values.high[e] - values.low[e]);
  });
  return view;
}

// The kernel's gradient along one direction against the differences of its own forward values.
void compare_direction(const CheckRequest& request, const SampleView& view, const Direction& direction,
                       const DerivativeEstimate& difference, Looked& looked) {
  const double allowed =
      direction.along_magnitudes(view.allowed) + kEstimateSafety * difference.error * std::abs(view.dy);
  const GradientOracles& oracles = view.sample.oracles;
  const bool tells = informative(difference, direction.along(oracles.closed),
                                 direction.along_magnitudes(oracles.closed_error));
  if (!tells || !std::isfinite(allowed)) {
    ++looked.unclear;
    return;
  }
  ++looked.compared;
  const GradientPair pair{direction.along(view.got), view.dy * difference.value, allowed};
  if (!agree(pair))
    note_disagreement(looked.found, request, view.sample, direction, pair, "forward differences differ");
}

void compare_with_differences(const CheckRequest& request, std::span<const Sample> samples,
                              const DifferencePlan& plan, const WideRun& wide, Looked& looked) {
  const std::vector<double> values = forward_values(request, wide.run, wide.forward, plan);
  std::size_t width = 0;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const SampleView view = view_of(request, samples[s], plan.base[s], wide);
    std::size_t at = static_cast<std::size_t>(plan.base[s]) + 1;
    for (const Direction& direction : samples[s].directions) {
      std::vector<double> above, below;
      for (int step = 0; step < kRiddersSteps; ++step) {
        above.push_back(values[at++]);
        below.push_back(values[at++]);
      }
      const auto widths = std::span(plan.widths).subspan(width, kRiddersSteps);
      width += kRiddersSteps;
      const auto difference = ridders_extrapolate(above, below, widths, view.value_error);
      compare_direction(request, view, direction, difference, looked);
    }
  }
}

// Runs both f64 kernels on the points that the samples' differences need and compares.
void look_at(const CaseContext& context, const F64Kernels& kernels, std::span<const Sample> samples,
             Looked& looked) {
  const auto& [forward, backward] = kernels;
  const CheckRequest& request = context.request;
  CheckRequest wide = request;
  wide.dtype = Dtype::f64;
  const DifferencePlan plan = plan_differences(request, backward.kernel.arguments(), samples);
  KernelRun run(wide, context.backend, sizes_with(request, plan.items.count), {}, request.seed);
  run.provide(forward.kernel);
  run.provide(backward.kernel);
  run.write_values(plan.items);
  for (const ReadyKernel* kernel : {&forward, &backward}) {
    const LaunchFindings launched = run.launch(*kernel->loaded, kernel->kernel);
    if (!launched.damage.empty()) looked.found.damage = "f64 build: " + launched.damage.front();
  }
  const WideRun outcome{run, forward.kernel, backward.kernel,
                        run.read(backward.kernel.arguments(), 0, plan.items.count)};
  compare_with_differences(request, samples, plan, outcome, looked);
}

std::vector<Sample> with_steps(std::vector<Sample> samples, double factor) {
  for (Sample& sample : samples) {
    for (Direction& direction : sample.directions) direction.first_step *= factor;
  }
  return samples;
}

Looked look(const CaseContext& context, const F64Kernels& kernels, std::span<const Sample> samples,
            const std::function<void(double)>& heartbeat) {
  Looked looked;
  const auto all = static_cast<double>(samples.size());
  while (!samples.empty()) {
    heartbeat(1 - static_cast<double>(samples.size()) / all);
    std::size_t count = 0;
    std::int64_t values = 0;
    while (count < samples.size() && (count == 0 || values < kPlanValues)) {
      values += points_of(samples[count]) * static_cast<std::int64_t>(samples[count].oracles.point.size());
      ++count;
    }
    look_at(context, kernels, samples.first(count), looked);
    samples = samples.subspan(count);
  }
  return looked;
}

}  // namespace

void check_self_consistency(const CaseContext& context, CheckResult& result,
                            const std::function<void(double)>& heartbeat) {
  const CheckRequest& request = context.request;
  const ReadyKernel* forward = context.kernels.find(Pass::forward, Dtype::f64);
  const ReadyKernel* backward = context.kernels.find(Pass::backward, Dtype::f64);
  if (forward == nullptr || backward == nullptr) {
    result.verdict = Verdict::skipped;
    result.reason = "needs the kernel's f64 build, which is not offered";
    return;
  }
  const F64Kernels kernels{*forward, *backward};
  const auto samples = draw_samples(request, context.source);
  const Looked first = look(context, kernels, samples, heartbeat);
  result.compared = first.compared;
  Disagreement found;
  if (first.found.count > 0) {
    const Looked second = look(context, kernels, with_steps(first.found.doubtful, kSecondLook), heartbeat);
    found = second.found;
    result.compared -= second.unclear;
  }
  if (found.damage.empty()) found.damage = first.found.damage;
  conclude_differences(result, found, samples.size(), made_of_kinks(request),
                       "components of the kernel's backward differ from differences of its own forward");
}

}  // namespace lossgrad
