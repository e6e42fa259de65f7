// SPDX-License-Identifier: Apache-2.0
// Values of options: text -> number or list. Each parser throws ErrorKind::usage with one line that starts
// with the flag.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lossgrad::app {

// A whole number of at least 0: 1000, 16k, 1.5M, 1e6, 4Ki. k, M and G are powers of 1000; Ki, Mi and Gi of
// 1024.
std::int64_t parse_count(std::string_view flag, std::string_view text);

// A comma list of counts and ranges, in the order given, each value once: 1k,4k or 1k:16M:x4 (1k, 4k, 16k ...
// up to and including 16M) or 0:100:+25.
std::vector<std::int64_t> parse_counts(std::string_view flag, std::string_view text);
inline constexpr std::size_t kMostValues = 10000;  // of one option

// A comma list of names, each once.
std::vector<std::string> parse_names(std::string_view flag, std::string_view text,
                                     std::string_view what = "names");

std::uint64_t parse_seed(std::string_view flag, std::string_view text);           // 0 to 2^64 - 1, also 0x...
std::vector<double> parse_numbers(std::string_view flag, std::string_view text);  // a comma list, finite
double parse_positive(std::string_view flag, std::string_view text);              // finite, above 0
double parse_not_negative(std::string_view flag, std::string_view text);          // finite, at least 0

// "sm_90", "sm_90a"; a comma list of them.
std::vector<std::string> parse_architectures(std::string_view flag, std::string_view text);

// "unknown option '--senario': did you mean '--scenario'? (HINT)": for lists too long to be printed.
std::string nearest_name_message(std::string_view kind, std::string_view given,
                                 std::span<const std::string> known, std::string_view hint);

}  // namespace lossgrad::app
