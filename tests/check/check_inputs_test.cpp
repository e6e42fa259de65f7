// SPDX-License-Identifier: Apache-2.0
// The check on inputs from files that prove little or are not finite. (Real ones: check_pairs_test.)
#include <array>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check_support.hpp"
#include "math/random.hpp"

namespace lossgrad {
namespace {

using check_support::ciou_request;
using check_support::expect_none_failed;
using check_support::expect_passed;
using check_support::find;
using check_support::host;
using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Inputs = std::map<std::string, std::vector<double>>;

Inputs generated(Dtype dtype, std::int64_t boxes, const std::string& scenario = "overlapping") {
  Items items;
  items.count = boxes;
  find_loss("ciou").generate(scenario, dtype, 1, items);
  return {{"pred", items.values["pred"]}, {"target", items.values["target"]}, {"dy", items.values["dy"]}};
}

CheckRequest file_request(Dtype dtype, const std::string& convention, std::int64_t boxes, Inputs inputs) {
  CheckRequest request = ciou_request(dtype, convention, boxes);
  request.inputs = std::move(inputs);
  request.skip = {"repeatability"};
  return request;
}

TEST(CheckInputs, GivenValuesAreCheckedLikeGeneratedOnes) {
  for (const Dtype dtype : kAllDtypes) {
    CheckRequest request = file_request(dtype, "yolo", 1000, generated(dtype, 1000));
    request.files = {{"pred", "p.npy"}, {"target", "t.npy"}};
    const auto from_files = check_case(request, host());
    CheckRequest plain = ciou_request(dtype, "yolo", 1000, "overlapping");
    plain.skip = request.skip;
    const auto from_scenario = check_case(plain, host());
    ASSERT_EQ(from_files.size(), from_scenario.size());
    for (std::size_t i = 0; i < from_files.size(); ++i) {
      EXPECT_EQ(from_files[i].case_id.scenario, "file");
      EXPECT_EQ(from_files[i].case_id.files, request.files);
      EXPECT_EQ(from_files[i].compared, from_scenario[i].compared);
      EXPECT_EQ(name(from_files[i].verdict), name(from_scenario[i].verdict));
      EXPECT_EQ(check_support::largest_usage(from_files[i]), check_support::largest_usage(from_scenario[i]));
    }
  }
}

TEST(CheckInputs, WithoutDyOneIsDrawn) {
  Inputs inputs = generated(Dtype::f32, 500);
  inputs.erase("dy");
  for (const CheckResult& result : check_case(file_request(Dtype::f32, "yolo", 500, inputs), host())) {
    if (result.verdict != Verdict::skipped) expect_passed(result);
  }
}

TEST(CheckInputs, ForwardAloneNeedsNoDy) {
  Inputs inputs = generated(Dtype::f32, 500);
  inputs.erase("dy");
  CheckRequest request = file_request(Dtype::f32, "yolo", 500, inputs);
  request.passes = {Pass::forward};
  const auto results = check_case(request, host());
  EXPECT_EQ(results.size(), 4u);
  expect_none_failed(results);
}

// The reference of f64 has no more range than the kernel: what comes near its ends is counted, not compared.
TEST(CheckInputs, NothingFailsNearTheEndsOfTheRangeOfF64) {
  constexpr std::int64_t kBoxes = 400;
  for (const int largest : {60, 160, 307}) {
    Inputs inputs;
    for (std::int64_t e = 0; e < 4 * kBoxes; ++e) {
      for (const char* argument : {"pred", "target"}) {
        ItemRandom random(7, argument[0] == 'p' ? 1 : 2, e);
        // Half of the numbers are ordinary ones.
        const double exponent =
            random.uniform() < 0.5 ? random.uniform() * 3 : (2 * random.uniform() - 1) * largest;
        const double sign = e < 2 * kBoxes && random.uniform() < 0.5 ? -1 : 1;
        inputs[argument].push_back(sign * std::pow(10.0, exponent));
      }
    }
    for (const NamedChoice& convention : find_loss("ciou").conventions())
      expect_none_failed(check_case(file_request(Dtype::f64, convention.name, kBoxes, inputs), host()));
  }
}

TEST(CheckInputs, NothingFailsOfRowsThatSpanTheRangeOfF64) {
  constexpr std::int64_t kRows = 200, kDim = 5;
  for (const int largest : {60, 120, 300}) {
    Inputs inputs;
    for (std::int64_t e = 0; e < kRows * kDim; ++e) {
      for (const char* argument : {"x1", "x2"}) {
        ItemRandom random(9, argument[1] == '1' ? 1 : 2, e);
        const double size = std::pow(10.0, (2 * random.uniform() - 1) * largest);
        inputs[argument].push_back(random.uniform() < 0.5 ? -size : size);
      }
    }
    for (std::int64_t i = 0; i < kRows; ++i) inputs["y"].push_back(i % 2 == 0 ? 1 : -1);
    for (const NamedChoice& convention : find_loss("cosine").conventions()) {
      CheckRequest request = check_support::cosine_request(Dtype::f64, convention.name, {kRows, kDim});
      request.inputs = inputs;
      request.skip = {"repeatability"};
      expect_none_failed(check_case(request, host()));
    }
  }
}

TEST(CheckInputs, FilesWithoutBoxes) {
  const auto results =
      check_case(file_request(Dtype::f32, "yolo", 0, {{"pred", {}}, {"target", {}}}), host());
  EXPECT_EQ(results.size(), 11u);
  expect_none_failed(results);
  for (const CheckResult& result : results) {
    if (result.check == "repeatability") continue;
    EXPECT_EQ(name(result.verdict), "mistrusted") << check_support::label(result);
    EXPECT_EQ(result.compared, 0);
  }
}

TEST(CheckInputs, OneBoxFromAFile) {
  for (const Dtype dtype : kAllDtypes) {
    Inputs inputs = generated(dtype, 1);
    inputs.at("dy") = {-1.5};
    const auto results = check_case(file_request(dtype, "yolo", 1, inputs), host());
    expect_none_failed(results);
    expect_passed(find(results, Pass::backward, "reference"));
  }
}

// Puts one of `values` into one of `components` (0 to 3 of pred, 4 to 7 of target) of every fourth box, all
// pairs in turn.
Inputs with_some(Inputs inputs, const std::vector<double>& values,
                 const std::vector<std::size_t>& components) {
  const std::size_t boxes = inputs["dy"].size();
  for (std::size_t i = 0; i < boxes; i += 4) {
    const double value = values[i / 4 % values.size()];
    const std::size_t component = components[i / 4 / values.size() % components.size()];
    inputs[component < 4 ? "pred" : "target"][component % 4 * boxes + i] = value;
  }
  return inputs;
}

// Accepted, counted, and propagated as the reference says by every built-in kernel.
void expect_propagated(const std::vector<double>& values, const std::vector<std::size_t>& components) {
  constexpr std::int64_t kBoxes = 600;
  for (const Dtype dtype : kAllDtypes) {
    for (const NamedChoice& convention : find_loss("ciou").conventions()) {
      SCOPED_TRACE(std::string(name(dtype)) + ' ' + convention.name);
      const Inputs inputs = with_some(generated(dtype, kBoxes), values, components);
      const auto results = check_case(file_request(dtype, convention.name, kBoxes, inputs), host());
      for (const CheckResult& result : results) {
        if (result.verdict != Verdict::skipped) expect_passed(result);
      }
      for (const Pass pass : {Pass::forward, Pass::backward}) {
        EXPECT_EQ(find(results, pass, "reference").non_finite_items, kBoxes / 4);
      }
    }
  }
}

TEST(CheckInputs, NanBoxesAreAcceptedPropagatedAndCounted) {
  expect_propagated({kNan}, {0, 1, 2, 3, 4, 5, 6, 7});
}

TEST(CheckInputs, InfiniteCentresAreAcceptedPropagatedAndCounted) {
  expect_propagated({kInf, -kInf}, {0, 1, 4, 5});
}

TEST(CheckInputs, InfiniteSizesAreAcceptedPropagatedAndCounted) {
  expect_propagated({kInf, -kInf}, {2, 3, 6, 7});
}

TEST(CheckInputs, NonFiniteDyIsAcceptedAndCountedInBackward) {
  for (const Dtype dtype : kAllDtypes) {
    Inputs inputs = generated(dtype, 300);
    inputs["dy"][3] = kNan;
    inputs["dy"][100] = kInf;
    inputs["dy"][299] = -kInf;
    const auto results = check_case(file_request(dtype, "yolo", 300, inputs), host());
    expect_none_failed(results);
    EXPECT_EQ(find(results, Pass::forward, "reference").non_finite_items, 0);
    EXPECT_EQ(find(results, Pass::backward, "reference").non_finite_items, 3);
    expect_passed(find(results, Pass::backward, "reference"));
  }
}

TEST(CheckInputs, EverythingNan) {
  const std::vector<double> boxes(4 * 100, kNan);
  const auto results =
      check_case(file_request(Dtype::f32, "yolo", 100, {{"pred", boxes}, {"target", boxes}}), host());
  expect_none_failed(results);
  EXPECT_EQ(find(results, Pass::forward, "reference").non_finite_items, 100);
  EXPECT_EQ(name(find(results, Pass::backward, "oracles").verdict), "mistrusted");
}

TEST(CheckInputs, ZeroDyProvesLittle) {
  for (const Dtype dtype : kAllDtypes) {
    Inputs inputs = generated(dtype, 400);
    inputs["dy"].assign(400, 0.0);
    const auto results = check_case(file_request(dtype, "yolo", 400, inputs), host());
    expect_none_failed(results);
    expect_passed(find(results, Pass::forward, "reference"));
    for (const char* check : {"reference", "own_saved"}) {
      const CheckResult& result = find(results, Pass::backward, check);
      EXPECT_EQ(name(result.verdict), "mistrusted");
      EXPECT_THAT(result.reason,
                  ::testing::MatchesRegex(
                      "100 % of the gradients \\([0-9]+ of [0-9]+\\) are zero within their bounds"));
      EXPECT_EQ(result.compared, 1600);
    }
  }
}

// The gradients of equal rows are zero, but what is left of rounding seldom is.
TEST(CheckInputs, EqualRowsFromFilesProveLittle) {
  for (const Dtype dtype : kAllDtypes) {
    CheckRequest request = check_support::cosine_request(dtype, "exact", {64, 16}, "gaussian");
    Items items;
    items.count = 64;
    items.sizes = request.sizes;
    items.parameters = request.parameters;
    find_loss("cosine").generate("gaussian", dtype, 1, items);
    request.inputs = {
        {"x1", items.values["x1"]}, {"x2", items.values["x1"]}, {"y", std::vector<double>(64, 1.0)}};
    const auto results = check_case(request, host());
    expect_none_failed(results);
    expect_passed(find(results, Pass::forward, "reference"));
    const CheckResult& result = find(results, Pass::backward, "reference");
    EXPECT_EQ(name(result.verdict), "mistrusted") << name(dtype);
    EXPECT_EQ(result.reason, "100 % of the gradients (2048 of 2048) are zero within their bounds");
  }
}

TEST(CheckInputs, FewZerosInDyAreFine) {
  Inputs inputs = generated(Dtype::f32, 400);
  for (std::size_t i = 0; i < 400; i += 2) inputs["dy"][i] = 0;
  const auto results = check_case(file_request(Dtype::f32, "yolo", 400, inputs), host());
  expect_passed(find(results, Pass::backward, "reference"));
}

TEST(CheckInputs, IdenticalBoxesFromFilesProveLittle) {
  for (const Dtype dtype : kAllDtypes) {
    Inputs inputs = generated(dtype, 400);
    inputs["pred"] = inputs["target"];
    const auto results = check_case(file_request(dtype, "yolo", 400, inputs), host());
    expect_none_failed(results);
    const CheckResult& result = find(results, Pass::backward, "reference");
    EXPECT_EQ(name(result.verdict), "mistrusted");
    EXPECT_THAT(result.reason, ::testing::MatchesRegex("[0-9]+ % of the elements \\([0-9]+ of [0-9]+\\) are "
                                                       "kinks, unbounded, out of range or not finite"));
    EXPECT_GE(result.kinks + result.unbounded + result.out_of_range, 1500) << "all but those whose dy is 0";
  }
}

// The scenario's name must not excuse boxes that do not come from it.
TEST(CheckInputs, IdenticalBoxesFromFilesProveLittleWhateverTheScenario) {
  Inputs inputs = generated(Dtype::f32, 400);
  inputs["pred"] = inputs["target"];
  CheckRequest request = file_request(Dtype::f32, "yolo", 400, inputs);
  request.scenario = "identical";
  const auto results = check_case(request, host());
  EXPECT_EQ(name(find(results, Pass::backward, "reference").verdict), "mistrusted");
  EXPECT_EQ(name(find(results, Pass::backward, "oracles").verdict), "mistrusted");
}

TEST(CheckInputs, OneBoxRepeated) {
  Inputs inputs = generated(Dtype::f32, 400);
  for (auto& [argument, values] : inputs) {
    for (std::size_t e = 0; e < values.size(); ++e) values[e] = values[e / 400 * 400];
  }
  expect_none_failed(check_case(file_request(Dtype::f32, "yolo", 400, inputs), host()));
}

// Boxes on which the formula is at its limits: a right kernel must not fail there.
struct OddBox {
  const char* name;
  Dtype dtype;
  const char* convention;
  std::array<double, 4> pred, target;
};

const std::vector<OddBox>& odd_boxes() {
  static const std::vector<OddBox> boxes = {
      {"enclosing_of_size_zero", Dtype::f32, "yolo", {1, 1, 0, -3}, {1, -1, 0, -1}},
      {"area_minus_eps", Dtype::f32, "yolo", {10, 10, 1, -1e-7}, {10, 10, 0, 0}},
      {"overflow_f64",
       Dtype::f64,
       "torchvision",
       {2.2919392127536874e+286, 1.0033394185907942e+286, 2.9470467734454265e+286, 1.2673585217036323e+286},
       {6.654151140478036e+285, 1.6185629291284585e+285, 5.237938406100297e+285, 1.1248610616811686e+286}},
      {"infinite_and_largest",
       Dtype::f64,
       "yolo",
       {5e-324, 1e-7, -kInf, -1.797e308},
       {1, 1, 1.797e308, 5e-324}},
      {"largest_sizes", Dtype::f64, "torchvision", {1, 1, 1.797e308, -1.797e308}, {1, 1, 1, 1}},
      {"subnormal", Dtype::f32, "torchvision", {0, 0, 0, 1e-45}, {1, 0, 1, 1}},
      {"huge_f64", Dtype::f64, "yolo", {1e80, 1e79, 2e80, 1e80}, {1.1e80, 2e79, 5e77, 1.9e80}},
      {"mixed_magnitudes_f64", Dtype::f64, "yolo", {5, 6, 1e100, 1e100}, {5, 5, 1e99, 1e100}},
      {"height_minus_eps", Dtype::f32, "yolo", {0, 0, 1, -1}, {0, 0, 1, -1e-7}},
      {"infinite_height", Dtype::f32, "yolo", {0, 0, 1, -1}, {0, 0, kInf, -1e-7}}};
  return boxes;
}

void expect_nothing_fails(CheckRequest request, const std::vector<double>& pred,
                          const std::vector<double>& target) {
  const auto count = static_cast<std::int64_t>(pred.size() / 4);
  request.sizes = {{"N", count}};
  request.inputs = {{"pred", pred}, {"target", target}, {"dy", std::vector<double>(pred.size() / 4, 1.0)}};
  for (auto* values : {&request.inputs["pred"], &request.inputs["target"]}) {
    for (double& x : *values) x = round_to(request.dtype, x);
  }
  expect_none_failed(check_case(request, host()));
}

TEST(CheckInputs, OddBoxesFailNoRightKernel) {
  for (const OddBox& box : odd_boxes()) {
    SCOPED_TRACE(box.name);
    expect_nothing_fails(ciou_request(box.dtype, box.convention, 1), {box.pred.begin(), box.pred.end()},
                         {box.target.begin(), box.target.end()});
  }
}

TEST(CheckInputs, SmallWholeNumbersFailNoRightKernel) {
  constexpr std::int64_t kBoxes = 2000;
  for (const Dtype dtype : kAllDtypes) {
    for (const NamedChoice& convention : find_loss("ciou").conventions()) {
      SCOPED_TRACE(std::string(name(dtype)) + " " + convention.name);
      std::vector<double> pred, target;
      ItemRandom random(7, 0, 0);
      for (std::int64_t i = 0; i < 4 * kBoxes; ++i) {
        pred.push_back(static_cast<double>(random.integer(-3, 3)));
        target.push_back(static_cast<double>(random.integer(-3, 3)));
      }
      CheckRequest request = ciou_request(dtype, convention.name, kBoxes);
      request.fd_samples = 500;
      request.skip = {"guards", "repeatability"};
      expect_nothing_fails(request, pred, target);
    }
  }
}

// All NaN: a kernel that writes NaN everywhere would agree as well.
TEST(CheckInputs, NothingButNanProvesNothing) {
  CheckRequest request = ciou_request(Dtype::f32, "yolo", 40);
  request.skip = {"guards", "repeatability", "oracles", "self_consistency"};
  const std::vector<double> nans(160, kNan);
  request.inputs = {{"pred", nans}, {"target", nans}, {"dy", std::vector<double>(40, 1.0)}};
  for (const CheckResult& result : check_case(request, host())) {
    if (result.check == "reference" || result.check == "own_saved") {
      EXPECT_EQ(name(result.verdict), "mistrusted") << check_support::label(result);
    }
  }
}

}  // namespace
}  // namespace lossgrad
