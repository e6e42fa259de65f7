// SPDX-License-Identifier: Apache-2.0
// The whole check on the cuda backend: right kernels pass, wrong ones fail, and the verdicts are those of the
// host backend.
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check_support.hpp"
#include "gpu/gpu_test.hpp"

namespace lossgrad {
namespace {

using check_support::ciou_request;
using check_support::find;
using check_support::labels;
using ::testing::HasSubstr;

struct Variant {
  Dtype dtype;
  std::string convention;
};
std::string label(const Variant& variant) {
  return std::string(name(variant.dtype)) + '_' + variant.convention;
}
void PrintTo(const Variant& variant, std::ostream* stream) { *stream << label(variant); }

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const Dtype dtype : kAllDtypes) {
    for (const NamedChoice& convention : find_loss("ciou").conventions())
      all.push_back({dtype, convention.name});
  }
  return all;
}

class CheckGpu : public GpuTest, public ::testing::WithParamInterface<Variant> {};

TEST_P(CheckGpu, BuiltInKernelsPassEveryScenario) {
  const auto [dtype, convention] = GetParam();
  for (const ScenarioInfo& scenario : find_loss("ciou").scenarios()) {
    SCOPED_TRACE(scenario.name);
    const auto results = check_case(ciou_request(dtype, convention, 20000, scenario.name), backend());
    EXPECT_EQ(results.size(), 9u);
    for (const CheckResult& result : results) {
      EXPECT_TRUE(result.verdict == Verdict::passed || result.verdict == Verdict::skipped ||
                  (result.verdict == Verdict::mistrusted && result.check == "self_consistency"))
          << check_support::label(result) << ' ' << name(result.verdict) << ": " << result.reason;
      EXPECT_EQ(result.case_id.backend, "cuda");
      EXPECT_LE(check_support::largest_usage(result), 1) << check_support::label(result);
    }
  }
}

TEST_P(CheckGpu, HostGivesTheSameVerdicts) {
  const auto [dtype, convention] = GetParam();
  for (const char* scenario : {"mixed", "identical"}) {
    const CheckRequest request = ciou_request(dtype, convention, 20000, scenario);
    const auto on_device = check_case(request, backend());
    const auto on_host = check_case(request, check_support::host());
    ASSERT_EQ(labels(on_device), labels(on_host));
    for (std::size_t i = 0; i < on_host.size(); ++i) {
      const std::string what = std::string(scenario) + ' ' + check_support::label(on_host[i]);
      EXPECT_EQ(name(on_device[i].verdict), name(on_host[i].verdict)) << what << ": " << on_device[i].reason;
      EXPECT_EQ(on_device[i].kinks, on_host[i].kinks) << what;
      EXPECT_EQ(on_device[i].unbounded, on_host[i].unbounded) << what;
      EXPECT_EQ(on_device[i].out_of_range, on_host[i].out_of_range) << what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ciou, CheckGpu, ::testing::ValuesIn(variants()),
                         [](const auto& instance) { return label(instance.param); });

// ---- wrong kernels

struct WrongKernel {
  std::string name;
  std::string find, replace;  // in the source of the backward kernel
  std::string check;          // that has to fail
  std::string reason;
};
void PrintTo(const WrongKernel& kernel, std::ostream* stream) { *stream << kernel.name; }

const std::string kGuard = "if (i >= n) return;";
const std::string kUpstream = "upstream = load_value(dy + i);";

std::vector<WrongKernel> wrong_kernels() {
  return {
      {"written_past_the_end", kGuard, "", "guards", "written at element"},
      {"tail_lost", kGuard, "if ((blockIdx.x + 1ll) * BLOCK_N > n) return;", "guards", "is not written"},
      {"dy_missing", kUpstream, "upstream = C(1);", "reference", "elements are wrong"},
      {"dy_of_the_first_box", kUpstream, "upstream = load_value(dy);", "reference", "elements are wrong"},
      {"dy_times_1_001", kUpstream, "upstream = C(1.001) * load_value(dy + i);", "reference",
       "elements are wrong"},
      {"input_changed", kUpstream, kUpstream + " const_cast<D*>(dy)[i] = D(1.0f);", "guards",
       "input was changed"},
      {"added_instead_of_written", "store_value(d_pred + i, upstream * dx);",
       "store_value(d_pred + i, load_value(d_pred + i) + upstream * dx);", "guards", ""},
  };
}

// f32 alone. The text to replace has to be there: an edit of the kernel cannot make these tests empty.
std::optional<Kernel> wrong_kernel(const WrongKernel& wrong, const KernelOptions& options) {
  if (options.dtype != Dtype::f32 || options.block != 256) return std::nullopt;
  Kernel kernel = find_loss("ciou").kernel(options);
  if (options.pass == Pass::forward) return kernel;
  std::string text = kernel.kernel_source();
  const std::size_t at = text.rfind(wrong.find);
  EXPECT_NE(at, std::string::npos) << "the kernel has no longer: " << wrong.find;
  if (at != std::string::npos) text.replace(at, wrong.find.size(), wrong.replace);
  return kernel.with_kernel_source(text);
}

class WrongKernelGpu : public GpuTest, public ::testing::WithParamInterface<WrongKernel> {};

TEST_P(WrongKernelGpu, FailsHereAsOnTheHost) {
  const WrongKernel& wrong = GetParam();
  CheckRequest request = ciou_request(Dtype::f32, "yolo", 19999, "overlapping");
  request.passes = {Pass::backward};
  request.make_kernel = [&](const KernelOptions& options) { return wrong_kernel(wrong, options); };
  const auto on_device = check_case(request, backend());
  const CheckResult& result = find(on_device, Pass::backward, wrong.check);
  EXPECT_EQ(name(result.verdict), "failed");
  EXPECT_THAT(result.reason, HasSubstr(wrong.reason));
  const auto on_host = check_case(request, check_support::host());
  ASSERT_EQ(labels(on_device), labels(on_host));
  for (std::size_t i = 0; i < on_host.size(); ++i) {
    if (on_host[i].check == "repeatability") continue;  // races end differently
    EXPECT_EQ(name(on_device[i].verdict), name(on_host[i].verdict)) << check_support::label(on_host[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Ciou, WrongKernelGpu, ::testing::ValuesIn(wrong_kernels()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace lossgrad
