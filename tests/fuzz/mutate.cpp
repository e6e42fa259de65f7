// SPDX-License-Identifier: Apache-2.0
#include "mutate.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace lossgrad::fuzz {
namespace {

constexpr std::size_t kLongest = 1 << 16;

constexpr auto kTokens = std::to_array<std::string_view>({"{",
                                                          "}",
                                                          "[",
                                                          "]",
                                                          "(",
                                                          ")",
                                                          ",",
                                                          ":",
                                                          "\"",
                                                          "'",
                                                          "-",
                                                          "1e999",
                                                          "NaN",
                                                          "null",
                                                          "true",
                                                          "False",
                                                          "L",
                                                          "\\u0000",
                                                          "'O'",
                                                          "\"bbox\":",
                                                          "\"annotations\":",
                                                          "\"id\":",
                                                          "\"image_id\":\"7\",",
                                                          "\"score\":1,",
                                                          "'shape': (4, ",
                                                          "'descr': '<f8'",
                                                          ">f2",
                                                          "\xEF\xBB\xBF",
                                                          "\xFF",
                                                          "\n",
                                                          "--",
                                                          "=",
                                                          "all",
                                                          "Ki",
                                                          ":x4",
                                                          ":+25",
                                                          "0x",
                                                          "sm_",
                                                          "nan"});
constexpr auto kNumbers =
    std::to_array<std::string_view>({"0", "-1", "4", "2147483648", "4294967296", "9223372036854775807",
                                     "9223372036854775808", "18446744073709551616", "1e308", "0.1"});

// Unlike std::uniform_int_distribution, the same on every platform.
std::size_t below(std::size_t limit, std::mt19937_64& random) { return limit == 0 ? 0 : random() % limit; }

template <class Array>
std::string_view pick(const Array& items, std::mt19937_64& random) {
  return items[below(items.size(), random)];
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Changes the run of digits at or after a random place.
void edit_number(std::string& text, std::mt19937_64& random) {
  const auto begin = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(below(text.size(), random)),
                                  text.end(), is_digit);
  const auto end = std::find_if_not(begin, text.end(), is_digit);
  if (begin == end) return;
  if (random() % 2 == 0) {
    *begin = static_cast<char>('0' + random() % 10);
  } else {
    text.replace(begin, end, pick(kNumbers, random));
  }
}

void splice(std::string& text, const std::string& other, std::mt19937_64& random) {
  const std::size_t start = below(other.size(), random);
  const std::size_t length = below(std::min<std::size_t>(other.size() - start, 1024) + 1, random);
  text.insert(below(text.size() + 1, random), other, start, length);
}

void change(std::string& text, const std::vector<std::string>& corpus, std::mt19937_64& random) {
  // Half of the places lie in the first bytes, where headers are.
  const std::size_t reach = random() % 2 == 0 ? std::min<std::size_t>(text.size(), 160) : text.size();
  const std::size_t place = below(reach, random);
  switch (random() % 8) {
    case 0:
      if (!text.empty()) text[place] = static_cast<char>(text[place] ^ (1 << random() % 8));
      break;
    case 1:
      text.resize(place);
      break;
    case 2:
      text.erase(place, below(64, random));
      break;
    case 3:
      text.insert(place, text.substr(place, below(256, random)));
      break;
    case 4:
      splice(text, corpus[below(corpus.size(), random)], random);
      break;
    case 5:
      text.insert(place, pick(kTokens, random));
      break;
    case 6:
      if (!text.empty()) text[place] = static_cast<char>(random());
      break;
    default:
      edit_number(text, random);
      break;
  }
}

}  // namespace

std::string mutate(const std::vector<std::string>& corpus, std::mt19937_64& random) {
  std::string text = corpus[below(corpus.size(), random)];
  // A large sample is mostly repetition: its start and its end are enough.
  if (text.size() > kLongest) text.erase(kLongest / 2, text.size() - kLongest);
  for (std::size_t changes = 1 + below(4, random); changes > 0; --changes) change(text, corpus, random);
  return text;
}

}  // namespace lossgrad::fuzz
