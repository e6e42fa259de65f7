// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lossgrad {

struct ConsoleStyle {
  bool color = false;           // terminal sequences in the text
  bool only_problems = false;   // leave out cases of which every check passed or was skipped
  std::size_t worst_shown = 5;  // elements printed per failed result
};

namespace terminal {
inline constexpr std::string_view kReset = "\x1b[0m";
inline constexpr std::string_view kBold = "\x1b[1m";
inline constexpr std::string_view kDim = "\x1b[2m";
inline constexpr std::string_view kGreen = "\x1b[32m";
inline constexpr std::string_view kYellow = "\x1b[33m";
inline constexpr std::string_view kRedBold = "\x1b[1;31m";
}  // namespace terminal

// `text` in `paint`, where the style has colours.
inline std::string painted(const std::string& text, std::string_view paint, const ConsoleStyle& style) {
  return style.color ? std::string(paint) + text + std::string(terminal::kReset) : text;
}

}  // namespace lossgrad
