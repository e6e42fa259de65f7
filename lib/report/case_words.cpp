// SPDX-License-Identifier: Apache-2.0
#include "report/case_words.hpp"

#include "report/number_text.hpp"
#include "results/size_fields.hpp"

namespace lossgrad {

std::vector<std::string> size_words(const CaseId& id) {
  std::vector<std::string> words;
  for (const SizeField& entry : kSizeFields) {
    const auto size = id.sizes.find(std::string(entry.size));
    if (size != id.sizes.end()) words.push_back(std::string(entry.field) + " " + grouped(size->second));
  }
  return words;
}

std::vector<std::string> parameter_words(const CaseId& id) {
  std::vector<std::string> words;
  for (const auto& [parameter, value] : id.parameters)
    words.push_back(parameter + " " + parameter_text(value));
  return words;
}

std::string block_in(const std::string& kernel_id) {
  std::size_t at = 0;
  for (int part = 0; part < 2; ++part) {
    at = kernel_id.find("__", at);
    if (at == std::string::npos) return "";
    at += 2;
  }
  return kernel_id.substr(at, kernel_id.find("__", at) - at);
}

}  // namespace lossgrad
