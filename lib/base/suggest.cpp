// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.hpp"

#include <algorithm>
#include <cctype>

namespace lossgrad {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  };
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = d[i - 1][j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

std::string nearest_name(std::string_view given, std::span<const std::string> known) {
  const auto nearest = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return edit_distance(given, a) < edit_distance(given, b);
  });
  const bool near_enough = nearest != known.end() && edit_distance(given, *nearest) <=
                                                         std::clamp<std::size_t>(nearest->size() / 3, 1, 3);
  if (near_enough) return *nearest;
  constexpr std::size_t kTellingBeginning = 3;
  if (given.size() < kTellingBeginning) return "";
  std::string shortest;
  for (const std::string& name : known) {
    const bool goes_on = name.size() > given.size() &&
                         edit_distance(given, std::string_view(name).substr(0, given.size())) == 0;
    if (goes_on && (shortest.empty() || name.size() < shortest.size())) shortest = name;
  }
  return shortest;
}

std::string unknown_name_message(std::string_view kind, std::string_view given,
                                 std::span<const std::string> known) {
  std::string message = "unknown " + std::string(kind) + " '" + std::string(given) + "'";
  const std::string nearest = nearest_name(given, known);
  if (!nearest.empty()) message += ": did you mean '" + nearest + "'?";
  message += known.empty() ? "" : (message.back() == '?' ? " known: " : ": known: ");
  for (std::size_t i = 0; i < known.size(); ++i) message += (i == 0 ? "" : ", ") + known[i];
  return message;
}

}  // namespace lossgrad
