// SPDX-License-Identifier: Apache-2.0
// Right kernels, written in other ways than the built-in one: the check passes them in every scenario, and
// not by slack: each error stays within the certified bound itself.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <ostream>

#include <gtest/gtest.h>

#include "mutants/kernel_text.hpp"

namespace lossgrad::mutants {
namespace {

struct RightKernel {
  std::string name;
  KernelText text;
  std::vector<Dtype> dtypes = {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16};
  std::vector<std::string> conventions = {"yolo", "torchvision"};
  bool backward_only = false;
  bool every_block_size = false;
};

const std::vector<Dtype> kOnlyF32 = {Dtype::f32};
const std::vector<std::string> kOnlyYolo = {"yolo"};

const std::vector<RightKernel>& right_kernels() {
  static const std::vector<RightKernel> kernels = {
      {.name = "builtin", .text = {}},
      {.name = "corners",
       .text = {{"boxes.cuh", "corner_box.cuh", "strict_ties.cuh", "one_thread_a_box.cuh"}, {}}},
      {.name = "corners_midpoint_ties",
       .text = {{"boxes.cuh", "corner_box.cuh", "midpoint_ties.cuh", "one_thread_a_box.cuh"}, {}}},
      {.name = "corners_fmin_fmax",
       .text = {{"boxes.cuh", "corner_box.cuh", "strict_ties.cuh", "one_thread_a_box.cuh"},
                {{"return a < b ? a : b;", "return fmin(a, b);"},
                 {"return a > b ? a : b;", "return fmax(a, b);"}}},
       .dtypes = {Dtype::f32, Dtype::f64}},
      {.name = "summed_at_edges",
       .text = {{"boxes.cuh", "corner_box.cuh", "summed_at_edges.cuh"}, {}},
       .backward_only = true},
      {.name = "contract_formulas", .text = {{"boxes.cuh", "corner_box.cuh", "contract_formulas.cuh"}, {}}},
      {.name = "centre_divisions", .text = {{"boxes.cuh", "centre_divisions.cuh"}, {}}},
      {.name = "fused_multiply_add", .text = {{"boxes.cuh", "corner_box.cuh", "fused_multiply_add.cuh"}, {}}},
      {.name = "two_arctangents",
       .text = {{}, {{"if (!HAS_EPS || sizeof(C) == 8 || !finite)", "if (!HAS_EPS || ph == ph)"}}},
       .conventions = kOnlyYolo},
      {.name = "double_intermediates",
       .text = {{"boxes.cuh", "corner_box.cuh", "double_intermediates.cuh"}, {}},
       .dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16}},
      {.name = "two_boxes_a_thread",
       .text = {{"boxes.cuh", "corner_box.cuh", "two_boxes_a_thread.cuh"}, {}},
       .dtypes = kOnlyF32,
       .conventions = kOnlyYolo,
       .every_block_size = true},
      {.name = "shared_tile",
       .text = {{"boxes.cuh", "corner_box.cuh", "shared_tile.cuh"}, {}},
       .dtypes = kOnlyF32,
       .conventions = kOnlyYolo,
       .every_block_size = true},
      {.name = "warp_transposition",
       .text = {{"boxes.cuh", "corner_box.cuh", "warp_transposition.cuh"}, {}},
       .dtypes = kOnlyF32,
       .conventions = kOnlyYolo,
       .every_block_size = true},
  };
  return kernels;
}

struct Variant {
  const RightKernel* kernel;
  Dtype dtype;
  std::string convention;
};

// The other convention in f32 alone: it shares all of the arithmetic that a storage type changes.
std::vector<Variant> variants() {
  std::vector<Variant> list;
  for (const RightKernel& kernel : right_kernels()) {
    for (const Dtype dtype : kernel.dtypes) list.push_back({&kernel, dtype, "yolo"});
    if (kernel.conventions.size() > 1) list.push_back({&kernel, Dtype::f32, kernel.conventions[1]});
  }
  return list;
}

std::string label(const Variant& variant) {
  return variant.kernel->name + '_' + std::string(name(variant.dtype)) +
         (variant.convention == "yolo" ? "" : '_' + variant.convention);
}

void PrintTo(const Variant& variant, std::ostream* stream) { *stream << label(variant); }

constexpr int kBlock = 256;
constexpr std::int64_t kBoxes = 1500;

std::optional<Kernel> offered(const Variant& variant, const KernelOptions& options) {
  const RightKernel& kernel = *variant.kernel;
  if (options.block != kBlock && !kernel.every_block_size) return std::nullopt;
  if (options.dtype != variant.dtype) return std::nullopt;
  if (kernel.backward_only && options.pass == Pass::forward) return builtin_kernel(options);
  return kernel_from_text(kernel.text, options);
}

struct LargestUsage {
  double forward = 0, backward = 0;
  std::string forward_scenario, backward_scenario;
};

class RightKernels : public ::testing::TestWithParam<Variant> {
 public:
  // Every kernel compiled once, several at a time.
  static void SetUpTestSuite() {
    backend_ = open_backend(BackendKind::host);
    std::vector<Kernel> kernels;
    for (const Variant& variant : variants()) {
      for (const Pass pass : {Pass::forward, Pass::backward}) {
        kernels.push_back(*offered(variant, {pass, variant.dtype, variant.convention, kBlock}));
      }
    }
    (void)backend_->load_all(kernels);
  }
  static void TearDownTestSuite() {
    std::printf("largest bound usage                    forward                  backward\n");
    for (const auto& [name, usage] : usage_) {
      std::printf("%-36s %7.4f %-16s %7.4f %s\n", name.c_str(), usage.forward, usage.forward_scenario.c_str(),
                  usage.backward, usage.backward_scenario.c_str());
    }
    backend_.reset();
  }

 protected:
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
                "%s[%d] of box %d: got %.17g, expected %.17g to %.17g, bound %.3g, usage %.4f;",
                worst.output.c_str(), static_cast<int>(worst.component), static_cast<int>(worst.item),
                worst.got, worst.expected_low, worst.expected_high, worst.bound, worst.bound_usage);
  std::string line = text;
  for (const auto& [name, values] : worst.inputs) {
    line += ' ' + name + " =";
    for (const double value : values) {
      std::snprintf(text, sizeof text, " %.9g", value);
      line += text;
    }
    line += ';';
  }
  return line;
}

void note_usage(const std::vector<CheckResult>& results, const std::string& scenario, LargestUsage& largest) {
  for (const CheckResult& result : results) {
    if (!result.bound_usage) continue;
    const bool forward = result.case_id.pass == Pass::forward;
    double& usage = forward ? largest.forward : largest.backward;
    if (result.bound_usage->max <= usage) continue;
    usage = result.bound_usage->max;
    (forward ? largest.forward_scenario : largest.backward_scenario) = scenario;
  }
}

void expect_passes(const std::vector<CheckResult>& results, const std::string& scenario,
                   LargestUsage& largest) {
  note_usage(results, scenario, largest);
  for (const CheckResult& result : results) {
    if (result.verdict == Verdict::skipped) continue;
    const std::string place = scenario + ' ' + std::string(name(result.case_id.pass)) + ' ' + result.check;
    EXPECT_EQ(name(result.verdict), "passed") << place << ": " << result.reason << '\n' << worst_of(result);
    if (!result.bound_usage) continue;
    EXPECT_LE(result.bound_usage->max, 1.0) << place << '\n' << worst_of(result);
  }
}

CheckRequest request_for(const Variant& variant, const ScenarioInfo& scenario) {
  CheckRequest request;
  request.loss = &find_loss("ciou");
  request.convention = variant.convention;
  request.dtype = variant.dtype;
  request.sizes = {{"N", kBoxes}};
  request.scenario = scenario.name;
  request.block = kBlock;
  request.fd_samples = 64;
  request.make_kernel = [variant](const KernelOptions& options) { return offered(variant, options); };
  request.skip = {"oracles"};  // no kernel takes part in it
  // What does not depend on the values is looked at once.
  if (scenario.name != "mixed") request.skip.insert({"guards", "repeatability"});
  if (scenario.made_of_kinks) request.skip.insert("self_consistency");  // no sample is away from kinks
  return request;
}

TEST_P(RightKernels, PassWithinTheirBound) {
  const Variant& variant = GetParam();
  LargestUsage& largest = usage_[label(variant)];
  for (const ScenarioInfo& scenario : find_loss("ciou").scenarios()) {
    const auto results = check_case(request_for(variant, scenario), *backend_);
    expect_passes(results, scenario.name, largest);
  }
}

INSTANTIATE_TEST_SUITE_P(Ciou, RightKernels, ::testing::ValuesIn(variants()),
                         [](const auto& instance) { return label(instance.param); });

}  // namespace
}  // namespace lossgrad::mutants
