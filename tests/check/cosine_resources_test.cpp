// SPDX-License-Identifier: Apache-2.0
// Built-in cosine kernels on every architecture: no spills, no local memory, and a block fits a
// multiprocessor.
#include <array>

#include "check/kernel_resources.hpp"
#include "losses/loss.hpp"

namespace lossgrad {
namespace {

using kernel_resources::Compilation;

constexpr std::array kBlocks = {1, 32, 512, 4096, 65536};
constexpr int kBlockOfOtherConventions = 512;
constexpr int kSharedBytesOfABlock = 48 * 1024;

struct Group {
  Pass pass;
  Dtype dtype;
};
std::string group_name(const testing::TestParamInfo<Group>& info) {
  return std::string(name(info.param.pass)) + '_' + std::string(name(info.param.dtype));
}

std::vector<Group> groups() {
  std::vector<Group> all;
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    for (const Dtype dtype : kAllDtypes) all.push_back({pass, dtype});
  }
  return all;
}

// The default convention with every block, the others with one.
std::vector<Compilation> compilations_of(const Group& group) {
  std::vector<Compilation> compilations;
  const Loss& cosine = find_loss("cosine");
  const auto add = [&](const std::string& convention, int block) {
    kernel_resources::add(compilations, cosine.kernel({group.pass, group.dtype, convention, block}));
  };
  for (const int block : kBlocks) add(cosine.conventions().front().name, block);
  for (const NamedChoice& convention : cosine.conventions().subspan(1))
    add(convention.name, kBlockOfOtherConventions);
  return compilations;
}

class CosineResources : public kernel_resources::NvrtcTest, public ::testing::WithParamInterface<Group> {};

TEST_P(CosineResources, NoSpillsNoLocalMemory) {
  std::vector<Compilation> compilations = compilations_of(GetParam());
  EXPECT_EQ(compilations.size(), (kBlocks.size() + find_loss("cosine").conventions().size() - 1) *
                                     kernel_resources::architecture_count());
  kernel_resources::expect_frugal(std::move(compilations), kSharedBytesOfABlock);
}

INSTANTIATE_TEST_SUITE_P(Kernels, CosineResources, testing::ValuesIn(groups()), group_name);

}  // namespace
}  // namespace lossgrad
