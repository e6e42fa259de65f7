// SPDX-License-Identifier: Apache-2.0
// What the guards say of kernels that are wrong at one size or alignment alone. (Wrong kernels of other
// kinds: selftest.)
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check_support.hpp"
#include "check/input_source.hpp"
#include "kernel/source_edit.hpp"

namespace lossgrad {
namespace {

using check_support::ciou_request;
using check_support::find;
using check_support::host;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kBlock = 256;

CheckRequest only_guards(CheckRequest request, const SourceEdit& edit) {
  for (const CheckName& check : check_names()) {
    if (check.name != "guards") request.skip.insert(check.name);
  }
  request.diagnose = false;
  request.make_kernel = [edit, &loss = *request.loss](const KernelOptions& options) -> std::optional<Kernel> {
    const Kernel kernel = loss.kernel(options);
    return kernel.with_kernel_source(edited(kernel.kernel_source(), {edit}));
  };
  return request;
}

// Among so many gradients of 8 bits there is now and then a right one with the sentinel's value.
TEST(Guards, RightElementsThatEqualTheSentinelAreNotCalledUnwritten) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CheckRequest request = ciou_request(Dtype::bf16, "yolo", 4 * kBlock, "normalised");
    request.seed = seed;
    request.block = kBlock;
    request.passes = {Pass::backward};
    const auto results =
        check_case(only_guards(request, {"store_value(d_pred + i, upstream * d_cx);",
                                         "store_value(d_pred + i, N == 2 * BLOCK_N + 4 ? C(2) * "
                                         "upstream * d_cx : upstream * d_cx);"}),
                   host());
    const CheckResult& guards = find(results, Pass::backward, "guards");
    EXPECT_EQ(name(guards.verdict), "failed");
    EXPECT_THAT(guards.reason, HasSubstr("elements are wrong")) << seed;
    EXPECT_THAT(guards.reason, Not(HasSubstr("not written"))) << seed;
  }
}

// A box whose loss has no finite bound, so that any number will do, among those of a launch with bases off
// alignment; -1 where there is none.
std::int64_t unbounded_box(const CheckRequest& request) {
  constexpr std::int64_t kBoxes = 32;
  const Items items = InputSource(request).read(0, kBoxes);
  Reference reference;
  request.loss->evaluate({Pass::forward, request.dtype, request.convention}, items, reference);
  const ReferenceValues& loss = reference.at("loss");
  for (std::int64_t box = 0; box < kBoxes; ++box) {
    const auto at = static_cast<std::size_t>(box);
    if (std::isinf(loss.bound[at]) && (loss.flags[at] & kOverflow) == 0) return box;
  }
  return -1;
}

TEST(Guards, AnUnboundedElementUnwrittenOffAlignmentIsSeen) {
  CheckRequest request = ciou_request(Dtype::f16, "yolo", 4 * kBlock, "thin");
  request.block = kBlock;
  request.passes = {Pass::forward};
  std::int64_t box = -1;
  for (request.seed = 1; request.seed < 200; ++request.seed) {
    box = unbounded_box(request);
    if (box >= 0) break;
  }
  ASSERT_GE(box, 0);
  const std::string stored = "store_value(loss + i, one_minus_iou + d2 / c2 + alpha_value * v_value);";
  const auto results = check_case(
      only_guards(request,
                  {stored, "if (i != " + std::to_string(box) +
                               " || reinterpret_cast<unsigned long long>(loss) % 16 == 0) " + stored}),
      host());
  const CheckResult& guards = find(results, Pass::forward, "guards");
  EXPECT_EQ(name(guards.verdict), "failed");
  EXPECT_THAT(guards.reason, HasSubstr("off alignment"));
  EXPECT_THAT(guards.reason, HasSubstr("loss of box " + std::to_string(box) + " is not written"));
}

// That is what repeatability asks; here it is right whatever it gives.
TEST(Guards, AKernelThatDoesNotRepeatItsBitsOffAlignmentIsNotBlamedForSentinels) {
  for (const char* turns : {"2", "3"}) {
    CheckRequest request = ciou_request(Dtype::f32, "yolo", 4 * kBlock, "typical");
    request.block = kBlock;
    request.passes = {Pass::forward};
    const auto results = check_case(
        only_guards(request,
                    {"store_value(iou + i, iou_value);",
                     "static int launches = 0;\n"
                     "const bool other = i == 0 && reinterpret_cast<unsigned long long>(loss) % 16 != 0 && "
                     "launches++ % " +
                         std::string(turns) +
                         " == 0;\n"
                         "store_value(iou + i, other ? iou_value * C(1.0000002) : iou_value);"}),
        host());
    const CheckResult& guards = find(results, Pass::forward, "guards");
    EXPECT_EQ(name(guards.verdict), "passed") << turns << ": " << guards.reason;
  }
}

}  // namespace
}  // namespace lossgrad
