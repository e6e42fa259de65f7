// SPDX-License-Identifier: Apache-2.0
// The reported cosine cases of data/golden/cosine_reported.json as lossgrad takes them: packed rows, labels
// 1 and -1 only, a mean as dy / N. What differs from the report on purpose is in README.md there.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "losses/golden_file.hpp"
#include "losses/loss.hpp"

namespace lossgrad::golden {

struct CosineCase {
  std::string id;
  std::string convention;
  Dtype dtype = Dtype::f64;
  Items items;
  std::vector<double> loss, dx1, dx2;  // as expected, exact
  // One end of the segment of right gradients is dx1, dx2; the other one. Equal to them where unique.
  std::vector<double> other_dx1, other_dx2;
  int rejected_rows = 0;  // with labels that lossgrad does not take
  nlohmann::json known_wrong = nlohmann::json::object();

  [[nodiscard]] const std::vector<double>& expected(const std::string& output) const {
    return output == "loss" ? loss : output == "dx1" ? dx1 : dx2;
  }
  [[nodiscard]] const std::vector<double>& other_end(const std::string& output) const {
    return output == "loss" ? loss : output == "dx1" ? other_dx1 : other_dx2;
  }
  [[nodiscard]] std::string label() const { return id + ' ' + convention; }
};

inline nlohmann::json load_cosine() { return load("cosine_reported.json"); }

// The conventions that a case's eps rules are.
inline const std::vector<std::pair<std::string, std::string>>& eps_rules() {
  static const std::vector<std::pair<std::string, std::string>> rules = {
      {"none", "exact"}, {"sq_add", "torch"}, {"max_each", "similarity"}, {"max_prod", "product"}};
  return rules;
}

namespace detail {

inline std::vector<double> rounded_rows(const nlohmann::json& rows, Dtype dtype) {
  auto values = flat(rows);
  for (double& value : values) value = round_to(dtype, value);
  return values;
}

inline CosineCase cosine_case(const nlohmann::json& entry, const std::string& convention,
                              const nlohmann::json& expected) {
  const auto& inputs = entry.at("inputs");
  CosineCase made;
  made.id = entry.at("id");
  made.convention = convention;
  made.dtype = dtype_of(entry);
  made.known_wrong = entry.value("known_wrong", nlohmann::json::object());
  Items& items = made.items;
  items.count = static_cast<std::int64_t>(inputs.at("y").size());
  const auto n_dim = static_cast<std::int64_t>(inputs.at("x1").at(0).size());
  items.sizes = {{"n_rows", items.count}, {"n_dim", n_dim}};
  items.parameters = {{"margin", entry.at("options").at("margin").get<double>()}};
  for (const char* argument : {"x1", "x2", "y", "dy"})
    items.values[argument] = rounded_rows(inputs.at(argument), made.dtype);
  if (entry.at("options").at("reduction") == "mean") {
    for (double& dy : items.values["dy"]) dy /= static_cast<double>(items.count);
  }
  made.loss = flat(expected.at("loss"));
  made.dx1 = made.other_dx1 = flat(expected.at("dx1"));
  made.dx2 = made.other_dx2 = flat(expected.at("dx2"));
  for (const auto& set : expected.value("set", nlohmann::json::array())) {
    const auto begin = set.at("row").get<std::size_t>() * static_cast<std::size_t>(n_dim);
    for (std::size_t e = 0; e < static_cast<std::size_t>(n_dim); ++e) {
      made.dx1[begin + e] = number(set.at("dx1_segment").at(0).at(e));
      made.other_dx1[begin + e] = number(set.at("dx1_segment").at(1).at(e));
      made.dx2[begin + e] = number(set.at("dx2_segment").at(0).at(e));
      made.other_dx2[begin + e] = number(set.at("dx2_segment").at(1).at(e));
    }
  }
  return made;
}

inline void drop_row(std::vector<double>& values, std::size_t row, std::size_t rows) {
  const auto length = static_cast<std::ptrdiff_t>(values.size() / rows);
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row) * length;
  values.erase(begin, begin + length);
}

// Rows with a label that lossgrad does not take.
inline void drop_rejected_rows(CosineCase& made) {
  for (std::size_t row = made.loss.size(); row-- > 0;) {
    const double y = made.items.values["y"][row];
    if (y == 1 || y == -1) continue;
    const std::size_t rows = made.loss.size();
    for (auto& [argument, values] : made.items.values) drop_row(values, row, rows);
    for (auto* values : {&made.dx1, &made.dx2, &made.other_dx1, &made.other_dx2, &made.loss})
      drop_row(*values, row, rows);
    made.items.sizes["n_rows"] = --made.items.count;
    ++made.rejected_rows;
  }
  if (made.rejected_rows > 0) made.known_wrong = nlohmann::json::object();  // those of the rows left out
}

}  // namespace detail

// Every case that lists its inputs, once for each convention that it has values for.
inline std::vector<CosineCase> cosine_cases() {
  std::vector<CosineCase> cases;
  const nlohmann::json document = load_cosine();
  for (const auto& entry : document.at("cases")) {
    if (!entry.at("inputs").contains("x1")) continue;
    const auto& expected = entry.at("expected");
    if (!expected.contains("by_eps_rule")) {
      cases.push_back(detail::cosine_case(entry, "exact", expected));
      detail::drop_rejected_rows(cases.back());
      continue;
    }
    for (const auto& [rule, convention] : eps_rules()) {
      if (expected.at("by_eps_rule").contains(rule))
        cases.push_back(detail::cosine_case(entry, convention, expected.at("by_eps_rule").at(rule)));
    }
  }
  return cases;
}

inline constexpr const char* kIndexOverflowCase = "cos-h10-index-overflow";

// That case with its row length and its last rows alone: as listed it needs 17 GiB.
inline CosineCase scaled_index_overflow_case(std::int64_t rows) {
  const nlohmann::json document = load_cosine();
  const nlohmann::json entry = find_case(document, kIndexOverflowCase);
  const auto& expected = entry.at("expected");
  CosineCase made;
  made.id = kIndexOverflowCase;
  made.convention = "exact";
  made.dtype = dtype_of(entry);
  const auto n_dim = entry.at("inputs").at("generator").at("D").get<std::int64_t>();
  made.items.count = rows;
  made.items.sizes = {{"n_rows", rows}, {"n_dim", n_dim}};
  made.items.parameters = {{"margin", entry.at("options").at("margin").get<double>()}};
  auto& values = made.items.values;
  values["y"].assign(static_cast<std::size_t>(rows), 1.0);
  values["dy"].assign(static_cast<std::size_t>(rows), 1.0);
  made.loss.assign(static_cast<std::size_t>(rows), expected.at("loss_every_row").get<double>());
  for (std::int64_t e = 0; e < rows * n_dim; ++e) {
    const bool even = e % 2 == 0;
    values["x1"].push_back(1);
    values["x2"].push_back(even ? 1 : 0);
    made.dx1.push_back(expected.at(even ? "dx1_even_column" : "dx1_odd_column"));
    made.dx2.push_back(expected.at(even ? "dx2_even_column" : "dx2_odd_column"));
  }
  made.other_dx1 = made.dx1, made.other_dx2 = made.dx2;
  return made;
}

}  // namespace lossgrad::golden
