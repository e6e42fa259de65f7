// SPDX-License-Identifier: Apache-2.0
// The reported CIoU cases of data/golden/ciou_reported.json; "provenance" there says how the numbers were
// made.
#pragma once

#include <fstream>
#include <limits>
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

inline nlohmann::json load() {
  std::ifstream file(std::string(LOSSGRAD_SOURCE_DIR) + "/data/golden/ciou_reported.json");
  return nlohmann::json::parse(file);
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

}  // namespace lossgrad::golden
