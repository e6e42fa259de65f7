// SPDX-License-Identifier: Apache-2.0
// The parts of every loss, pass and convention add up to the reference.
#include <cmath>

#include <gtest/gtest.h>

#include "losses/loss.hpp"

namespace lossgrad {
namespace {

Items drawn(const Loss& loss, const std::string& scenario, std::int64_t count) {
  Items items;
  items.count = count;
  items.sizes = default_sizes(loss);
  items.sizes[loss.item_size()] = count;
  if (items.sizes.contains("n_dim")) items.sizes["n_dim"] = 37;
  items.parameters = default_parameters(loss);
  if (items.parameters.contains("margin")) items.parameters["margin"] = 0.25;
  loss.generate(scenario, Dtype::f64, 3, items);
  return items;
}

// Elements compared.
int compare(const Loss& loss, Pass pass, const std::string& convention, const Items& items) {
  Reference reference;
  loss.evaluate({pass, Dtype::f64, convention}, items, reference);
  int compared = 0;
  for (std::int64_t i = 0; i < items.count; ++i) {
    const std::vector<LossPart> parts = loss.parts(pass, convention, items, i);
    EXPECT_GE(parts.size(), 2u);
    for (const auto& [output, unused] : parts.front().values) {
      const ReferenceValues& values = reference.at(output);
      const std::size_t components = parts.front().values.at(output).size();
      for (std::size_t c = 0; c < components; ++c) {
        const auto item = static_cast<std::size_t>(i), count = static_cast<std::size_t>(items.count);
        // [4, N] has its items last, [n_rows, n_dim] first.
        const std::size_t e = loss.name() == "ciou" ? c * count + item : item * components + c;
        if (values.flags[e] != 0 || !std::isfinite(values.sharp_bound[e]) || std::isnan(values.sharp_low[e]))
          continue;
        double sum = 0, magnitude = 0;
        for (const LossPart& part : parts) {
          sum += part.values.at(output)[c];
          magnitude += std::abs(part.values.at(output)[c]);
        }
        EXPECT_NEAR(sum, values.sharp_low[e], 2 * values.sharp_bound[e] + 1e-12 * magnitude)
            << loss.name() << ' ' << name(pass) << ' ' << convention << ' ' << output << ' ' << e;
        ++compared;
      }
    }
  }
  return compared;
}

TEST(LossParts, AddUpToTheReference) {
  for (const Loss* loss : all_losses()) {
    for (const NamedChoice& convention : loss->conventions()) {
      for (const ScenarioInfo& scenario : loss->scenarios()) {
        if (scenario.name == "non_finite") continue;
        const Items items = drawn(*loss, scenario.name, 40);
        for (const Pass pass : {Pass::forward, Pass::backward}) {
          const int compared = compare(*loss, pass, convention.name, items);
          if (scenario.name == loss->default_scenario()) {
            EXPECT_GT(compared, 20);
          }
        }
      }
    }
  }
}

TEST(LossParts, AreTheSameOnesForEveryItem) {
  for (const Loss* loss : all_losses()) {
    const Items items = drawn(*loss, loss->default_scenario(), 40);
    const std::string convention = loss->conventions().front().name;
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      const auto first = loss->parts(pass, convention, items, 0);
      for (std::int64_t i = 1; i < items.count; ++i) {
        const auto parts = loss->parts(pass, convention, items, i);
        ASSERT_EQ(parts.size(), first.size());
        for (std::size_t p = 0; p < parts.size(); ++p) EXPECT_EQ(parts[p].name, first[p].name);
      }
    }
  }
}

}  // namespace
}  // namespace lossgrad
