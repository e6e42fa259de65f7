// SPDX-License-Identifier: Apache-2.0
// The reported CIoU cases of data/golden/ciou_reported.json.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "losses/golden_file.hpp"
#include "losses/loss.hpp"

namespace lossgrad::golden {

inline nlohmann::json load_ciou() { return load("ciou_reported.json"); }

// Inputs rounded to the case's dtype.
inline Items items_of(const nlohmann::json& entry) {
  const auto& inputs = entry.at("inputs");
  Items items;
  items.count = static_cast<std::int64_t>(inputs.at("dy").size());
  for (const char* argument : {"pred", "target", "dy"}) {
    auto values = flat(inputs.at(argument));
    for (double& value : values) value = round_to(dtype_of(entry), value);
    items.values[argument] = std::move(values);
  }
  return items;
}

// Cases that list their inputs (one, with 257 boxes, gives formulas instead).
inline std::vector<nlohmann::json> listed_cases() {
  std::vector<nlohmann::json> cases;
  const nlohmann::json document = load_ciou();
  for (const auto& entry : document.at("cases")) {
    if (entry.at("inputs").contains("pred")) cases.push_back(entry);
  }
  return cases;
}

inline constexpr const char* kCaseOf257Boxes = "ciou-h23-tail-257";

// The formulas of that case.
inline Items items_of_257_boxes() {
  const std::size_t n = 257;
  Items items;
  items.count = n;
  auto& pred = items.values["pred"];
  auto& target = items.values["target"];
  pred.resize(4 * n), target.resize(4 * n);
  items.values["dy"].assign(n, 1.0);
  for (std::size_t i = 0; i < n; ++i) {
    const auto mod = [&](std::size_t m) { return static_cast<double>(i % m); };
    const std::array p = {mod(17) * 0.5, mod(13) * 0.25, 1 + mod(7) * 0.5, 1 + mod(5) * 0.75};
    const std::array t = {p[0] + 0.140625, p[1] - 0.390625, 1.25 + mod(3) * 0.5, 1.5 + mod(4) * 0.5};
    for (std::size_t c = 0; c < 4; ++c) pred[c * n + i] = p[c], target[c * n + i] = t[c];
  }
  return items;
}

}  // namespace lossgrad::golden
