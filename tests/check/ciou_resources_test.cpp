// SPDX-License-Identifier: Apache-2.0
// Every built-in CIoU kernel on every architecture: no spills, no local and no shared memory, and a block
// fits a multiprocessor.
#include <array>
#include <span>

#include "check/kernel_resources.hpp"
#include "losses/loss.hpp"

namespace lossgrad {
namespace {

using kernel_resources::Compilation;

constexpr std::array kBlocks = {32, 256, 1024};
// Of the kernels of other conventions, which differ in details: the one with fewest registers a thread.
constexpr std::array kBlocksOfOtherConventions = {1024};

std::span<const int> blocks_of(const std::string& convention) {
  if (convention == "yolo" || convention == "torchvision") return kBlocks;
  return kBlocksOfOtherConventions;
}

std::vector<Compilation> all_compilations() {
  std::vector<Compilation> compilations;
  const Loss& ciou = find_loss("ciou");
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    for (const Dtype dtype : kAllDtypes) {
      for (const NamedChoice& convention : ciou.conventions()) {
        for (const int block : blocks_of(convention.name))
          kernel_resources::add(compilations, ciou.kernel({pass, dtype, convention.name, block}));
      }
    }
  }
  return compilations;
}

class CiouResources : public kernel_resources::NvrtcTest {};

TEST_F(CiouResources, NoSpillsNoLocalMemoryOnAnyArchitecture) {
  std::vector<Compilation> compilations = all_compilations();
  EXPECT_EQ(compilations.size(), 2u * 4 * (2 * kBlocks.size() + 4) * kernel_resources::architecture_count());
  kernel_resources::expect_frugal(std::move(compilations), 0);
}

}  // namespace
}  // namespace lossgrad
