// SPDX-License-Identifier: Apache-2.0
// Propagation of what is not finite: the check at its own sizes, and the scenario non_finite. (Wrong kernels:
// selftest.)
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check_support.hpp"

namespace lossgrad {
namespace {

using check_support::ciou_request;
using check_support::cosine_request;
using check_support::expect_none_failed;
using check_support::expect_passed;
using check_support::find;
using check_support::host;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

CheckRequest only_propagation(CheckRequest request) {
  for (const CheckName& check : check_names()) {
    if (check.name != "propagation") request.skip.insert(check.name);
  }
  return request;
}

void expect_both_pass(const CheckRequest& request) {
  const auto results = check_case(only_propagation(request), host());
  for (const Pass pass : {Pass::forward, Pass::backward}) expect_passed(find(results, pass, "propagation"));
}

TEST(Propagation, BringsItsOwnSize) {
  for (const std::int64_t boxes : {0, 1, 5000}) expect_both_pass(ciou_request(Dtype::f32, "yolo", boxes));
}

TEST(Propagation, LooksAtTwoBlocksAndATail) {
  const auto results =
      check_case(only_propagation(ciou_request(Dtype::f32, "yolo", 0, "overlapping")), host());
  constexpr std::int64_t kBoxes = 2 * 256 + 32 + 1;
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const std::int64_t compared = find(results, pass, "propagation").compared;
    // With NaN and with infinity, for pred, target and (backward) dy, in scattered boxes and in those at the
    // ends; with -infinity in the scattered ones.
    const std::int64_t launches = (2 * 2 + 1) * (pass == Pass::forward ? 2 : 3);
    EXPECT_LE(compared, launches * 4 * kBoxes);
    EXPECT_GT(compared, 9 * launches * 4 * kBoxes / 10);
  }
}

TEST(Propagation, FewLongRows) {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16})
    expect_both_pass(cosine_request(dtype, "exact", {2, 65536}, "gaussian"));
}

TEST(Propagation, EveryConventionOfShortRows) {
  for (const NamedChoice& convention : find_loss("cosine").conventions())
    expect_both_pass(cosine_request(Dtype::f32, convention.name, {10, 1}));
}

CheckRequest with_nan(std::int64_t boxes, std::int64_t every) {
  CheckRequest request = ciou_request(Dtype::f32, "yolo", boxes, "overlapping");
  Items items;
  items.count = boxes;
  request.loss->generate("overlapping", Dtype::f32, 1, items);
  request.inputs = items.values;
  for (std::int64_t i = 0; i < boxes; i += every) request.inputs["pred"][static_cast<std::size_t>(i)] = kNan;
  return request;
}

TEST(Propagation, BoxesThatHaveANanAlreadyGiveWayToOthers) { expect_both_pass(with_nan(100, 2)); }

TEST(Propagation, NothingButNanProvesNothing) {
  const auto results = check_case(only_propagation(with_nan(100, 1)), host());
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const CheckResult& result = find(results, pass, "propagation");
    EXPECT_EQ(name(result.verdict), "mistrusted");
    EXPECT_EQ(result.reason, "nothing was checked");
    EXPECT_EQ(result.compared, 0);
  }
}

// The built-in kernels with `from` replaced by `to` in their text.
CheckRequest with_edit(const std::string& from, const std::string& to) {
  CheckRequest request = only_propagation(ciou_request(Dtype::f32, "yolo", 100, "overlapping"));
  request.make_kernel = [from, to](const KernelOptions& options) -> std::optional<Kernel> {
    const Kernel kernel = find_loss("ciou").kernel(options);
    std::string source = kernel.kernel_source();
    source.replace(source.find(from), from.size(), to);
    return kernel.with_kernel_source(source);
  };
  return request;
}

// v depends on the sizes alone: of a box with a NaN in its centre it is a number, and wrong.
const std::string kStoresV = "store_value(v + i, v_value);";

// Not said of a kernel that writes the same whatever it reads.
TEST(Propagation, KernelThatIsWrongAnywayIsNotBlamedForItsNumbers) {
  const CheckRequest request = with_edit(kStoresV, "store_value(v + i, C(2) * v_value);");
  expect_passed(find(check_case(request, host()), Pass::forward, "propagation"));
}

// But for what a NaN does to other boxes.
TEST(Propagation, KernelThatIsWrongAnywayMustNotSpill) {
  const CheckRequest request = with_edit(
      kStoresV, "store_value(v + i, C(2) * v_value + C(0) * load_value(pred + (i + 1 < N ? i + 1 : i)));");
  const auto results = check_case(request, host());
  const CheckResult& result = find(results, Pass::forward, "propagation");
  EXPECT_EQ(name(result.verdict), "failed");
  EXPECT_THAT(result.reason, ::testing::HasSubstr("changed because of a NaN in another box"));
}

TEST(NonFiniteScenario, PassesAndCountsWhatIsNotCompared) {
  for (const CheckRequest& request : {ciou_request(Dtype::f32, "yolo", 2000, "non_finite"),
                                      cosine_request(Dtype::f16, "exact", {2000, 9}, "non_finite")}) {
    const auto results = check_case(request, host());
    expect_none_failed(results);
    // A quarter of the items, a third of these in dy, which is no input of forward.
    EXPECT_NEAR(static_cast<double>(find(results, Pass::forward, "reference").non_finite_items), 333, 60);
    EXPECT_NEAR(static_cast<double>(find(results, Pass::backward, "reference").non_finite_items), 500, 75);
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      const CheckResult& result = find(results, pass, "reference");
      expect_passed(result);
      // A cosine with an infinity is NaN, for which no number but 0 may stand.
      EXPECT_EQ(result.out_of_range > 0, request.loss->name() == "ciou");
      expect_passed(find(results, pass, "guards"));
      expect_passed(find(results, pass, "propagation"));
    }
    EXPECT_EQ(find(results, Pass::backward, "reference").unbounded > 0, request.loss->name() == "ciou");
  }
}

}  // namespace
}  // namespace lossgrad
