// SPDX-License-Identifier: Apache-2.0
// Device memory of one kernel argument between two canary zones.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "kernel/item_layout.hpp"
#include "math/dtype.hpp"

namespace lossgrad {

// How the buffers of a launch lie, and what surrounds their data.
struct BufferPlan {
  // Elements by which the data begin after an address that is a multiple of 256.
  std::int64_t misalignment = 0;
  std::string misaligned = {};  // the only argument for which that holds; empty: all
  // Canaries, and sentinels in what is written, are NaN: times zero they show.
  bool in_nans = false;
};

class GuardedBuffer {
 public:
  // `salt` makes canaries differ from buffer to buffer and from run to run; they are finite numbers of
  // `dtype` but where the plan says NaN.
  GuardedBuffer(Backend& backend, std::string name, Dtype dtype, const ItemLayout& layout,
                const BufferPlan& plan, std::uint64_t salt);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const ItemLayout& layout() const { return layout_; }
  [[nodiscard]] std::byte* address() const;  // of the data

  // Values of items [first, first + count) in the layout [outer, count, inner].
  void write_items(std::int64_t first, std::int64_t count, std::span<const double> values);
  // The same as stored bytes.
  [[nodiscard]] std::vector<std::byte> read_items(std::int64_t first, std::int64_t count) const;

  // Fills the data with one number and returns it: finite, drawn from both, with the other sign for the next
  // launch; or NaN as the plan says.
  double fill_with_sentinel(std::uint64_t salt, std::uint64_t launch);

  [[nodiscard]] std::uint64_t content_hash() const;
  // The same for results: all NaNs are one, since their signs and payloads are the compiler's choice.
  [[nodiscard]] std::uint64_t result_hash() const;
  // What was damaged: "written at element 1027 of d_pred, which has 1024"; nothing when both zones are
  // intact.
  [[nodiscard]] std::optional<std::string> canary_damage() const;

 private:
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(layout_.elements()) * size_in_bytes(dtype_);
  }
  [[nodiscard]] std::vector<std::byte> download(std::size_t offset, std::size_t count) const;
  // Calls visit(copy) for pieces of the data, one after another; a copy lives until the next.
  template <class Visit>
  void for_each_piece(Visit visit) const;

  Backend& backend_;
  std::string name_;
  Dtype dtype_;
  ItemLayout layout_;
  bool in_nans_ = false;
  std::size_t zone_bytes_ = 0;  // of either canary zone
  std::size_t data_offset_ = 0;
  std::vector<std::byte> canary_;  // one element
  std::shared_ptr<DeviceMemory> memory_;
};

}  // namespace lossgrad
