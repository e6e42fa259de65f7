// SPDX-License-Identifier: Apache-2.0
// Text of unknown content (file names above all) on its way to a terminal or into one line.
#pragma once

#include <string>
#include <string_view>

namespace lossgrad {

// Control characters (C0, DEL and C1, so that no terminal sequence is left) and bytes that are no UTF-8
// become escapes as C and $'...' of shells know them: \n, \r, \t, else \x and two hexadecimal digits for each
// byte.
std::string escaped_controls(std::string_view text);

// What a parser says of a file's content, in a message: at most 300 characters, and ? for each byte that is
// not printable ASCII.
std::string printable_ascii(std::string_view text);

}  // namespace lossgrad
