// SPDX-License-Identifier: Apache-2.0
#include "check/kernel_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "base/content_hash.hpp"
#include "base/error.hpp"

namespace lossgrad {
namespace {

// Items go through the reference in blocks of about so many elements, chunks of many blocks through
// transfers.
constexpr std::int64_t kBlockElements = std::int64_t{1} << 15;
constexpr std::int64_t kChunkElements = std::int64_t{1} << 19;
constexpr std::int64_t kMostEvaluatedItems = 1024;

std::int64_t items_per_evaluation(std::int64_t elements_per_item) {
  return std::clamp<std::int64_t>(kBlockElements / std::max<std::int64_t>(1, elements_per_item), 1,
                                  kMostEvaluatedItems);
}

std::uint64_t name_salt(const std::string& name, std::uint64_t salt) {
  return hash_bytes(std::as_bytes(std::span(name)), salt);
}

// Cuts items [first, first + count) out of a larger run, in the argument's layout.
std::vector<double> cut(std::span<const double> values, const ItemLayout& layout, std::int64_t total,
                        std::int64_t first, std::int64_t count) {
  std::vector<double> part(static_cast<std::size_t>(layout.outer * count * layout.inner));
  copy_items(layout, count, values, {total, first}, part, {count, 0});
  return part;
}

void notice(ItemState& state, double value) {
  if (std::isnan(value)) state.has_nan = true;
  if (std::isinf(value)) state.has_infinity = true;
}

}  // namespace

KernelRun::KernelRun(const CheckRequest& request, Backend& backend, Sizes sizes, BufferPlan plan,
                     std::uint64_t salt)
    : request_(request),
      backend_(backend),
      sizes_(std::move(sizes)),
      item_count_(sizes_.at(request.loss->item_size())),
      plan_(std::move(plan)),
      salt_(salt) {}

void KernelRun::provide(const Argument& argument) {
  if (!argument.is_array() || buffers_.contains(argument.name)) return;
  buffers_[argument.name] = std::make_unique<GuardedBuffer>(
      backend_, argument.name, request_.dtype, item_layout(argument, request_.loss->item_size(), sizes_),
      plan_, name_salt(argument.name, salt_));
}

void KernelRun::provide(const Kernel& kernel) {
  for (const Argument& argument : kernel.arguments()) provide(argument);
}

void KernelRun::provide_upstream(const Kernel& backward) {
  for (const Argument& argument : backward.arguments()) {
    if (argument.role == ArgumentRole::upstream) provide(argument);
  }
}

GuardedBuffer& KernelRun::at(const std::string& argument) {
  const auto found = buffers_.find(argument);
  if (found == buffers_.end()) throw Error(ErrorKind::internal, "no buffer for the argument " + argument);
  return *found->second;
}

namespace {

// Calls visit(first, count) for runs of items that together cover all of them; a run has about kChunkElements
// elements.
template <class Visit>
void for_each_chunk(std::int64_t items, std::int64_t elements_per_item, Visit visit) {
  const std::int64_t block = items_per_evaluation(elements_per_item);
  std::int64_t per_chunk = kChunkElements / std::max<std::int64_t>(1, elements_per_item);
  if (per_chunk > block) per_chunk -= per_chunk % block;
  per_chunk = std::max<std::int64_t>(1, per_chunk);
  for (std::int64_t first = 0; first < items; first += per_chunk)
    visit(first, std::min(per_chunk, items - first));
}

// The same in parallel over blocks of `block` items of one chunk: visit(number of the block, offset in the
// chunk, count).
template <class Visit>
void parallel_blocks(std::int64_t count, std::int64_t block, Visit visit) {
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, (count + block - 1) / block),
                    [&](const tbb::blocked_range<std::int64_t>& range) {
                      for (std::int64_t b = range.begin(); b != range.end(); ++b)
                        visit(static_cast<std::size_t>(b), b * block, std::min(block, count - b * block));
                    });
}

std::size_t block_count(std::int64_t count, std::int64_t block) {
  return static_cast<std::size_t>((count + block - 1) / block);
}

}  // namespace

void KernelRun::write_values(const Items& items) {
  for (auto& [name, buffer] : buffers_) {
    const auto found = items.values.find(name);
    if (found != items.values.end()) buffer->write_items(items.first, items.count, found->second);
  }
}

void KernelRun::write_inputs(const InputSource& source, int variant) {
  const std::int64_t block_items = items_per_evaluation(elements_per_item());
  for_each_chunk(item_count_, elements_per_item(), [&](std::int64_t first, std::int64_t count) {
    std::vector<Items> blocks(block_count(count, block_items));
    parallel_blocks(count, block_items, [&](std::size_t number, std::int64_t at, std::int64_t length) {
      blocks[number] = source.read(first + at, length, variant);
    });
    for (const Items& block : blocks) write_values(block);
    heartbeat_();
  });
}

void KernelRun::write_reference_saved(const Kernel& backward) {
  const ReferenceRequest request{Pass::forward, request_.dtype, request_.convention};
  std::vector<Argument> inputs;
  bool any_saved = false;
  for (const Argument& argument : backward.arguments()) {
    if (is_drawn(argument, Pass::backward)) inputs.push_back(argument);
    any_saved = any_saved || argument.role == ArgumentRole::saved;
  }
  if (!any_saved) return;
  const std::int64_t block_items = items_per_evaluation(elements_per_item());
  for_each_chunk(item_count_, elements_per_item(), [&](std::int64_t first, std::int64_t count) {
    const Items chunk = read(inputs, first, count);
    std::vector<Items> blocks(block_count(count, block_items));
    parallel_blocks(count, block_items, [&](std::size_t number, std::int64_t at, std::int64_t length) {
      Items& block = blocks[number];
      block.first = first + at;
      block.count = length;
      Reference reference;
      request_.loss->evaluate(request, cut_items(chunk, at, length), reference);
      for (const Argument& argument : backward.arguments()) {
        if (argument.role != ArgumentRole::saved) continue;
        block.values[argument.name] = std::move(reference.at(argument.name).sharp_low);
      }
    });
    for (const Items& block : blocks) write_values(block);
    heartbeat_();
  });
}

std::int64_t KernelRun::elements_per_item() const {
  std::int64_t elements = 0;
  for (const auto& [name, buffer] : buffers_) elements += buffer->layout().per_item();
  return elements;
}

Items KernelRun::cut_items(const Items& chunk, std::int64_t at, std::int64_t length) const {
  Items block;
  block.first = chunk.first + at;
  block.count = length;
  block.sizes = chunk.sizes;
  block.parameters = chunk.parameters;
  for (const auto& [name, values] : chunk.values)
    block.values[name] = cut(values, layout(name), chunk.count, at, length);
  return block;
}

std::uint64_t KernelRun::hash_of_inputs(const Kernel& kernel) const {
  std::uint64_t hash = 0;
  for (const Argument& argument : kernel.arguments()) {
    if (is_read(argument, kernel.pass())) hash = hash * 31 + buffers_.at(argument.name)->content_hash();
  }
  return hash;
}

LaunchFindings KernelRun::launch(LoadedKernel& loaded, const Kernel& kernel, std::uint64_t number,
                                 const LaunchOptions& options) {
  LaunchFindings findings;
  std::vector<LaunchArgument> values;
  for (const Argument& argument : kernel.arguments()) {
    if (argument.role == ArgumentRole::size) {
      values.emplace_back(static_cast<std::int32_t>(sizes_.at(argument.name)));
      continue;
    }
    if (argument.role == ArgumentRole::parameter) {
      values.emplace_back(static_cast<float>(request_.parameters.at(argument.name)));
      continue;
    }
    GuardedBuffer& buffer = at(argument.name);
    if (is_written(argument, kernel.pass())) {
      findings.sentinels[argument.name] =
          buffer.fill_with_sentinel(name_salt(argument.name, salt_ + 1), number);
    }
    values.emplace_back(buffer.address());
  }
  const std::uint64_t before = hash_of_inputs(kernel);
  backend_.launch(loaded, kernel.launch_shape(sizes_), values, options);
  backend_.synchronize();
  for (const Argument& argument : kernel.arguments()) {
    if (!argument.is_array()) continue;
    if (const auto damage = at(argument.name).canary_damage()) findings.damage.push_back(*damage);
  }
  if (hash_of_inputs(kernel) != before) findings.damage.emplace_back("an input was changed by the kernel");
  return findings;
}

Items KernelRun::read(std::span<const Argument> of, std::int64_t first, std::int64_t count) const {
  Items items;
  items.first = first;
  items.count = count;
  items.sizes = sizes_;
  items.parameters = request_.parameters;
  for (const Argument& argument : of) {
    if (!argument.is_array()) continue;
    const auto bytes = buffers_.at(argument.name)->read_items(first, count);
    auto& values = items.values[argument.name];
    values.resize(bytes.size() / size_in_bytes(request_.dtype));
    decode(request_.dtype, bytes, values);
  }
  return items;
}

void KernelRun::compare_block(const Kernel& kernel, const Items& items, Comparison& comparison) const {
  Reference reference;
  request_.loss->evaluate({kernel.pass(), request_.dtype, request_.convention}, items, reference);
  std::vector<ItemState> states(static_cast<std::size_t>(items.count));
  for (const Argument& argument : kernel.arguments()) {
    if (!is_drawn(argument, kernel.pass())) continue;
    const ItemLayout layout = buffers_.at(argument.name)->layout();
    const auto values = items.at(argument.name);
    for (std::size_t e = 0; e < values.size(); ++e) {
      const std::int64_t item = layout.item_of(items.count, static_cast<std::int64_t>(e));
      notice(states[static_cast<std::size_t>(item)], values[e]);
    }
  }
  for (const ItemState& state : states) {
    if (state.has_nan || state.has_infinity) comparison.count_non_finite_item();
  }
  for (const Argument& argument : kernel.arguments()) {
    if (!argument.is_array() || !is_written(argument, kernel.pass())) continue;
    const ItemLayout layout = buffers_.at(argument.name)->layout();
    const auto got = items.at(argument.name);
    const ReferenceValues& values = reference.at(argument.name);
    for (std::size_t e = 0; e < got.size(); ++e) {
      const auto position = static_cast<std::int64_t>(e);
      const std::int64_t item = layout.item_of(items.count, position);
      comparison.add(argument.name, items.first + item, layout.component_of(items.count, position), got[e],
                     expected_element(values, e), states[static_cast<std::size_t>(item)]);
    }
  }
}

Comparison KernelRun::compare(const Kernel& kernel, const std::function<void(double)>& progress) const {
  tbb::enumerable_thread_specific<Comparison> parts(
      [&] { return Comparison(request_.dtype, request_.tolerance); });
  const std::int64_t block_items = items_per_evaluation(elements_per_item());
  for_each_chunk(item_count_, elements_per_item(), [&](std::int64_t first, std::int64_t count) {
    const Items chunk = read(kernel.arguments(), first, count);
    parallel_blocks(count, block_items, [&](std::size_t, std::int64_t at, std::int64_t length) {
      compare_block(kernel, cut_items(chunk, at, length), parts.local());
    });
    if (progress) progress(static_cast<double>(first + count) / static_cast<double>(item_count_));
  });
  Comparison comparison(request_.dtype, request_.tolerance);
  for (const Comparison& part : parts) comparison.merge(part);
  return comparison;
}

Comparison KernelRun::compare_items(const Kernel& kernel, std::span<const std::int64_t> items) const {
  Comparison comparison(request_.dtype, request_.tolerance);
  if (items.empty()) return comparison;
  const auto [first, last] = std::minmax_element(items.begin(), items.end());
  const Items around = read(kernel.arguments(), *first, *last - *first + 1);
  for (const std::int64_t item : items)
    compare_block(kernel, cut_items(around, item - *first, 1), comparison);
  return comparison;
}

std::int64_t KernelRun::written_elements(const Kernel& kernel) const {
  std::int64_t elements = 0;
  for (const Argument& argument : kernel.arguments()) {
    if (argument.is_array() && is_written(argument, kernel.pass()))
      elements += layout(argument.name).elements();
  }
  return elements;
}

std::uint64_t KernelRun::output_hash(const Kernel& kernel) const {
  std::uint64_t hash = 0;
  for (const Argument& argument : kernel.arguments()) {
    if (argument.is_array() && is_written(argument, kernel.pass())) {
      hash = hash * 31 + buffers_.at(argument.name)->result_hash();
    }
  }
  return hash;
}

StoredOutputs KernelRun::stored_outputs(const Kernel& kernel) const {
  StoredOutputs outputs;
  for (const Argument& argument : kernel.arguments()) {
    if (argument.is_array() && is_written(argument, kernel.pass()))
      outputs[argument.name] = buffers_.at(argument.name)->read_items(0, item_count_);
  }
  return outputs;
}

StoredOutputs KernelRun::comparable_outputs(const Kernel& kernel) const {
  StoredOutputs outputs = stored_outputs(kernel);
  for (auto& [name, bytes] : outputs) unify_nans(request_.dtype, bytes);
  return outputs;
}

OutputValues KernelRun::output_values(const Kernel& kernel) const {
  OutputValues values;
  for (const auto& [name, bytes] : stored_outputs(kernel)) {
    values[name].resize(bytes.size() / size_in_bytes(request_.dtype));
    decode(request_.dtype, bytes, values[name]);
  }
  return values;
}

std::optional<std::string> KernelRun::first_unwritten(const Kernel& kernel, const OutputValues& other,
                                                      const Sentinels& other_sentinels,
                                                      const Sentinels& sentinels) const {
  for (const auto& [name, values] : output_values(kernel)) {
    const std::vector<double>& others = other.at(name);
    const double sentinel = sentinels.at(name), other_sentinel = other_sentinels.at(name);
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (values[at] != sentinel || others[at] != other_sentinel) continue;
      const ItemLayout& layout = buffers_.at(name)->layout();
      const std::int64_t item = layout.item_of(layout.items, static_cast<std::int64_t>(at));
      return name + " of " + request_.loss->item_name() + " " + std::to_string(item) + " is not written";
    }
  }
  return std::nullopt;
}

std::string KernelRun::trace_of_sentinels(const Kernel& kernel, const StoredOutputs& other,
                                          const Sentinels& other_sentinels) const {
  const std::size_t element = size_in_bytes(request_.dtype);
  const StoredOutputs mine = comparable_outputs(kernel);
  std::optional<std::string> first;
  for (const auto& [name, bytes] : mine) {
    std::vector<std::byte> sentinel(element);
    encode(request_.dtype, std::span(&other_sentinels.at(name), 1), sentinel);
    const std::vector<std::byte>& others = other.at(name);
    std::optional<std::size_t> unwritten;
    for (std::size_t at = 0; at < bytes.size(); at += element) {
      if (std::memcmp(bytes.data() + at, others.data() + at, element) == 0) continue;
      if (std::memcmp(others.data() + at, sentinel.data(), element) != 0)
        return "the result depends on what the output held before the launch";
      if (!unwritten) unwritten = at / element;
    }
    if (!unwritten) continue;
    const ItemLayout& layout = buffers_.at(name)->layout();
    const std::int64_t item = layout.item_of(layout.items, static_cast<std::int64_t>(*unwritten));
    first = first.value_or(name + " of " + request_.loss->item_name() + " " + std::to_string(item) +
                           " is not written");
  }
  return first.value_or("outputs changed with what they held before the launch");
}

std::vector<std::pair<std::string, std::vector<double>>> KernelRun::inputs_of(const Kernel& kernel,
                                                                              std::int64_t item) const {
  std::vector<std::pair<std::string, std::vector<double>>> inputs;
  for (const Argument& argument : kernel.arguments()) {
    const std::string& name = argument.name;
    if (!is_read(argument, kernel.pass())) continue;
    std::vector<double> values(static_cast<std::size_t>(buffers_.at(name)->layout().per_item()));
    decode(request_.dtype, buffers_.at(name)->read_items(item, 1), values);
    inputs.emplace_back(name, std::move(values));
  }
  return inputs;
}

}  // namespace lossgrad
