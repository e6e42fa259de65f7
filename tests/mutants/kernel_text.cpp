// SPDX-License-Identifier: Apache-2.0
#include "mutants/kernel_text.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "losses/storage_source.hpp"

namespace lossgrad::mutants {
namespace {

constexpr std::uint32_t kMostThreads = 1024;

std::string read_right(const std::string& file) {
  const std::string path =
      std::string(LOSSGRAD_SOURCE_DIR) + "/tests/mutants/" + tested_loss().name + "/right/" + file;
  std::ifstream stream(path);
  if (!stream) throw Error(ErrorKind::internal, path + ": cannot be read");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

Kernel builtin_kernel(const KernelOptions& options) { return find_loss(tested_loss().name).kernel(options); }

Kernel kernel_from_text(const KernelText& text, const KernelOptions& options) {
  const Kernel builtin = builtin_kernel(options);
  std::string source = text.files.empty() ? builtin.kernel_source() : storage_source(options.dtype);
  for (const std::string& file : text.files) source += read_right(file);
  Kernel::Parts parts = builtin.parts();
  parts.kernel_source = edited(std::move(source), text.edits);
  parts.fast_math = text.fast_math;
  if (!text.launch) return Kernel(std::move(parts));
  const OtherLaunch launch = text.launch(options.sizes);
  // One text for all sizes, so that it is compiled once.
  parts.entry_point_source = edited(
      std::move(parts.entry_point_source),
      {{"__launch_bounds__(" + std::to_string(parts.launch.threads_per_block) + ", 1)",
        "__launch_bounds__(" + std::to_string(std::max(kMostThreads, launch.threads_per_block)) + ", 1)"}});
  parts.launch.items_per_block = launch.items_per_block;
  parts.launch.threads_per_block = launch.threads_per_block;
  return Kernel(std::move(parts));
}

CheckRequest request_for_case(Dtype dtype, const std::string& convention, const Sizes& sizes,
                              const Parameters& parameters) {
  CheckRequest request;
  request.loss = &find_loss(tested_loss().name);
  request.convention = convention.empty() ? request.loss->conventions().front().name : convention;
  request.dtype = dtype;
  request.sizes = sizes;
  request.sizes.insert(tested_loss().sizes.begin(), tested_loss().sizes.end());
  request.parameters = parameters;
  request.parameters.merge(default_parameters(*request.loss));
  for (auto& [name, value] : request.parameters) value = round_to(Dtype::f32, value);
  return request;
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
