// SPDX-License-Identifier: Apache-2.0
// Every wrong kernel fails the check that it should, for the reason that it should.
#include "mutants/wrong_kernels.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lossgrad::mutants {
namespace {

constexpr int kBlock = 256;

struct Variant {
  WrongKernel kernel;
  Dtype dtype;
};

std::string label(const Variant& variant) {
  return variant.kernel.name + '_' + std::string(name(variant.dtype));
}

void PrintTo(const Variant& variant, std::ostream* stream) { *stream << label(variant); }

// f32 first for all, so that the table below reads well.
std::vector<Variant> variants() {
  std::vector<Variant> list;
  for (const Dtype dtype : kAllDtypes) {
    for (const WrongKernel& kernel : wrong_kernels()) {
      if (std::count(kernel.dtypes.begin(), kernel.dtypes.end(), dtype) > 0) list.push_back({kernel, dtype});
    }
  }
  return list;
}

Pass checked_pass(const WrongKernel& kernel) { return kernel.checked.value_or(kernel.pass); }

std::optional<Kernel> offered(const Variant& variant, const KernelOptions& options) {
  const WrongKernel& kernel = variant.kernel;
  const bool main = options.dtype == variant.dtype && options.block == kBlock;
  const bool other_block = options.dtype == variant.dtype && kernel.every_block_size;
  const bool wide = options.dtype == Dtype::f64 && options.block == kBlock && kernel.f64_build;
  if (!main && !other_block && !wide) return std::nullopt;
  if (options.pass != kernel.pass) return builtin_kernel(options);
  return kernel_from_text(kernel.text, options);
}

// Typical boxes, every 16th with a NaN in one centre coordinate; halfway between them a NaN in dy.
std::map<std::string, std::vector<double>> inputs_with_nan(const CheckRequest& request) {
  Items items;
  items.count = request.sizes.at("N");
  request.loss->generate("typical", request.dtype, request.seed, items);
  const auto n = static_cast<std::size_t>(items.count);
  for (std::size_t i = 0; i < n; i += 16) {
    items.values["pred"][i / 16 % 2 * n + i] = std::numeric_limits<double>::quiet_NaN();
    if (i + 8 < n) items.values["dy"][i + 8] = std::numeric_limits<double>::quiet_NaN();
  }
  return {{"pred", items.values["pred"]}, {"target", items.values["target"]}, {"dy", items.values["dy"]}};
}

CheckRequest request_for(const Variant& variant) {
  CheckRequest request;
  request.loss = &find_loss("ciou");
  request.passes = {checked_pass(variant.kernel)};
  request.convention = variant.kernel.convention;
  request.dtype = variant.dtype;
  request.sizes = {{"N", variant.kernel.boxes}};
  request.scenario = variant.kernel.scenario;
  request.block = kBlock;
  request.fd_samples = 32;
  request.skip = {"oracles"};  // no kernel takes part in it
  request.make_kernel = [variant](const KernelOptions& options) { return offered(variant, options); };
  if (variant.kernel.nan_inputs) request.inputs = inputs_with_nan(request);
  return request;
}

class WrongKernels : public ::testing::TestWithParam<Variant> {
 public:
  // Every kernel compiled once, several at a time.
  static void SetUpTestSuite() {
    backend_ = open_backend(BackendKind::host);
    std::vector<Kernel> kernels;
    for (const Variant& variant : variants()) {
      const WrongKernel& wrong = variant.kernel;
      kernels.push_back(*offered(variant, {wrong.pass, variant.dtype, wrong.convention, kBlock}));
      if (wrong.f64_build)
        kernels.push_back(*offered(variant, {wrong.pass, Dtype::f64, wrong.convention, kBlock}));
    }
    (void)backend_->load_all(kernels);
  }
  static void TearDownTestSuite() {
    std::printf("%-44s %-10s %s\n", "fault", "usage", "caught by");
    for (const std::string& line : table_) std::printf("%s\n", line.c_str());
    backend_.reset();
  }

 protected:
  static std::unique_ptr<Backend> backend_;
  static std::vector<std::string> table_;
};
std::unique_ptr<Backend> WrongKernels::backend_;
std::vector<std::string> WrongKernels::table_;

// Fault, largest bound usage over all checks, checks that failed.
std::string table_line(const Variant& variant, const std::vector<CheckResult>& results) {
  double usage = 0;
  std::string caught;
  for (const CheckResult& result : results) {
    if (result.bound_usage) usage = std::max(usage, result.bound_usage->max);
    if (result.verdict == Verdict::failed) caught += (caught.empty() ? "" : ", ") + result.check;
  }
  char text[300];
  std::snprintf(text, sizeof text, "%-44s %-10.3g %s", label(variant).c_str(), usage, caught.c_str());
  return text;
}

// Looks at the worst elements, which are all that a result keeps.
void expect_only_in(const std::vector<std::string>& outputs, const CheckResult& result, double slack) {
  if (outputs.empty()) return;
  for (const WorstElement& worst : result.worst) {
    if (worst.note.empty() && worst.bound_usage <= slack) continue;
    const std::string element = worst.output + '[' + std::to_string(worst.component) + ']';
    EXPECT_THAT(outputs, ::testing::Contains(element)) << "box " << worst.item << ' ' << worst.bound_usage;
  }
}

TEST_P(WrongKernels, FailForTheRightReason) {
  const Variant& variant = GetParam();
  const WrongKernel& wrong = variant.kernel;
  const CheckRequest request = request_for(variant);
  const auto results = check_case(request, *backend_);
  table_.push_back(table_line(variant, results));

  const CheckResult* named = find_check(results, checked_pass(wrong), wrong.check);
  ASSERT_NE(named, nullptr);
  EXPECT_EQ(name(named->verdict), "failed") << wrong.check << '\n' << explanation(results);
  EXPECT_THAT(named->reason, ::testing::HasSubstr(wrong.reason)) << explanation(results);
  for (const char* check : {"reference", "own_saved"}) {
    const CheckResult* result = find_check(results, checked_pass(wrong), check);
    if (result != nullptr) expect_only_in(wrong.outputs, *result, request.tolerance.slack);
  }
  for (const std::string& check : wrong.blind) {
    const CheckResult* result = find_check(results, checked_pass(wrong), check);
    EXPECT_TRUE(result != nullptr && result->verdict == Verdict::passed) << check << '\n'
                                                                         << explanation(results);
  }
}

INSTANTIATE_TEST_SUITE_P(Ciou, WrongKernels, ::testing::ValuesIn(variants()),
                         [](const auto& instance) { return label(instance.param); });

}  // namespace
}  // namespace lossgrad::mutants
