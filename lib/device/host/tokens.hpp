// SPDX-License-Identifier: Apache-2.0
// Just enough of C++'s lexical structure to find a construct in a kernel's text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lossgrad::host {

// The text with comments, strings and character constants replaced by spaces; line ends and length stay.
std::string without_comments_and_strings(std::string_view text);

struct Token {
  std::string_view text;  // a word (identifier, keyword or number) or one other character
  std::size_t begin;

  [[nodiscard]] bool is_word() const;
  [[nodiscard]] std::size_t end() const { return begin + text.size(); }
};

// Views into `code`.
std::vector<Token> tokens_of(std::string_view code);

}  // namespace lossgrad::host
