// SPDX-License-Identifier: Apache-2.0
// Arrays of more than 2^32 elements: the built-in kernels are right at both ends of them, and kernels whose
// offsets have 32 bits are not. Only the ends are compared.
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <ostream>

#include <gmock/gmock.h>

#include "check/check_support.hpp"
#include "check/input_source.hpp"
#include "check/kernel_run.hpp"
#include "gpu/gpu_test.hpp"
#include "losses/fault.hpp"

namespace lossgrad {
namespace {

// An edit that gives a kernel offsets which wrap at 2^32, and what is wrong then.
struct Narrow {
  std::string name;
  Pass pass;
  std::vector<SourceEdit> edits;
  bool overwrites = false;  // what wraps is where results go: the first items are overwritten
};

struct LargeCase {
  std::string loss;
  std::string scenario;
  Sizes sizes;
  std::vector<Narrow> narrow;
};

void PrintTo(const LargeCase& large, std::ostream* stream) { *stream << large.loss; }

LargeCase large_ciou() {
  return {"ciou",
          "typical",
          {{"N", (std::int64_t{1} << 30) + 1027}},
          {{"forward_reads",
            Pass::forward,
            {{"load_value(pred + 3 * n + i)",
              "load_value(pred + (3 * static_cast<unsigned>(n) + static_cast<unsigned>(i)))"}}},
           {"backward_writes",
            Pass::backward,
            {{"store_value(d_pred + 3 * n + i,",
              "store_value(d_pred + (3 * static_cast<unsigned>(n) + static_cast<unsigned>(i)),"}},
            true}}};
}

LargeCase large_cosine() {
  const std::string narrow = "static_cast<unsigned>(row) * static_cast<unsigned>(n_dim);";
  return {"cosine",
          "gaussian",
          {{"n_rows", 65543}, {"n_dim", 65536}},
          {{"forward_reads", Pass::forward, {{"row1 = x1 + row * n_dim;", "row1 = x1 + " + narrow, 2}}},
           {"backward_reads", Pass::backward, {{"row2 = x2 + row * n_dim;", "row2 = x2 + " + narrow, 2}}},
           {"backward_writes",
            Pass::backward,
            {{"d_row1 = dx1 + row * n_dim;", "d_row1 = dx1 + " + narrow}},
            true}}};
}

constexpr std::int64_t kItemsAtAnEnd = 5;
constexpr std::int64_t kNeededBytes = std::int64_t{40} << 30;

class LargeSizesGpu : public GpuTest, public ::testing::WithParamInterface<LargeCase> {
 protected:
  LargeSizesGpu() {
    request_.loss = &find_loss(GetParam().loss);
    request_.convention = request_.loss->conventions().front().name;
    request_.dtype = Dtype::f16;
    request_.sizes = GetParam().sizes;
    request_.parameters = default_parameters(*request_.loss);
    request_.scenario = GetParam().scenario;
  }

  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (backend().device().memory_bytes < kNeededBytes)
      GTEST_SKIP() << "needs 40 GiB of device memory, " << backend().device().name << " has "
                   << backend().device().memory_bytes << " bytes";
  }

  [[nodiscard]] Kernel right(Pass pass) const {
    return request_.loss->kernel({pass, request_.dtype, request_.convention, kOwnBlock, request_.sizes});
  }

  // Launches the pass's kernel, or that with the edits of `wrong`, on whatever memory holds but for items at
  // both ends; whether those came out wrong.
  void launch(Pass pass, const Narrow* wrong = nullptr) {
    KernelRun run(request_, backend(), request_.sizes, {}, 1);
    const Kernel kernel = wrong == nullptr ? right(pass) : with_edits(*wrong);
    run.provide(kernel);
    const std::int64_t last = run.item_count() - kItemsAtAnEnd;
    for (const std::int64_t first : {std::int64_t{0}, last})
      run.write_values(items_with_saved(kernel, first));
    damage_ = run.launch(*backend().load(kernel), kernel).damage;
    std::array<std::int64_t, kItemsAtAnEnd> items{};
    std::iota(items.begin(), items.end(), 0);
    const Comparison begin = run.compare_items(kernel, items);
    std::iota(items.begin(), items.end(), last);
    const Comparison end = run.compare_items(kernel, items);
    wrong_at_begin_ = begin.failed(), wrong_at_end_ = end.failed();
    compared_ = std::min(begin.compared(), end.compared());
  }

  [[nodiscard]] Kernel with_edits(const Narrow& narrow) const {
    const Kernel kernel = right(narrow.pass);
    return kernel.with_kernel_source(edited(kernel.kernel_source(), narrow.edits));
  }

  std::vector<std::string> damage_;
  bool wrong_at_begin_ = false;
  bool wrong_at_end_ = false;
  std::int64_t compared_ = 0;  // at either end

 private:
  // What backward reads as saved comes from the reference.
  [[nodiscard]] Items items_with_saved(const Kernel& kernel, std::int64_t first) const {
    Items items = InputSource(request_).read(first, kItemsAtAnEnd);
    Reference forward;
    request_.loss->evaluate({Pass::forward, request_.dtype, request_.convention}, items, forward);
    for (const Argument& argument : kernel.arguments()) {
      if (argument.role == ArgumentRole::saved && kernel.pass() == Pass::backward)
        items.values[argument.name] = forward.at(argument.name).sharp_low;
    }
    return items;
  }

  CheckRequest request_;
};

TEST_P(LargeSizesGpu, BuiltInKernelsAreRightAtBothEnds) {
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    SCOPED_TRACE(name(pass));
    launch(pass);
    EXPECT_THAT(damage_, ::testing::IsEmpty());
    EXPECT_FALSE(wrong_at_begin_);
    EXPECT_FALSE(wrong_at_end_);
    EXPECT_GE(compared_, kItemsAtAnEnd);
  }
}

TEST_P(LargeSizesGpu, OffsetsOf32BitsAreSeen) {
  for (const Narrow& narrow : GetParam().narrow) {
    SCOPED_TRACE(narrow.name);
    launch(narrow.pass, &narrow);
    EXPECT_TRUE(wrong_at_end_);
    EXPECT_EQ(wrong_at_begin_, narrow.overwrites);
  }
}

INSTANTIATE_TEST_SUITE_P(Beyond32Bits, LargeSizesGpu, ::testing::Values(large_ciou(), large_cosine()),
                         [](const auto& instance) { return instance.param.loss; });

}  // namespace
}  // namespace lossgrad
