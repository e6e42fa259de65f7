// SPDX-License-Identifier: Apache-2.0
// Every built-in CIoU kernel on every architecture: no spills, no local and no shared memory, and a block
// fits a multiprocessor.
#include <array>

#include "check/kernel_resources.hpp"
#include "losses/loss.hpp"

namespace lossgrad {
namespace {

using kernel_resources::Compilation;

constexpr std::array kBlocks = {32, 256, 1024};

std::vector<Compilation> all_compilations() {
  std::vector<Compilation> compilations;
  const Loss& ciou = find_loss("ciou");
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    for (const Dtype dtype : kAllDtypes) {
      for (const NamedChoice& convention : ciou.conventions()) {
        for (const int block : kBlocks)
          kernel_resources::add(compilations, ciou.kernel({pass, dtype, convention.name, block}));
      }
    }
  }
  return compilations;
}

class CiouResources : public kernel_resources::NvrtcTest {};

TEST_F(CiouResources, NoSpillsNoLocalMemoryOnAnyArchitecture) {
  std::vector<Compilation> compilations = all_compilations();
  EXPECT_EQ(compilations.size(), 2u * 4 * find_loss("ciou").conventions().size() * kBlocks.size() *
                                     kernel_resources::architecture_count());
  kernel_resources::expect_frugal(std::move(compilations), 0);
}

}  // namespace
}  // namespace lossgrad
