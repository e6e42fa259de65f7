// SPDX-License-Identifier: Apache-2.0
#include "device/host/tokens.hpp"

#include <algorithm>
#include <cctype>

namespace lossgrad::host {
namespace {

void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < std::min(end, text.size()); ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

std::size_t end_of_quoted(std::string_view text, std::size_t begin) {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[begin] || text[i] == '\n') {
      return i + 1;
    }
  }
  return text.size();
}

// 1'000: not the beginning of a character constant.
bool is_digit_separator(std::string_view text, std::size_t at) {
  return text[at] == '\'' && at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0;
}

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::string without_comments_and_strings(std::string_view text) {
  std::string code(text);
  for (std::size_t i = 0; i < code.size();) {
    std::size_t end = i + 1;
    if (code.compare(i, 2, "//") == 0) {
      end = std::min(code.find('\n', i), code.size());
      blank(code, i, end);
    } else if (code.compare(i, 2, "/*") == 0) {
      const std::size_t close = code.find("*/", i + 2);
      end = close == std::string::npos ? code.size() : close + 2;
      blank(code, i, end);
    } else if ((code[i] == '"' || code[i] == '\'') && !is_digit_separator(code, i)) {
      end = end_of_quoted(code, i);
      blank(code, i, end);
    }
    i = end;
  }
  return code;
}

bool Token::is_word() const { return is_word_character(text.front()); }

std::vector<Token> tokens_of(std::string_view code) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < code.size();) {
    std::size_t end = i + 1;
    if (is_word_character(code[i])) {
      while (end < code.size() && is_word_character(code[end])) ++end;
    }
    if (std::isspace(static_cast<unsigned char>(code[i])) == 0)
      tokens.push_back({code.substr(i, end - i), i});
    i = end;
  }
  return tokens;
}

}  // namespace lossgrad::host
