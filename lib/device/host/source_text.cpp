// SPDX-License-Identifier: Apache-2.0
#include "device/host/source_text.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/content_hash.hpp"
#include "device/host/tokens.hpp"
#include "embedded/host_cuda_text.hpp"

namespace lossgrad::host {
namespace {

constexpr std::string_view kStandIn = "#pragma once\n#include \"cuda_on_cpu.hpp\"\n";

// Headers that do not declare mathematics, besides the stand-ins.
constexpr std::array<std::string_view, 8> kLightHeaders = {"stdint.h", "cstdint", "stddef.h", "cstddef",
                                                           "limits.h", "climits", "float.h",  "cfloat"};

bool is_light(std::string_view header) {
  return std::find(kLightHeaders.begin(), kLightHeaders.end(), header) != kLightHeaders.end() ||
         std::any_of(cuda_headers().begin(), cuda_headers().end(),
                     [&](const SourceFile& file) { return file.name == header; });
}

bool includes_standard_headers(std::string_view code, const std::vector<Token>& tokens) {
  for (std::size_t i = 0; i + 3 < tokens.size(); ++i) {
    if (tokens[i].text != "#" || tokens[i + 1].text != "include" || tokens[i + 2].text != "<") continue;
    const std::size_t begin = tokens[i + 2].end();
    const std::size_t end = std::min(code.find('>', begin), code.size());
    if (!is_light(code.substr(begin, end - begin))) return true;
  }
  return false;
}

// The index behind a parenthesised group that begins at `i`; `i` itself when none does.
std::size_t behind_group(const std::vector<Token>& tokens, std::size_t i) {
  if (i >= tokens.size() || tokens[i].text != "(") return i;
  int depth = 0;
  for (; i < tokens.size(); ++i) {
    depth += tokens[i].text == "(" ? 1 : tokens[i].text == ")" ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return i;
}

struct DynamicShared {
  std::string type;
  std::string name;
  std::size_t end_token = 0;  // of the semicolon
};

// `extern __shared__ T name[];` that begins at token `i`, with alignment given or not.
std::optional<DynamicShared> parse_dynamic_shared(const std::vector<Token>& tokens, std::size_t i) {
  if (tokens[i].text != "extern" && tokens[i].text != "__shared__") return std::nullopt;
  bool is_extern = false;
  bool is_shared = false;
  std::vector<Token> rest;
  for (; i < tokens.size() && tokens[i].text != ";"; ++i) {
    const std::string_view word = tokens[i].text;
    if (word == "{" || word == "}" || word == "=") return std::nullopt;
    if (word == "__align__" || word == "alignas" || word == "__attribute__") {
      i = behind_group(tokens, i + 1) - 1;
    } else if (word == "extern" || word == "__shared__") {
      is_extern |= word == "extern";
      is_shared |= word == "__shared__";
    } else {
      rest.push_back(tokens[i]);
    }
  }
  const std::size_t count = rest.size();
  if (!is_extern || !is_shared || i == tokens.size() || count < 4 || rest[count - 2].text != "[" ||
      rest[count - 1].text != "]") {
    return std::nullopt;
  }
  DynamicShared found{{}, std::string(rest[count - 3].text), i};
  for (std::size_t k = 0; k + 3 < count; ++k) {
    if (k > 0 && rest[k].is_word() && rest[k - 1].is_word()) found.type += ' ';
    found.type += rest[k].text;
  }
  return found;
}

// Follows the braces: whether the place is outside of every function.
class ScopeFinder {
 public:
  void pass(const std::vector<Token>& tokens, std::size_t i) {
    const std::string_view text = tokens[i].text;
    if (text == "{") {
      opens_namespace_.push_back(is_namespace_);
    } else if (text == "}" && !opens_namespace_.empty()) {
      opens_namespace_.pop_back();
    } else if (text == "namespace" || text == "extern") {
      is_namespace_ = true;
    } else if (text == "(") {
      is_namespace_ = false;
    }
    if (text == "{" || text == "}" || text == ";") is_namespace_ = false;
  }
  [[nodiscard]] bool is_at_namespace_scope() const {
    return std::find(opens_namespace_.begin(), opens_namespace_.end(), false) == opens_namespace_.end();
  }

 private:
  bool is_namespace_ = false;
  std::vector<bool> opens_namespace_;
};

// `extern __shared__ T name[];` declares memory whose size the launch gives: there is no such thing in C++.
std::string with_dynamic_shared_memory(const std::string& text, const std::vector<Token>& tokens) {
  std::string result;
  std::size_t copied = 0;
  ScopeFinder scope;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto found = parse_dynamic_shared(tokens, i);
    if (!found) {
      scope.pass(tokens, i);
      continue;
    }
    result.append(text, copied, tokens[i].begin - copied);
    if (scope.is_at_namespace_scope()) {
      result += "static lossgrad_cuda::DynamicShared<" + found->type + "> " + found->name + ";";
    } else {
      result += found->type + "* const " + found->name + " = lossgrad_dynamic_shared(" + found->type + ");";
    }
    copied = tokens[found->end_token].end();
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(tokens[i].begin);
    const auto lines = std::count(begin, text.begin() + static_cast<std::ptrdiff_t>(copied), '\n');
    result.append(static_cast<std::size_t>(lines), '\n');
    i = found->end_token;
  }
  return result + text.substr(copied);
}

std::string frame(const std::string& standard_headers, const std::string& id, const std::string& text,
                  const std::string& entry_point) {
  return standard_headers + "#include \"cuda_on_cpu.hpp\"\n#line 1 \"" + id + ".cu\"\n" + text +
         "\n#line 1 \"export\"\nLOSSGRAD_EXPORT_KERNEL(" + entry_point + ")\n";
}

}  // namespace

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
  const std::string code = without_comments_and_strings(text);
  const std::vector<Token> tokens = tokens_of(code);
  const bool standard = includes_standard_headers(code, tokens);
  return frame(standard ? "#define LOSSGRAD_STANDARD_HEADERS\n" : "", kernel.id(),
               with_dynamic_shared_memory(text, tokens), kernel.entry_point_name());
}

}  // namespace lossgrad::host
