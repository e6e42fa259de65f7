// SPDX-License-Identifier: Apache-2.0
// The buffers of one case at one size, and guarded launches on them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/comparison.hpp"
#include "check/guarded_buffer.hpp"
#include "check/input_source.hpp"

namespace lossgrad {

using Sentinels = std::map<std::string, double>;  // what each output was filled with

// What one guarded launch left behind.
struct LaunchFindings {
  std::vector<std::string> damage;  // canaries hit, inputs changed
  Sentinels sentinels;
};

// Bytes of every argument that a kernel wrote.
using StoredOutputs = std::map<std::string, std::vector<std::byte>>;
using OutputValues = std::map<std::string, std::vector<double>>;  // the same decoded

class KernelRun {
 public:
  // `salt` varies sentinels and canaries.
  KernelRun(const CheckRequest& request, Backend& backend, Sizes sizes, BufferPlan plan, std::uint64_t salt);

  [[nodiscard]] std::int64_t item_count() const { return item_count_; }
  // Called between the chunks of long work; may throw, which ends that work.
  void on_chunk(std::function<void()> heartbeat) { heartbeat_ = std::move(heartbeat); }

  // Creates what the kernel needs and does not exist yet.
  void provide(const Kernel& kernel);
  // Only dy, so that all inputs can be written at once before the outputs of backward take their memory.
  void provide_upstream(const Kernel& backward);
  void release(const std::string& argument) { buffers_.erase(argument); }
  [[nodiscard]] GuardedBuffer& at(const std::string& argument);
  [[nodiscard]] const ItemLayout& layout(const std::string& argument) const {
    return buffers_.at(argument)->layout();
  }

  // Inputs, constants and dy from the source, into the buffers that exist.
  void write_inputs(const InputSource& source, int variant = 0);
  // Values of arguments that have a buffer.
  void write_values(const Items& items);
  // Saved arguments as the reference gives them for the inputs in the buffers, rounded to the storage type.
  void write_reference_saved(const Kernel& backward);

  // Fills what the kernel writes with sentinels (other ones for the next `number`, or NaN by the plan),
  // launches, waits, looks at canaries and at the inputs.
  LaunchFindings launch(LoadedKernel& loaded, const Kernel& kernel, std::uint64_t number = 0,
                        const LaunchOptions& options = {});

  // Every element that the kernel wrote against the reference.
  [[nodiscard]] Comparison compare(const Kernel& kernel,
                                   const std::function<void(double)>& progress = {}) const;
  // The same of some items alone.
  [[nodiscard]] Comparison compare_items(const Kernel& kernel, std::span<const std::int64_t> items) const;

  // Elements that one launch of the kernel writes.
  [[nodiscard]] std::int64_t written_elements(const Kernel& kernel) const;
  // One hash over all that the kernel writes.
  [[nodiscard]] std::uint64_t output_hash(const Kernel& kernel) const;
  // Bytes of what the kernel wrote, with one NaN for all, whose signs and payloads are the compiler's choice.
  [[nodiscard]] StoredOutputs comparable_outputs(const Kernel& kernel) const;
  [[nodiscard]] OutputValues output_values(const Kernel& kernel) const;
  // The first element that holds its sentinel after this launch and after another one with other sentinels,
  // as "d_pred of box 3 is not written".
  [[nodiscard]] std::optional<std::string> first_unwritten(const Kernel& kernel, const OutputValues& other,
                                                           const Sentinels& other_sentinels,
                                                           const Sentinels& sentinels) const;
  // Outputs differ from `other`, those of a launch that began with other sentinels: "d_pred of box 3 is not
  // written", or that results depend on what the output held before.
  [[nodiscard]] std::string trace_of_sentinels(const Kernel& kernel, const StoredOutputs& other,
                                               const Sentinels& other_sentinels) const;

  // Inputs of one item as the kernel saw them, for reports.
  [[nodiscard]] std::vector<std::pair<std::string, std::vector<double>>> inputs_of(const Kernel& kernel,
                                                                                   std::int64_t item) const;
  // Values of a run of items of the array arguments `of`.
  [[nodiscard]] Items read(std::span<const Argument> of, std::int64_t first, std::int64_t count) const;

 private:
  void provide(const Argument& argument);
  [[nodiscard]] StoredOutputs stored_outputs(const Kernel& kernel) const;
  [[nodiscard]] std::uint64_t hash_of_inputs(const Kernel& kernel) const;
  void compare_block(const Kernel& kernel, const Items& items, Comparison& comparison) const;
  [[nodiscard]] std::int64_t elements_per_item() const;
  [[nodiscard]] Items cut_items(const Items& chunk, std::int64_t at, std::int64_t length) const;

  const CheckRequest& request_;
  Backend& backend_;
  Sizes sizes_;
  std::int64_t item_count_;
  BufferPlan plan_;
  std::uint64_t salt_;
  std::map<std::string, std::unique_ptr<GuardedBuffer>> buffers_;
  std::function<void()> heartbeat_ = [] {};
};

}  // namespace lossgrad
