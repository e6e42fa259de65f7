// SPDX-License-Identifier: Apache-2.0
#include "check/guards.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "check/kernel_run.hpp"

namespace lossgrad {
namespace {

std::string where(const CheckRequest& request, std::int64_t items, const BufferPlan& plan) {
  std::string text = request.loss->item_size() + " = " + std::to_string(items);
  if (plan.misalignment > 0) {
    text += plan.misaligned.empty() ? ", bases " : ", the base of " + plan.misaligned + " ";
    text += std::to_string(plan.misalignment) + (plan.misalignment == 1 ? " element" : " elements");
    text += " off alignment";
  }
  if (plan.in_nans) text += ", with NaN in the outputs before and around all arrays";
  return text;
}

// Long items: sizes beyond the block only while they stay small.
constexpr std::int64_t kSmallElements = std::int64_t{1} << 20;

// Around nothing, the warp and the block, with every remainder of a division by 8, before and after a first
// vector of eight; a multiple of 16 blocks only where the case is larger still.
std::vector<std::int64_t> ragged_sizes(std::int64_t block, std::int64_t case_items,
                                       std::int64_t elements_per_item) {
  std::set<std::int64_t> sizes = {block - 1, block, block + 1, 2 * block, 2 * block + 4, 3 * block};
  sizes.insert({0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 31, 32, 33});
  if (case_items > 16 * block) sizes.insert(16 * block);
  std::erase_if(sizes, [&](std::int64_t items) {
    return items > block + 1 && items * elements_per_item > kSmallElements;
  });
  return {sizes.begin(), sizes.end()};
}

// All the ways in which buffers may lie that matter to vector loads: off alignment by one element, 4 and 8
// bytes, and each pointer on its own; and among NaN.
std::vector<BufferPlan> plans(const Kernel& kernel, Dtype dtype) {
  const auto size = static_cast<std::int64_t>(size_in_bytes(dtype));
  std::vector<BufferPlan> all;
  for (const std::int64_t elements : std::set<std::int64_t>{1, std::max<std::int64_t>(1, 4 / size), 8 / size})
    all.push_back({.misalignment = elements});
  for (const Argument& argument : kernel.arguments()) {
    if (argument.is_array()) all.push_back({.misalignment = 1, .misaligned = argument.name});
  }
  all.push_back({.in_nans = true});
  return all;
}

std::string at_place(std::string place, const std::string& finding) {
  place += ": ";
  place += finding;
  return place;
}

// The first of the worst elements that still hold their sentinel, as "d_pred of box 3 is not written". NaN,
// which may be a result, is not looked for.
std::optional<std::string> unwritten(const Comparison& comparison, const Sentinels& sentinels,
                                     const std::string& item_name) {
  const WorstElement* first = nullptr;
  for (const WorstElement& element : comparison.worst()) {
    if (element.wrong && element.got == sentinels.at(element.output) &&
        (first == nullptr || element.item < first->item))
      first = &element;
  }
  if (first == nullptr) return std::nullopt;
  return first->output + " of " + item_name + " " + std::to_string(first->item) + " is not written";
}

void compare(const CaseContext& context, const KernelRun& run, const ReadyKernel& kernel,
             const LaunchFindings& launched, const std::string& place, Findings& findings) {
  const Comparison comparison = run.compare(kernel.kernel);
  findings.compared += comparison.compared();
  if (!comparison.failed()) return;
  const std::string item = context.request.loss->item_name();
  findings.lines.push_back(at_place(
      place, unwritten(comparison, launched.sentinels, item).value_or(comparison.failure_reason(item))));
}

LaunchFindings launch(KernelRun& run, const ReadyKernel& kernel, std::uint64_t number,
                      const std::string& place, Findings& findings) {
  LaunchFindings launched = run.launch(*kernel.loaded, kernel.kernel, number);
  for (const std::string& damage : launched.damage) findings.lines.push_back(at_place(place, damage));
  return launched;
}

// One guarded launch at a small size, on inputs of `variant`; the run keeps its buffers for the next one.
void launch_and_compare(const CaseContext& context, KernelRun& run, const ReadyKernel& kernel, int variant,
                        const std::string& place, Findings& findings) {
  run.write_inputs(context.source, variant);
  if (kernel.kernel.pass() == Pass::backward) run.write_reference_saved(kernel.kernel);
  const LaunchFindings launched = launch(run, kernel, static_cast<std::uint64_t>(variant), place, findings);
  compare(context, run, kernel, launched, place, findings);
}

// The launch of `aligned` again with buffers that lie otherwise, and other sentinels: the same bits, or right
// ones. What has the same bits is not counted as compared again.
void launch_as_planned(const CaseContext& context, const KernelRun& aligned, const ReadyKernel& kernel,
                       Findings& findings) {
  const std::int64_t items = aligned.item_count();
  std::vector<Argument> read;
  for (const Argument& argument : kernel.kernel.arguments()) {
    if (is_read(argument, kernel.kernel.pass())) read.push_back(argument);
  }
  const auto inputs = aligned.read(read, 0, items);
  const auto outputs = aligned.comparable_outputs(kernel.kernel);
  for (const BufferPlan& plan : plans(kernel.kernel, context.request.dtype)) {
    KernelRun run(context.request, context.backend, sizes_with(context.request, items), plan,
                  context.request.seed + static_cast<std::uint64_t>(items));
    run.provide(kernel.kernel);
    run.write_values(inputs);
    const std::string place = where(context.request, items, plan);
    const std::size_t found = findings.lines.size();
    const LaunchFindings launched = launch(run, kernel, 1, place, findings);
    if (run.comparable_outputs(kernel.kernel) == outputs) continue;
    compare(context, run, kernel, launched, place, findings);
    if (findings.lines.size() > found || plan.in_nans) continue;
    // What the reference leaves open may be unwritten all the same: another sentinel shows it.
    const OutputValues others = run.output_values(kernel.kernel);
    const Sentinels sentinels = run.launch(*kernel.loaded, kernel.kernel, 0).sentinels;
    if (const auto element = run.first_unwritten(kernel.kernel, others, launched.sentinels, sentinels))
      findings.lines.push_back(at_place(place, *element));
  }
}

}  // namespace

Findings check_small_sizes(const CaseContext& context, const ReadyKernel& kernel) {
  const CheckRequest& request = context.request;
  const std::int64_t block = kernel.kernel.parts().launch.items_per_block;
  // Whole vectors, these and a tail, whole blocks and a tail.
  const std::set<std::int64_t> planned = {std::min<std::int64_t>(block, 32),
                                          std::min<std::int64_t>(block + 1, 33), 2 * block + 4};
  Findings findings;
  for (const std::int64_t items : ragged_sizes(block, request.sizes.at(request.loss->item_size()),
                                               elements_per_item(request, kernel.kernel))) {
    if (items > 0 && context.source.empty()) continue;
    KernelRun run(request, context.backend, sizes_with(request, items), {},
                  request.seed + static_cast<std::uint64_t>(items));
    run.provide(kernel.kernel);
    launch_and_compare(context, run, kernel, 0, where(request, items, {}), findings);
    if (planned.contains(items)) launch_as_planned(context, run, kernel, findings);
    if (items == block + 1)
      launch_and_compare(context, run, kernel, 1, "second launch on other inputs", findings);
  }
  return findings;
}

}  // namespace lossgrad
