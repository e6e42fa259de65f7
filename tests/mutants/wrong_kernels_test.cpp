// SPDX-License-Identifier: Apache-2.0
// Every wrong kernel fails the check that it should, for the reason that it should.
#include "mutants/wrong_kernels.hpp"

#include <algorithm>
#include <memory>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

std::vector<Variant> variants() {
  std::vector<Variant> list;
  for (const WrongKernel& kernel : wrong_kernels()) {
    for (const Dtype dtype : kernel.dtypes) list.push_back({kernel, dtype});
  }
  return list;
}

std::optional<Kernel> offered(const Variant& variant, const CheckRequest& request,
                              const KernelOptions& options) {
  if (options.dtype != variant.dtype || options.block != main_block(request)) return std::nullopt;
  return options.pass == variant.kernel.pass ? kernel_from_text(variant.kernel.text, options)
                                             : builtin_kernel(options);
}

CheckRequest request_for(const Variant& variant) {
  CheckRequest request = request_for_case(variant.dtype, "", {}, {});
  request.passes = {variant.kernel.pass};
  request.scenario = variant.kernel.scenario;
  request.skip = {"oracles"};  // no kernel takes part in it
  request.diagnose = !variant.kernel.diagnosis.empty();
  request.make_kernel = [variant, plain = request](const KernelOptions& options) {
    return offered(variant, plain, options);
  };
  return request;
}

// The names of first and second rank, in one line.
std::string suggestions(const CheckResult& result) {
  std::string names;
  for (const Diagnosis& diagnosis : result.diagnosis) {
    if (diagnosis.rank <= 2) names += ' ' + diagnosis.name;
  }
  return names + ' ';
}

class WrongKernels : public ::testing::TestWithParam<Variant> {};

TEST_P(WrongKernels, FailForTheRightReason) {
  const WrongKernel& wrong = GetParam().kernel;
  const auto backend = open_backend(BackendKind::host);
  const auto results = check_case(request_for(GetParam()), *backend);
  const CheckResult* named = find_check(results, wrong.pass, wrong.check);
  ASSERT_NE(named, nullptr);
  EXPECT_EQ(name(named->verdict), "failed") << wrong.check << '\n' << explanation(results);
  EXPECT_THAT(named->reason, ::testing::HasSubstr(wrong.reason)) << explanation(results);
  if (!wrong.diagnosis.empty()) {
    EXPECT_THAT(suggestions(*named), ::testing::HasSubstr(' ' + wrong.diagnosis + ' '));
  }
  for (const std::string& check : wrong.blind) {
    const CheckResult* result = find_check(results, wrong.pass, check);
    EXPECT_TRUE(result != nullptr && result->verdict == Verdict::passed) << check << '\n'
                                                                         << explanation(results);
  }
}

INSTANTIATE_TEST_SUITE_P(All, WrongKernels, ::testing::ValuesIn(variants()),
                         [](const auto& instance) { return label(instance.param); });

}  // namespace
}  // namespace lossgrad::mutants
