// SPDX-License-Identifier: Apache-2.0
#include "device/host/source_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>

#include "base/content_hash.hpp"
#include "embedded/host_cuda_text.hpp"

namespace lossgrad::host {
namespace {

constexpr std::string_view kStandIn = "#pragma once\n#include \"cuda_on_cpu.hpp\"\n";

// Headers that do not declare mathematics, besides the stand-ins.
constexpr std::array<std::string_view, 8> kLightHeaders = {"stdint.h", "cstdint", "stddef.h", "cstddef",
                                                           "limits.h", "climits", "float.h",  "cfloat"};

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

bool includes_standard_headers(const std::string& text) {
  static const std::regex include(R"((?:^|\n)[ \t]*#[ \t]*include[ \t]*<([^>\n]+)>)");
  for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
    const std::string name = (*it)[1];
    const bool is_light = std::find(kLightHeaders.begin(), kLightHeaders.end(), name) != kLightHeaders.end();
    const bool is_ours = std::any_of(cuda_headers().begin(), cuda_headers().end(),
                                     [&](const SourceFile& file) { return file.name == name; });
    if (!is_light && !is_ours) return true;
  }
  return false;
}

// Whether the position is outside of every function: all braces around it open namespaces or linkage blocks.
bool is_at_namespace_scope(const std::string& code, std::size_t position) {
  std::vector<bool> is_namespace;
  std::size_t statement = 0;
  for (std::size_t i = 0; i < position; ++i) {
    if (code[i] == '{') {
      const std::string_view before = std::string_view(code).substr(statement, i - statement);
      const bool declares = before.find('(') != std::string_view::npos;
      is_namespace.push_back(!declares && (before.find("namespace") != std::string_view::npos ||
                                           before.find("extern") != std::string_view::npos));
    } else if (code[i] == '}' && !is_namespace.empty()) {
      is_namespace.pop_back();
    }
    if (code[i] == '{' || code[i] == '}' || code[i] == ';') statement = i + 1;
  }
  return std::find(is_namespace.begin(), is_namespace.end(), false) == is_namespace.end();
}

// `extern __shared__ T name[];` declares memory whose size the launch gives: there is no such thing in C++.
std::string with_dynamic_shared_memory(const std::string& text) {
  static const std::regex declaration(
      R"(\bextern\s+(?:__align__\s*\([^)]*\)\s*|alignas\s*\([^)]*\)\s*)*__shared__\s+)"
      R"((?:__align__\s*\([^)]*\)\s*|alignas\s*\([^)]*\)\s*)*([A-Za-z_][\w\s:<>,]*?)\s*)"
      R"((?:__align__\s*\([^)]*\)\s*)?\b([A-Za-z_]\w*)\s*\[\s*\]\s*;)");
  const std::string code = without_comments_and_strings(text);
  std::string result;
  std::size_t copied = 0;
  for (std::sregex_iterator it(code.begin(), code.end(), declaration), end; it != end; ++it) {
    const std::size_t begin = static_cast<std::size_t>(it->position());
    const std::string type = (*it)[1];
    const std::string name = (*it)[2];
    result.append(text, copied, begin - copied);
    if (is_at_namespace_scope(code, begin)) {
      result += "static lossgrad_cuda::DynamicShared<" + type + "> " + name + ";";
    } else {
      result += type + "* const " + name + " = lossgrad_dynamic_shared(" + type + ");";
    }
    const std::string matched = it->str();
    result.append(static_cast<std::size_t>(std::count(matched.begin(), matched.end(), '\n')), '\n');
    copied = begin + matched.size();
  }
  return result + text.substr(copied);
}

std::string frame(const std::string& standard_headers, const std::string& id, const std::string& text,
                  const std::string& entry_point) {
  return standard_headers + "#include \"cuda_on_cpu.hpp\"\n#line 1 \"" + id + ".cu\"\n" + text +
         "\n#line 1 \"export\"\nLOSSGRAD_EXPORT_KERNEL(" + entry_point + ")\n";
}

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

const std::vector<SourceFile>& cuda_headers() {
  using namespace host_cuda_text;  // NOLINT(google-build-using-namespace): the embedded files
  static const std::vector<SourceFile> headers = {
      {"context.hpp", context_hpp()},
      {"cuda_on_cpu.hpp", cuda_on_cpu_hpp()},
      {"keywords.hpp", keywords_hpp()},
      {"vector_types.hpp", vector_types_hpp()},
      {"math_functions.hpp", math_functions_hpp()},
      {"half_types.hpp", half_types_hpp()},
      {"bfloat16_types.hpp", bfloat16_types_hpp()},
      {"small_float_operators.inc", small_float_operators_inc()},
      {"synchronisation.hpp", synchronisation_hpp()},
      {"atomics.hpp", atomics_hpp()},
      {"runner.hpp", runner_hpp()},
      {"cuda_fp16.h", kStandIn},
      {"cuda_bf16.h", kStandIn},
      {"cuda_runtime.h", kStandIn},
      {"cuda_runtime_api.h", kStandIn},
      {"device_launch_parameters.h", kStandIn},
      {"math_constants.h", kStandIn},
      {"vector_types.h", kStandIn},
  };
  return headers;
}

const std::string& cuda_headers_hash() {
  static const std::string hash = [] {
    ContentHasher hasher;
    for (const SourceFile& file : cuda_headers()) hasher.add(file.name, file.text);
    return hasher.add("frame", frame("", "", "", "")).hex();
  }();
  return hash;
}

std::string translation_unit(const Kernel& kernel) {
  const std::string text = kernel.source();
  const std::string standard = includes_standard_headers(text) ? "#define LOSSGRAD_STANDARD_HEADERS\n" : "";
  return frame(standard, kernel.id(), with_dynamic_shared_memory(text), kernel.entry_point_name());
}

}  // namespace lossgrad::host
