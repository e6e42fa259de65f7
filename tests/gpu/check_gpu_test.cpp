// SPDX-License-Identifier: Apache-2.0
// The whole check on the cuda backend: right kernels pass, with the verdicts of the host backend. (Wrong
// ones: lossgrad selftest --backend cuda.)
#include <algorithm>
#include <optional>
#include <ostream>
#include <utility>

#include <gtest/gtest.h>

#include "check/check_support.hpp"
#include "gpu/gpu_test.hpp"

namespace lossgrad {
namespace {

using check_support::labels;
using check_support::Variant;
using check_support::variants;

std::vector<Variant> all_variants() {
  std::vector<Variant> all;
  for (const Loss* loss : all_losses()) {
    for (Variant& variant : variants(loss->name())) all.push_back(std::move(variant));
  }
  return all;
}

// A fifth of the default items: a GPU has something to do, and the host is not long at it. Every size is odd,
// so that no power of two divides it.
Sizes sizes_for(const Loss& loss) {
  Sizes sizes = default_sizes(loss);
  sizes.at(loss.item_size()) /= 5;
  for (auto& [name, size] : sizes) size |= 1;
  return sizes;
}

CheckRequest request_for(const Variant& variant, const std::string& scenario) {
  CheckRequest request;
  request.loss = &find_loss(variant.loss);
  request.convention = variant.convention;
  request.dtype = variant.dtype;
  request.sizes = sizes_for(*request.loss);
  request.parameters = default_parameters(*request.loss);
  request.scenario = scenario;
  request.fd_samples = 64;
  return request;
}

// The default scenario, and one that lies on the loss's kinks.
std::vector<std::string> scenarios_to_compare(const Loss& loss) {
  std::vector<std::string> names = {loss.default_scenario()};
  const auto kinks = std::find_if(loss.scenarios().begin(), loss.scenarios().end(),
                                  [](const ScenarioInfo& scenario) { return scenario.made_of_kinks; });
  if (kinks != loss.scenarios().end()) names.push_back(kinks->name);
  return names;
}

// Passed, but for what has no meaning: saved values of a loss that saves none, sources of truth or
// differences of a case in which every sample lies on a kink or none is precise enough.
bool may_end_so(const CheckResult& result) {
  switch (result.verdict) {
    case Verdict::passed:
      return true;
    case Verdict::skipped:
      return result.check == "oracles" || result.check == "own_saved" || result.check == "self_consistency";
    case Verdict::mistrusted:
      return result.check == "self_consistency";
    default:
      return false;
  }
}

class CheckGpu : public GpuTest, public ::testing::WithParamInterface<Variant> {};

TEST_P(CheckGpu, BuiltInKernelsPassEveryScenario) {
  for (const ScenarioInfo& scenario : find_loss(GetParam().loss).scenarios()) {
    SCOPED_TRACE(scenario.name);
    const auto results = check_case(request_for(GetParam(), scenario.name), backend());
    EXPECT_EQ(results.size(), 11u);
    for (const CheckResult& result : results) {
      EXPECT_TRUE(may_end_so(result))
          << check_support::label(result) << ' ' << name(result.verdict) << ": " << result.reason;
      EXPECT_EQ(result.case_id.backend, "cuda");
      EXPECT_LE(check_support::largest_usage(result), 1) << check_support::label(result);
    }
  }
}

TEST_P(CheckGpu, HostGivesTheSameVerdicts) {
  for (const std::string& scenario : scenarios_to_compare(find_loss(GetParam().loss))) {
    const CheckRequest request = request_for(GetParam(), scenario);
    const auto on_device = check_case(request, backend());
    const auto on_host = check_case(request, check_support::host());
    ASSERT_EQ(labels(on_device), labels(on_host));
    for (std::size_t i = 0; i < on_host.size(); ++i) {
      const std::string what = scenario + ' ' + check_support::label(on_host[i]);
      EXPECT_EQ(name(on_device[i].verdict), name(on_host[i].verdict)) << what << ": " << on_device[i].reason;
      // What this check starts from is what the forward kernel saved, and two compilers may round that
      // differently.
      if (on_host[i].check == "own_saved") {
        continue;
      }
      EXPECT_EQ(on_device[i].kinks, on_host[i].kinks) << what;
      EXPECT_EQ(on_device[i].unbounded, on_host[i].unbounded) << what;
      EXPECT_EQ(on_device[i].out_of_range, on_host[i].out_of_range) << what;
    }
  }
}

// NVRTC's fast math flushes subnormals and takes approximate quotients and roots: its error stays within
// twice the bound in every scenario.
class FastMathGpu : public GpuTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(FastMathGpu, PassesEveryScenario) {
  const Loss& loss = find_loss(GetParam());
  int passed = 0;
  for (const ScenarioInfo& scenario : loss.scenarios()) {
    CheckRequest request =
        request_for({GetParam(), Dtype::f32, loss.conventions().front().name}, scenario.name);
    request.skip = {"oracles", "self_consistency", "guards", "propagation"};
    request.diagnose = false;
    request.make_kernel = [&](const KernelOptions& options) {
      Kernel::Parts parts = loss.kernel(options).parts();
      parts.fast_math = true;
      return std::optional(Kernel(std::move(parts)));
    };
    for (const CheckResult& result : check_case(request, backend())) {
      if (result.check != "reference") continue;
      EXPECT_EQ(result.verdict, Verdict::passed) << check_support::label(result) << ": " << result.reason;
      ++passed;
    }
  }
  EXPECT_EQ(passed, 2 * static_cast<int>(loss.scenarios().size()));
}

INSTANTIATE_TEST_SUITE_P(All, FastMathGpu, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const Loss* loss : all_losses()) names.emplace_back(loss->name());
                           return names;
                         }()));

INSTANTIATE_TEST_SUITE_P(All, CheckGpu, ::testing::ValuesIn(all_variants()), [](const auto& instance) {
  return instance.param.loss + '_' + check_support::label(instance.param);
});

}  // namespace
}  // namespace lossgrad
