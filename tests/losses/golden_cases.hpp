// SPDX-License-Identifier: Apache-2.0
// The reported cases of data/golden: what the files hold is in README.md there.
#pragma once

#include <array>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "losses/loss.hpp"

namespace lossgrad::golden {

inline double number(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = value.get<std::string>();
  const double infinity = std::numeric_limits<double>::infinity();
  if (text == "inf") return infinity;
  if (text == "-inf") return -infinity;
  return std::numeric_limits<double>::quiet_NaN();
}

inline Dtype dtype_of(const nlohmann::json& entry) {
  const std::string text = entry.at("dtype");
  return text == "float64" ? Dtype::f64 : text == "float32" ? Dtype::f32 : Dtype::f16;
}

inline std::vector<double> flat(const nlohmann::json& rows) {
  std::vector<double> values;
  for (const auto& row : rows) {
    if (row.is_array()) {
      for (const auto& value : row) values.push_back(number(value));
    } else {
      values.push_back(number(row));
    }
  }
  return values;
}

inline nlohmann::json load(const std::string& file = "ciou_reported.json") {
  std::ifstream stream(std::string(LOSSGRAD_SOURCE_DIR) + "/data/golden/" + file);
  return nlohmann::json::parse(stream);
}

inline nlohmann::json find_case(const nlohmann::json& document, const std::string& id) {
  for (const auto& entry : document.at("cases")) {
    if (entry.at("id") == id) return entry;
  }
  throw std::out_of_range("there is no case " + id);
}

inline std::vector<std::string> ids(const nlohmann::json& document) {
  std::vector<std::string> all;
  for (const auto& entry : document.at("cases")) all.push_back(entry.at("id"));
  return all;
}

// CIoU. Inputs rounded to the case's dtype.
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
  const nlohmann::json document = load();
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
