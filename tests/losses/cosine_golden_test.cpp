// SPDX-License-Identifier: Apache-2.0
// The cosine reference against values computed elsewhere in 160-digit arithmetic.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "losses/cosine/cosine_kernel.hpp"
#include "losses/cosine_golden_cases.hpp"

namespace lossgrad {
namespace {

using golden::CosineCase;

Reference reference_of(const CosineCase& entry, Pass pass) {
  Reference reference;
  find_loss("cosine").evaluate({pass, entry.dtype, entry.convention}, entry.items, reference);
  return reference;
}

// The largest magnitude of each row's expected values: what cancels is small against it. For a gradient that
// is zero, one over the norm.
std::vector<double> scales_of_rows(const CosineCase& entry, const std::string& output) {
  const auto rows = static_cast<std::size_t>(entry.items.count);
  std::vector<double> scales(rows, 1);
  if (output == "loss") return scales;
  const auto n_dim = static_cast<std::size_t>(entry.items.sizes.at("n_dim"));
  const auto own = entry.items.at(output == "dx1" ? "x1" : "x2");
  for (std::size_t row = 0; row < rows; ++row) {
    double square = 0, largest = 0;
    for (std::size_t k = row * n_dim; k < (row + 1) * n_dim; ++k) {
      square += own[k] * own[k];
      largest = std::max(largest, std::abs(entry.expected(output)[k]));
      largest = std::max(largest, std::abs(entry.other_end(output)[k]));
    }
    scales[row] = std::max(largest, square > 0 ? 1 / std::sqrt(square) : 0);
  }
  return scales;
}

// The hull spans from one right value to the other, and no farther; every end is within the bound. Returns
// how many elements it compared.
int expect_hull(const CosineCase& entry, const std::string& output, const ReferenceValues& got) {
  const auto& one = entry.expected(output);
  const auto& other = entry.other_end(output);
  EXPECT_EQ(got.low.size(), one.size()) << entry.label() << ' ' << output;
  if (got.low.size() != one.size()) return 0;
  const auto scales = scales_of_rows(entry, output);
  for (std::size_t e = 0; e < one.size(); ++e) {
    const std::string what = entry.label() + ' ' + output + ' ' + std::to_string(e);
    const double low = std::min(one[e], other[e]), high = std::max(one[e], other[e]);
    EXPECT_TRUE(std::isfinite(got.bound[e])) << what;
    EXPECT_LE(got.sharp_bound[e], got.bound[e]) << what;
    EXPECT_GE(low, got.low[e] - got.bound[e]) << what;
    EXPECT_LE(high, got.high[e] + got.bound[e]) << what;
    EXPECT_GE(low, got.sharp_low[e] - got.sharp_bound[e]) << what;
    EXPECT_LE(high, got.sharp_high[e] + got.sharp_bound[e]) << what;
    const double double_rounding = 1e-13 * scales[e * scales.size() / one.size()];
    EXPECT_NEAR(got.low[e], low, double_rounding) << what;
    EXPECT_NEAR(got.high[e], high, double_rounding) << what;
    if (high > low) {
      EXPECT_NE(got.flags[e] & kKink, 0) << what;
    }
  }
  return static_cast<int>(one.size());
}

TEST(CosineGolden, EveryReportedCaseIsHere) {
  const auto all = golden::ids(golden::load_cosine());
  ASSERT_EQ(all.size(), 12u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string digits = std::to_string(i + 1);
    EXPECT_EQ(all[i].rfind("cos-h" + std::string(digits.size() < 2 ? "0" : "") + digits + '-', 0), 0u)
        << all[i];
  }
  std::set<std::string> listed = {golden::kIndexOverflowCase};
  for (const CosineCase& entry : golden::cosine_cases()) listed.insert(entry.id);
  EXPECT_EQ(listed, std::set<std::string>(all.begin(), all.end()));
}

TEST(CosineGolden, LossesAndGradients) {
  std::map<std::string, int> compared, cases;
  for (const CosineCase& entry : golden::cosine_cases()) {
    ++cases[entry.convention];
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      for (const auto& [output, values] : reference_of(entry, pass))
        compared[output] += expect_hull(entry, output, values);
    }
  }
  EXPECT_EQ(cases["exact"], 10);
  EXPECT_EQ(cases["torch"], 2);
  EXPECT_EQ(cases["similarity"], 2);
  EXPECT_EQ(cases["product"], 2);
  EXPECT_EQ(compared["loss"], 28);
  EXPECT_EQ(compared["dx1"], 155);
  EXPECT_EQ(compared["dx2"], 155);
}

// Both ends of every segment of right gradients, and the middle, are within the hull.
TEST(CosineGolden, SegmentsAtKinks) {
  int segments = 0;
  for (const CosineCase& entry : golden::cosine_cases()) {
    const Reference backward = reference_of(entry, Pass::backward);
    for (const auto& [output, values] : backward) {
      for (std::size_t e = 0; e < values.low.size(); ++e) {
        const double one = entry.expected(output)[e], other = entry.other_end(output)[e];
        if (one == other) continue;
        for (const double right : {one, other, 0.5 * (one + other)}) {
          EXPECT_GE(right, values.low[e] - values.bound[e]) << entry.label() << ' ' << output << ' ' << e;
          EXPECT_LE(right, values.high[e] + values.bound[e]) << entry.label() << ' ' << output << ' ' << e;
        }
        ++segments;
      }
    }
  }
  // A margin tie (4 components of either gradient), a zero row by three rules (3 of dx1).
  EXPECT_EQ(segments, 2 * 4 + 3 * 3);
}

// Without eps a zero row is 0/0: the convention says so on purpose.
TEST(CosineGolden, ZeroRowsAreNanInExact) {
  int rows = 0;
  for (CosineCase entry : golden::cosine_cases()) {
    if (entry.id != "cos-h02-zero-row" || entry.convention != "torch") continue;
    entry.convention = "exact";
    const Reference forward = reference_of(entry, Pass::forward);
    for (const double loss : forward.at("loss").low) {
      EXPECT_TRUE(std::isnan(loss));
      ++rows;
    }
    for (const auto& [output, values] : reference_of(entry, Pass::backward)) {
      for (std::size_t e = 0; e < values.low.size(); ++e) {
        EXPECT_TRUE(std::isnan(values.low[e])) << output << e;
        EXPECT_EQ((values.flags[e] & kZeroToo) != 0, entry.items.at("y")[e / 3] < 0) << output << e;
      }
    }
  }
  EXPECT_EQ(rows, 2);
}

TEST(CosineGolden, OtherLabelsAreNotTaken) {
  int rejected = 0;
  for (const CosineCase& entry : golden::cosine_cases()) {
    rejected += entry.rejected_rows;
    if (entry.id == "cos-h05-target-not-pm1") {
      EXPECT_EQ(entry.rejected_rows, 3);
      EXPECT_EQ(entry.items.count, 2);
    }
  }
  EXPECT_EQ(rejected, 3);
  for (const Kernel& kernel : {static_cast<Kernel>(CosineEmbeddingLossForward(Dtype::f64, 4)),
                               static_cast<Kernel>(CosineEmbeddingLossBackward(Dtype::f64, 4))}) {
    const auto& arguments = kernel.arguments();
    const auto y = std::find_if(arguments.begin(), arguments.end(),
                                [](const Argument& argument) { return argument.name == "y"; });
    ASSERT_NE(y, arguments.end());
    EXPECT_EQ(y->allowed, (std::vector<double>{1, -1}));
  }
}

TEST(CosineGolden, TheMeanIsTheSumOverN) {
  const auto entry = golden::find_case(golden::load_cosine(), "cos-h06-mean-reduction");
  double mean = 0;
  for (const CosineCase& made : golden::cosine_cases()) {
    if (made.id != "cos-h06-mean-reduction") continue;
    const Reference forward = reference_of(made, Pass::forward);
    for (const double loss : forward.at("loss").low) mean += loss / 4;
    EXPECT_EQ(made.items.at("dy")[0], 0.25);
  }
  EXPECT_NEAR(mean, entry.at("expected").at("loss_mean").get<double>(), 1e-15);
}

TEST(CosineGolden, TheRowsOfTheIndexOverflowCase) {
  const CosineCase entry = golden::scaled_index_overflow_case(3);
  int compared = 0;
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    for (const auto& [output, values] : reference_of(entry, pass))
      compared += expect_hull(entry, output, values);
  }
  EXPECT_EQ(compared, 3 + 2 * 3 * 32768);
}

// What typical wrong implementations return is outside twice the bound.
bool rejected(const std::vector<double>& wrong, const ReferenceValues& right) {
  for (std::size_t e = 0; e < wrong.size(); ++e) {
    const double slack = 2 * right.bound[e];
    if (!(wrong[e] >= right.low[e] - slack && wrong[e] <= right.high[e] + slack)) return true;
  }
  return false;
}

// Wrong values of an output as the fault gives them: itself, its first row, or cos instead of the loss (of
// rows with label 1).
std::vector<double> wrong_values(const nlohmann::json& fault, const std::string& output) {
  if (fault.contains(output)) return golden::flat(fault.at(output));
  if (fault.contains(output + "_row0")) return golden::flat(fault.at(output + "_row0"));
  std::vector<double> losses;
  if (output == "loss" && fault.contains("cos")) {
    for (const double cosine : golden::flat(fault.at("cos"))) losses.push_back(1 - cosine);
  }
  return losses;
}

TEST(CosineGolden, KnownWrongValuesAreRejected) {
  int told_apart = 0;
  for (const CosineCase& entry : golden::cosine_cases()) {
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      for (const auto& [output, values] : reference_of(entry, pass)) {
        for (const auto& [fault, outputs] : entry.known_wrong.items()) {
          const auto wrong = wrong_values(outputs, output);
          if (wrong.empty()) continue;
          EXPECT_TRUE(rejected(wrong, values)) << entry.label() << ' ' << fault << ' ' << output;
          ++told_apart;
        }
      }
    }
  }
  // h01: 2, h02: 1 by three rules, h04: 2, h06: 2, h12: 2.
  EXPECT_EQ(told_apart, 11);
}

}  // namespace
}  // namespace lossgrad
