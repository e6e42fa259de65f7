// SPDX-License-Identifier: Apache-2.0
#include "check/guards.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace lossgrad {
namespace {

constexpr int kScheduleSeeds = 8;  // two of every kind of order that the host backend has

Sizes with_items(const CheckRequest& request, std::int64_t items) {
  Sizes sizes = request.sizes;
  sizes[request.loss->item_size()] = items;
  return sizes;
}

std::string where(const CheckRequest& request, std::int64_t items, std::int64_t misalignment) {
  std::string text = request.loss->item_size() + " = " + std::to_string(items);
  if (misalignment > 0) text += ", bases " + std::to_string(misalignment) + " element off alignment";
  return text;
}

// One guarded launch at a small size, on inputs of `variant`; the run keeps its buffers for the next one.
void launch_and_compare(const CheckRequest& request, KernelRun& run, const ReadyKernel& kernel,
                        const InputSource& source, int variant, const std::string& place,
                        std::vector<std::string>& findings, std::int64_t& compared) {
  run.write_inputs(source, variant);
  if (kernel.kernel.pass() == Pass::backward) run.write_reference_saved(kernel.kernel);
  const LaunchFindings launched =
      run.launch(*kernel.loaded, kernel.kernel, static_cast<std::uint64_t>(variant));
  for (const std::string& damage : launched.damage) findings.push_back(place + ": " + damage);
  const Comparison comparison = run.compare(kernel.kernel);
  compared += comparison.compared();
  if (!comparison.failed()) return;
  if (const auto unwritten = run.first_unwritten(kernel.kernel, launched.sentinels)) {
    findings.push_back(place + ": " + *unwritten);
  } else {
    findings.push_back(place + ": " + comparison.failure_reason(request.loss->item_name()));
  }
}

std::uint64_t bits_of(KernelRun& run, const ReadyKernel& kernel, const LaunchOptions& options = {}) {
  run.launch(*kernel.loaded, kernel.kernel, 0, options);
  return run.output_hash(kernel.kernel);
}

}  // namespace

void check_small_sizes(const CheckRequest& request, Backend& backend, const ReadyKernel& kernel,
                       const InputSource& source, std::vector<std::string>& findings,
                       std::int64_t& compared) {
  const std::int64_t block = request.block;
  for (const std::int64_t items :
       {std::int64_t{0}, std::int64_t{1}, block - 1, block, block + 1, 2 * block, 2 * block + 3}) {
    if (items > 0 && source.empty()) continue;
    for (const std::int64_t misalignment : {0, 1}) {
      KernelRun run(request, backend, with_items(request, items), misalignment,
                    request.seed + static_cast<std::uint64_t>(items));
      run.provide(kernel.kernel);
      launch_and_compare(request, run, kernel, source, 0, where(request, items, misalignment), findings,
                         compared);
      if (items != block + 1 || misalignment != 0) continue;
      launch_and_compare(request, run, kernel, source, 1, "second launch on other inputs", findings,
                         compared);
    }
  }
}

void check_same_bits(const CheckRequest& request, Backend& backend, const CaseKernels& kernels, Pass pass,
                     const InputSource& source, std::vector<std::string>& findings, std::int64_t& compared) {
  const std::int64_t largest_block = 1024;
  const std::int64_t items =
      std::min(request.sizes.at(request.loss->item_size()), 8 * largest_block + request.block / 2 + 1);
  if (items == 0) return;
  const ReadyKernel& main = kernels.main(pass);
  KernelRun run(request, backend, with_items(request, items), 0, request.seed);
  run.provide(main.kernel);
  run.write_inputs(source);
  if (pass == Pass::backward) run.write_reference_saved(main.kernel);
  const std::uint64_t bits = bits_of(run, main);
  for (const int block : request.loss->repeatability_blocks()) {
    const ReadyKernel* other = kernels.find(pass, request.dtype, block);
    if (other == nullptr || block == request.block) continue;
    if (bits_of(run, *other) != bits)
      findings.push_back("other bits with a block of " + std::to_string(block));
    compared += items;
  }
  if (backend.name() != "host") return;
  for (int seed = 0; seed < kScheduleSeeds; ++seed) {
    const LaunchOptions options{static_cast<std::uint64_t>(seed)};
    compared += items;
    if (bits_of(run, main, options) == bits) continue;
    findings.push_back("the result depends on the order of threads (schedule " + std::to_string(seed) + ")");
    return;
  }
}

}  // namespace lossgrad
