// SPDX-License-Identifier: Apache-2.0
// Reading the files of data/golden: what they hold is in README.md there.
#pragma once

#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "math/dtype.hpp"

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

inline nlohmann::json load(const std::string& file) {
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

}  // namespace lossgrad::golden
