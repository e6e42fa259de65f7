// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel.hpp"

#include <algorithm>
#include <limits>

#include "base/content_hash.hpp"
#include "base/error.hpp"

namespace lossgrad {

Kernel::Kernel(Parts parts) : parts_(std::move(parts)) {}

std::string Kernel::id() const {
  std::string id = parts_.name + "__" + std::string(lossgrad::name(parts_.dtype));
  for (const auto& [constant, value] : parts_.constants) id += "__" + std::to_string(value);
  for (const std::string& variant : parts_.variants) id += "__" + variant;
  return id;
}

std::int64_t Kernel::constant(std::string_view constant_name) const {
  const auto found = std::find_if(parts_.constants.begin(), parts_.constants.end(),
                                  [&](const auto& entry) { return entry.first == constant_name; });
  if (found == parts_.constants.end()) {
    throw Error(ErrorKind::internal, "kernel " + id() + " has no constant " + std::string(constant_name));
  }
  return found->second;
}

std::string Kernel::source() const { return parts_.kernel_source + "\n\n" + parts_.entry_point_source; }

std::string Kernel::entry_point_name() const { return parts_.name + "_entry_point"; }

LaunchShape Kernel::launch_shape(const Sizes& sizes) const {
  const auto found = sizes.find(parts_.launch.size_name);
  if (found == sizes.end()) throw Error(ErrorKind::internal, id() + ": no size " + parts_.launch.size_name);
  const std::int64_t per_block = parts_.launch.items_per_block;
  const std::int64_t blocks = (found->second + per_block - 1) / per_block;
  if (blocks > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorKind::usage, parts_.launch.size_name + " = " + std::to_string(found->second) +
                                      " needs more than 2147483647 blocks");
  }
  LaunchShape shape;
  shape.grid = {static_cast<std::uint32_t>(blocks), 1, 1};
  shape.block = {parts_.launch.threads_per_block, 1, 1};
  return shape;
}

std::string Kernel::content_hash(const BuildTarget& target) const {
  ContentHasher hasher;
  hasher.add("source", source()).add("entry_point", entry_point_name());
  for (const auto& [constant, value] : parts_.constants) hasher.add(constant, value);
  hasher.add("compiler", target.compiler)
      .add("version", target.version)
      .add("architecture", target.architecture);
  for (const std::string& option : target.options) hasher.add("option", option);
  if (parts_.fast_math) hasher.add("option", "fast math");
  return hasher.hex();
}

Kernel Kernel::with_kernel_source(std::string kernel_source) const {
  Parts parts = parts_;
  parts.kernel_source = std::move(kernel_source);
  return Kernel(std::move(parts));
}

}  // namespace lossgrad
