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

#include "check/guarded_buffer.hpp"

namespace lossgrad::mutants {
namespace {

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

std::optional<Kernel> offered(const Variant& variant, const CheckRequest& request, KernelOptions options) {
  const WrongKernel& kernel = variant.kernel;
  const bool main_size = options.block == main_block(request);
  const bool main = options.dtype == variant.dtype && main_size;
  const bool other_block = options.dtype == variant.dtype && kernel.every_block_size;
  const bool wide = options.dtype == Dtype::f64 && main_size && kernel.f64_build;
  if (!main && !other_block && !wide) return std::nullopt;
  if (options.pass != kernel.pass) return builtin_kernel(options);
  if (!kernel.kernel_convention.empty()) options.convention = kernel.kernel_convention;
  return kernel_from_text(kernel.text, options);
}

// Every 16th item has a NaN in one of the first two components of the first input; halfway between them a
// NaN in dy.
std::map<std::string, std::vector<double>> inputs_with_nan(const CheckRequest& request) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::string item_size = request.loss->item_size();
  Items items;
  items.count = request.sizes.at(item_size);
  items.sizes = request.sizes;
  items.parameters = request.parameters;
  request.loss->generate(request.scenario, request.dtype, request.seed, items);
  const Kernel backward =
      builtin_kernel({Pass::backward, request.dtype, request.convention, request.block, request.sizes});
  bool first = true;
  for (const Argument& argument : backward.arguments()) {
    const bool upstream = argument.role == ArgumentRole::upstream;
    if (!upstream && (argument.role != ArgumentRole::input || !first)) continue;
    first = first && upstream;
    const ItemLayout layout = item_layout(argument, item_size, request.sizes);
    std::vector<double>& values = items.values.at(argument.name);
    for (std::int64_t i = upstream ? 8 : 0; i < items.count; i += 16) {
      const std::int64_t component = i / 16 % std::min<std::int64_t>(2, layout.per_item());
      const std::int64_t place = component / layout.inner * items.count + i;
      values[static_cast<std::size_t>(place * layout.inner + component % layout.inner)] = kNan;
    }
  }
  return items.values;
}

CheckRequest request_for(const Variant& variant) {
  const WrongKernel& kernel = variant.kernel;
  CheckRequest request = request_for_case(variant.dtype, kernel.convention, kernel.sizes, kernel.parameters);
  request.passes = {checked_pass(kernel)};
  request.scenario = kernel.scenario;
  request.block = kernel.block;
  request.fd_samples = 32;
  request.skip = {"oracles"};  // no kernel takes part in it
  request.make_kernel = [variant, plain = request](const KernelOptions& options) {
    return offered(variant, plain, options);
  };
  if (kernel.nan_inputs) request.inputs = inputs_with_nan(request);
  return request;
}

class WrongKernels : public ::testing::TestWithParam<Variant> {
 public:
  // Every kernel compiled once, several at a time.
  static void SetUpTestSuite() {
    backend_ = open_backend(BackendKind::host);
    std::vector<Kernel> kernels;
    for (const Variant& variant : variants()) {
      const CheckRequest request = request_for(variant);
      KernelOptions options{variant.kernel.pass, variant.dtype, request.convention, main_block(request),
                            request.sizes};
      kernels.push_back(*request.make_kernel(options));
      options.dtype = Dtype::f64;
      if (variant.kernel.f64_build) kernels.push_back(*request.make_kernel(options));
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
    EXPECT_THAT(outputs, ::testing::Contains(::testing::AnyOf(element, worst.output)))
        << "item " << worst.item << ' ' << worst.bound_usage;
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

INSTANTIATE_TEST_SUITE_P(All, WrongKernels, ::testing::ValuesIn(variants()),
                         [](const auto& instance) { return label(instance.param); });

}  // namespace
}  // namespace lossgrad::mutants
