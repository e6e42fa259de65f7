// SPDX-License-Identifier: Apache-2.0
#include "check/repeatability.hpp"

#include <algorithm>

#include "check/kernel_run.hpp"

namespace lossgrad {
namespace {

constexpr int kScheduleSeeds = 8;  // two of every kind of order that the host backend knows

std::uint64_t bits_of(KernelRun& run, const ReadyKernel& kernel, Findings& findings,
                      const LaunchOptions& options = {}) {
  const LaunchFindings launched = run.launch(*kernel.loaded, kernel.kernel, 0, options);
  findings.lines.insert(findings.lines.end(), launched.damage.begin(), launched.damage.end());
  return run.output_hash(kernel.kernel);
}

}  // namespace

Findings check_same_bits(const CaseContext& context, Pass pass) {
  const CheckRequest& request = context.request;
  const auto blocks = request.loss->repeatability_blocks();
  const ReadyKernel& main = context.kernels.main(pass);
  std::int64_t largest = main.kernel.parts().launch.items_per_block;
  for (const int block : blocks) {
    if (const ReadyKernel* other = context.kernels.find(pass, request.dtype, block))
      largest = std::max<std::int64_t>(largest, other->kernel.parts().launch.items_per_block);
  }
  const std::int64_t items =
      std::min(request.sizes.at(request.loss->item_size()), 8 * largest + largest / 8 + 1);
  Findings findings;
  if (items == 0) return findings;
  KernelRun run(request, context.backend, sizes_with(request, items), {}, request.seed);
  run.provide(main.kernel);
  run.write_inputs(context.source);
  if (pass == Pass::backward) run.write_reference_saved(main.kernel);
  const std::uint64_t bits = bits_of(run, main, findings);
  const auto same_bits = [&](const ReadyKernel& kernel, const LaunchOptions& options = {}) {
    findings.compared += run.written_elements(kernel.kernel);
    return bits_of(run, kernel, findings, options) == bits;
  };
  for (const int block : blocks) {
    const ReadyKernel* other = context.kernels.find(pass, request.dtype, block);
    if (other == nullptr || block == context.kernels.main_block()) continue;
    if (!same_bits(*other)) findings.lines.push_back("other bits with a block of " + std::to_string(block));
  }
  if (!context.backend.orders_threads()) {
    if (!same_bits(main)) findings.lines.emplace_back("two launches on the same inputs gave different bits");
    return findings;
  }
  for (int seed = 0; seed < kScheduleSeeds; ++seed) {
    if (same_bits(main, {static_cast<std::uint64_t>(seed)})) continue;
    findings.lines.push_back("the result depends on the order of threads (schedule " + std::to_string(seed) +
                             ")");
    break;
  }
  return findings;
}

}  // namespace lossgrad
