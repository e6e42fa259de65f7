// SPDX-License-Identifier: Apache-2.0
// A kernel as an immutable value: source text, compile-time constants, entry point, argument list and launch
// rule. Names and argument orders are an ABI: a binary with the same entry point made elsewhere can stand in
// for it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/argument.hpp"
#include "math/dtype.hpp"

namespace lossgrad {

struct LaunchShape {
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::size_t shared_bytes = 0;
  [[nodiscard]] bool empty() const { return grid[0] == 0 || grid[1] == 0 || grid[2] == 0; }
};

// Grid along x: cdiv(sizes[size_name], items_per_block); block: threads x 1 x 1.
struct LaunchRule {
  std::string size_name;
  std::uint32_t items_per_block = 1;
  std::uint32_t threads_per_block = 1;
};

// Everything besides the kernel that decides the compiled binary.
struct BuildTarget {
  std::string compiler;      // "nvrtc", "c++"
  std::string version;       // "13.0", the first line of --version
  std::string architecture;  // "sm_90", "x86_64"
  std::vector<std::string> options;
};

class Kernel {
 public:
  struct Parts {
    std::string name;  // yolo_ciou_loss_backward
    Pass pass = Pass::forward;
    Dtype dtype = Dtype::f32;
    std::vector<std::pair<std::string, std::int64_t>> constants;  // block_n = 256, in the order of the id
    std::vector<std::string> variants;  // further id parts for non-default choices: "torchvision"
    std::string kernel_source;
    std::string entry_point_source;
    std::vector<Argument> arguments;
    LaunchRule launch;
    // NVRTC's --use_fast_math: approximate quotients, roots and functions, subnormals flushed to zero. On the
    // host what a compiler makes of the same licence: sums in another order, reciprocals, NaN and infinity
    // taken as absent.
    bool fast_math = false;
  };
  explicit Kernel(Parts parts);

  [[nodiscard]] const std::string& name() const { return parts_.name; }
  // name, dtype, constants and variants joined by "__": yolo_ciou_loss_backward__f32__256
  [[nodiscard]] std::string id() const;
  [[nodiscard]] Pass pass() const { return parts_.pass; }
  [[nodiscard]] Dtype dtype() const { return parts_.dtype; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::int64_t>>& constants() const {
    return parts_.constants;
  }
  // Throws ErrorKind::internal when the kernel has no constant of that name.
  [[nodiscard]] std::int64_t constant(std::string_view name) const;
  [[nodiscard]] const std::string& kernel_source() const { return parts_.kernel_source; }
  [[nodiscard]] const std::string& entry_point_source() const { return parts_.entry_point_source; }
  [[nodiscard]] std::string source() const;            // kernel_source + "\n\n" + entry_point_source
  [[nodiscard]] std::string entry_point_name() const;  // name + "_entry_point"
  [[nodiscard]] const std::vector<Argument>& arguments() const { return parts_.arguments; }
  [[nodiscard]] const Parts& parts() const { return parts_; }

  // Grid and block for these sizes. Throws ErrorKind::usage when the grid would pass the hardware's limit.
  [[nodiscard]] LaunchShape launch_shape(const Sizes& sizes) const;

  // Hash of all that decides the binary; 32 hexadecimal digits. The cache key.
  [[nodiscard]] std::string content_hash(const BuildTarget& target) const;

  // The same kernel from other text, for example a wrong one made by a test.
  [[nodiscard]] Kernel with_kernel_source(std::string kernel_source) const;

 private:
  Parts parts_;
};

}  // namespace lossgrad
