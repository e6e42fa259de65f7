// SPDX-License-Identifier: Apache-2.0
// Right kernels, written in other ways than the built-in one: the check passes them in every scenario but
// those that their entry names, and not by slack: each error stays within the certified bound itself.
#include "mutants/right_kernels.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <span>

#include <gtest/gtest.h>

#ifdef LOSSGRAD_TESTED_ON_GPU
#include "gpu/gpu_test.hpp"
#endif

namespace lossgrad::mutants {
namespace {

struct Variant {
  RightKernel kernel;
  Dtype dtype;
  std::string convention;
};

std::vector<Variant> variants() {
  std::vector<Variant> list;
  for (const RightKernel& kernel : right_kernels()) {
    for (const Dtype dtype : kernel.dtypes) list.push_back({kernel, dtype, kernel.conventions.front()});
    for (std::size_t i = 1; i < kernel.conventions.size(); ++i)
      list.push_back({kernel, Dtype::f32, kernel.conventions[i]});
  }
  return list;
}

std::string label(const Variant& variant) {
  return variant.kernel.name + '_' + std::string(name(variant.dtype)) +
         (variant.convention == variant.kernel.conventions.front() ? "" : '_' + variant.convention);
}

void PrintTo(const Variant& variant, std::ostream* stream) { *stream << label(variant); }

std::optional<Kernel> offered(const Variant& variant, const CheckRequest& request,
                              const KernelOptions& options) {
  const RightKernel& kernel = variant.kernel;
  if (options.block != main_block(request) && !kernel.every_block_size) return std::nullopt;
  if (options.dtype != variant.dtype) return std::nullopt;
  if (kernel.backward_only && options.pass == Pass::forward) return builtin_kernel(options);
  return kernel_from_text(kernel.text, options);
}

// Most launches of a case are this check's: each scenario with one of the sizes, the next with the next one.
bool asks_about_propagation(const RightCase& sizes, const ScenarioInfo& scenario) {
  const auto scenarios = find_loss(tested_loss().name).scenarios();
  const auto named = [&](const ScenarioInfo& other) { return other.name == scenario.name; };
  const auto cases = right_cases();
  const auto same = [&](const RightCase& other) { return other.sizes == sizes.sizes; };
  const auto place = std::find_if(scenarios.begin(), scenarios.end(), named) - scenarios.begin();
  const auto turn = std::find_if(cases.begin(), cases.end(), same) - cases.begin();
  return (place + 1) % static_cast<std::ptrdiff_t>(cases.size()) == turn;  // mixed not with the first
}

CheckRequest request_for(const Variant& variant, const RightCase& sizes, const ScenarioInfo& scenario) {
  CheckRequest request = request_for_case(variant.dtype, variant.convention, sizes.sizes, sizes.parameters);
  request.scenario = scenario.name;
  request.block = variant.kernel.block;
  request.fd_samples = sizes.fd_samples;
  request.make_kernel = [variant, plain = request](const KernelOptions& options) {
    return offered(variant, plain, options);
  };
  request.skip = {"oracles"};  // no kernel takes part in it
  // What does not depend on the values is looked at once.
  const auto& luck = variant.kernel.luck_decides_in;
  const bool mixed_is_luck = std::count(luck.begin(), luck.end(), "mixed") > 0;
  const std::string plain = find_loss(tested_loss().name).scenarios()[1].name;
  if (scenario.name != (mixed_is_luck ? plain : "mixed")) request.skip.insert({"guards", "repeatability"});
  if (variant.kernel.drops_nan || !asks_about_propagation(sizes, scenario))
    request.skip.insert("propagation");
  const auto& differences = tested_loss().difference_scenarios;
  if (!differences.empty() && std::count(differences.begin(), differences.end(), scenario.name) == 0)
    request.skip.insert("self_consistency");
  if (scenario.made_of_kinks) request.skip.insert("self_consistency");  // no sample is away from kinks
  return request;
}

// The backend for which this program is built; none where that is cuda and there is no GPU.
#ifdef LOSSGRAD_TESTED_ON_GPU
constexpr bool kOnGpu = true;
#else
constexpr bool kOnGpu = false;
#endif
std::unique_ptr<Backend> tested_backend() {
#ifdef LOSSGRAD_TESTED_ON_GPU
  return cuda_status().available ? open_cuda_backend(0) : nullptr;
#else
  return open_backend(BackendKind::host);
#endif
}

struct LargestUsage {
  double forward = 0, backward = 0;
  std::string forward_at, backward_at;
};

class RightKernels : public ::testing::TestWithParam<Variant> {
 public:
  // Every kernel compiled once, several at a time.
  static void SetUpTestSuite() {
    backend_ = tested_backend();
    if (!backend_) return;
    std::vector<Kernel> kernels;
    std::set<std::string> known;
    for (const Variant& variant : variants()) {
      for (const RightCase& sizes : right_cases()) {
        const CheckRequest request =
            request_for(variant, sizes, find_loss(tested_loss().name).scenarios()[0]);
        for (const Pass pass : {Pass::forward, Pass::backward}) {
          auto kernel = request.make_kernel(
              {pass, variant.dtype, request.convention, main_block(request), request.sizes});
          if (known.insert(kernel->source()).second) kernels.push_back(std::move(*kernel));
        }
      }
    }
    (void)backend_->load_all(kernels);
  }
  static void TearDownTestSuite() {
    std::printf("largest bound usage                    forward and backward, and where\n");
    for (const auto& [name, usage] : usage_) {
      std::printf("%-36s %7.4f %-44s %7.4f %s\n", name.c_str(), usage.forward, usage.forward_at.c_str(),
                  usage.backward, usage.backward_at.c_str());
    }
    backend_.reset();
  }

 protected:
#ifdef LOSSGRAD_TESTED_ON_GPU
  void SetUp() override {
    if (!backend_) (void)gpu_or_end();
  }
#endif

  static std::unique_ptr<Backend> backend_;
  static std::map<std::string, LargestUsage> usage_;
};
std::unique_ptr<Backend> RightKernels::backend_;
std::map<std::string, LargestUsage> RightKernels::usage_;

// What a rejected element looks like, for the message of a failed test.
std::string worst_of(const CheckResult& result) {
  if (result.worst.empty()) return "";
  const WorstElement& worst = result.worst.front();
  char text[200];
  std::snprintf(text, sizeof text,
                "%s[%d] of item %d: got %.17g, expected %.17g to %.17g, bound %.3g, usage %.4f;",
                worst.output.c_str(), static_cast<int>(worst.component), static_cast<int>(worst.item),
                worst.got, worst.expected_low, worst.expected_high, worst.bound, worst.bound_usage);
  std::string line = text;
  for (const auto& [name, values] : worst.inputs) {
    line += ' ' + name + " =";
    for (const double value : std::span(values).first(std::min<std::size_t>(values.size(), 8))) {
      std::snprintf(text, sizeof text, " %.9g", value);
      line += text;
    }
    if (values.size() > 8) line += " ...";
    line += ';';
  }
  return line;
}

void note_usage(const std::vector<CheckResult>& results, const std::string& at, LargestUsage& largest) {
  for (const CheckResult& result : results) {
    if (!result.bound_usage) continue;
    const bool forward = result.case_id.pass == Pass::forward;
    double& usage = forward ? largest.forward : largest.backward;
    if (result.bound_usage->max <= usage) continue;
    usage = result.bound_usage->max;
    (forward ? largest.forward_at : largest.backward_at) = at;
  }
}

void expect_passes(const std::vector<CheckResult>& results, const std::string& at, LargestUsage& largest) {
  note_usage(results, at, largest);
  for (const CheckResult& result : results) {
    if (result.verdict == Verdict::skipped) continue;
    const std::string place = at + ' ' + std::string(name(result.case_id.pass)) + ' ' + result.check;
    EXPECT_EQ(result.verdict, Verdict::passed)
        << place << ' ' << name(result.verdict) << ": " << result.reason << '\n'
        << worst_of(result);
    if (!result.bound_usage) continue;
    EXPECT_LE(result.bound_usage->max, 1.0) << place << '\n' << worst_of(result);
  }
}

void expect_rejected(const std::vector<CheckResult>& results, const std::string& at) {
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const CheckResult* reference = find_check(results, pass, "reference");
    ASSERT_NE(reference, nullptr);
    EXPECT_EQ(name(reference->verdict), "failed") << at << ' ' << name(pass);
    EXPECT_NE(reference->reason.find("elements are wrong"), std::string::npos) << reference->reason;
  }
}

// "mixed n_dim 33 n_rows 40 margin 0.5"
std::string place_of(const CheckRequest& request) {
  std::string text = request.scenario;
  for (const auto& [size, value] : request.sizes) text += ' ' + size + ' ' + std::to_string(value);
  for (const auto& [parameter, value] : request.parameters) {
    char number[40];
    std::snprintf(number, sizeof number, " %g", value);
    text += ' ' + parameter + number;
  }
  return text;
}

TEST_P(RightKernels, PassWithinTheirBound) {
  const Variant& variant = GetParam();
  LargestUsage& largest = usage_[label(variant)];
  for (const RightCase& sizes : right_cases()) {
    for (const ScenarioInfo& scenario : find_loss(tested_loss().name).scenarios()) {
      if (variant.kernel.drops_nan && scenario.name == "non_finite") continue;
      const CheckRequest request = request_for(variant, sizes, scenario);
      const auto& luck = variant.kernel.luck_decides_in;
      if (!kOnGpu && std::count(luck.begin(), luck.end(), scenario.name) > 0) continue;
      const auto& rejected = variant.kernel.rejected_in;
      if (!kOnGpu && std::count(rejected.begin(), rejected.end(), scenario.name) > 0) {
        expect_rejected(check_case(request, *backend_), place_of(request));
        continue;
      }
      expect_passes(check_case(request, *backend_), place_of(request), largest);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RightKernels, ::testing::ValuesIn(variants()),
                         [](const auto& instance) { return label(instance.param); });

}  // namespace
}  // namespace lossgrad::mutants
