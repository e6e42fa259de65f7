# SPDX-License-Identifier: Apache-2.0
# Run by lossgrad_embed_text: writes STEM.hpp and STEM.cpp with the text of INPUTS as arrays of characters.
get_filename_component(stem_name "${STEM}" NAME)
set(header "// Generated from source files; do not edit.\n#pragma once\n#include <string_view>\nnamespace lossgrad::${NAMESPACE}_text {\n")
set(source "// Generated from source files; do not edit.\n#include \"embedded/${stem_name}.hpp\"\nnamespace lossgrad::${NAMESPACE}_text {\n")
foreach(path IN LISTS INPUTS)
  get_filename_component(name "${path}" NAME)
  string(REGEX REPLACE "[^A-Za-z0-9]" "_" symbol "${name}")
  file(READ "${path}" hex HEX)
  # Numbers instead of a literal: no limit on length, no escaping, no surprises from semicolons or brackets.
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND header "std::string_view ${symbol}();  // ${name}\n")
  string(APPEND source "static constexpr unsigned char k_${symbol}[] = {${bytes}0};\n"
         "std::string_view ${symbol}() {\n"
         "  return {reinterpret_cast<const char*>(k_${symbol}), sizeof(k_${symbol}) - 1};\n}\n")
endforeach()
file(WRITE "${STEM}.hpp" "${header}}  // namespace lossgrad::${NAMESPACE}_text\n")
file(WRITE "${STEM}.cpp" "${source}}  // namespace lossgrad::${NAMESPACE}_text\n")
