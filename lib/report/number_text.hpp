// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. All of these give plain ASCII and no locale changes them.
#pragma once

#include <cstdint>
#include <string>

namespace lossgrad {

std::string grouped(std::int64_t count);  // 1,048,576
std::string shortest(double value);  // the fewest digits that read back as the same double; nan, inf, -inf
std::string parameter_text(double value);  // a value of f32: the fewest digits that read back as the same f32
std::string scientific(double value);      // two digits: 3.1e-07; 0 is "0"
std::string usage_text(double value);      // bound usage: 0.941, 12.500, 4.1e+05; 0.99998, not 1.000
std::string ulp_text(double value);        // 19.5, 7.5e+06
std::string seconds_text(double seconds);  // 0.03 s, 3.2 s, 125 s
std::string counted(std::int64_t count, const std::string& singular);  // "1 check", "1,024 checks", "2 boxes"

}  // namespace lossgrad
