// SPDX-License-Identifier: Apache-2.0
#include "mutants/kernel_text.hpp"

#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "losses/storage_source.hpp"

namespace lossgrad::mutants {
namespace {

std::string read_right(const std::string& file) {
  const std::string path = std::string(LOSSGRAD_SOURCE_DIR) + "/tests/mutants/right/" + file;
  std::ifstream stream(path);
  if (!stream) throw Error(ErrorKind::internal, path + ": cannot be read");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

std::string edited(std::string text, const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    int times = 0;
    std::size_t at = text.find(edit.find);
    while (at != std::string::npos) {
      text.replace(at, edit.find.size(), edit.replace);
      ++times;
      at = text.find(edit.find, at + edit.replace.size());
    }
    if (times != edit.times) {
      throw Error(ErrorKind::internal, "found " + std::to_string(times) + " times instead of " +
                                           std::to_string(edit.times) + ": " + edit.find);
    }
  }
  return text;
}

Kernel builtin_kernel(const KernelOptions& options) { return find_loss("ciou").kernel(options); }

Kernel kernel_from_text(const KernelText& text, const KernelOptions& options) {
  const Kernel builtin = builtin_kernel(options);
  std::string source = text.files.empty() ? builtin.kernel_source() : storage_source(options.dtype);
  for (const std::string& file : text.files) source += read_right(file);
  return builtin.with_kernel_source(edited(std::move(source), text.edits));
}

std::string explanation(const std::vector<CheckResult>& results) {
  std::string text;
  for (const CheckResult& result : results) {
    if (result.verdict == Verdict::passed || result.verdict == Verdict::skipped) continue;
    text += "  " + std::string(name(result.case_id.pass)) + ' ' + result.check + ' ' +
            std::string(name(result.verdict)) + ": " + result.reason + '\n';
  }
  return text;
}

const CheckResult* find_check(const std::vector<CheckResult>& results, Pass pass, const std::string& check) {
  for (const CheckResult& result : results) {
    if (result.case_id.pass == pass && result.check == check) return &result;
  }
  return nullptr;
}

}  // namespace lossgrad::mutants
