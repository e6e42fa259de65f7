// SPDX-License-Identifier: Apache-2.0
// The whole check on the cuda backend: right kernels pass, wrong ones fail, and the verdicts are those of the
// host backend.
#include <algorithm>
#include <ostream>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check_support.hpp"
#include "gpu/gpu_test.hpp"

namespace lossgrad {
namespace {

using check_support::find;
using check_support::labels;
using check_support::Variant;
using check_support::variants;
using ::testing::HasSubstr;

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

class CheckGpu : public GpuTest, public ::testing::WithParamInterface<Variant> {};

TEST_P(CheckGpu, BuiltInKernelsPassEveryScenario) {
  for (const ScenarioInfo& scenario : find_loss(GetParam().loss).scenarios()) {
    SCOPED_TRACE(scenario.name);
    const auto results = check_case(request_for(GetParam(), scenario.name), backend());
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
  for (const std::string& scenario : scenarios_to_compare(find_loss(GetParam().loss))) {
    const CheckRequest request = request_for(GetParam(), scenario);
    const auto on_device = check_case(request, backend());
    const auto on_host = check_case(request, check_support::host());
    ASSERT_EQ(labels(on_device), labels(on_host));
    for (std::size_t i = 0; i < on_host.size(); ++i) {
      const std::string what = scenario + ' ' + check_support::label(on_host[i]);
      EXPECT_EQ(name(on_device[i].verdict), name(on_host[i].verdict)) << what << ": " << on_device[i].reason;
      EXPECT_EQ(on_device[i].kinks, on_host[i].kinks) << what;
      EXPECT_EQ(on_device[i].unbounded, on_host[i].unbounded) << what;
      EXPECT_EQ(on_device[i].out_of_range, on_host[i].out_of_range) << what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CheckGpu, ::testing::ValuesIn(all_variants()), [](const auto& instance) {
  return instance.param.loss + '_' + check_support::label(instance.param);
});

// ---- wrong kernels

struct WrongKernel {
  std::string loss;
  std::string name;
  std::string find, replace;  // in the source of the backward kernel
  std::string check;          // that has to fail
  std::string reason;
};
void PrintTo(const WrongKernel& kernel, std::ostream* stream) { *stream << kernel.name; }

const std::string kGuard = "if (i >= n) return;";
const std::string kUpstream = "upstream = load_value(dy + i);";

std::vector<WrongKernel> wrong_ciou_kernels() {
  return {
      {"ciou", "written_past_the_end", kGuard, "", "guards", "written at element"},
      {"ciou", "tail_lost", kGuard, "if ((blockIdx.x + 1ll) * BLOCK_N > n) return;", "guards",
       "is not written"},
      {"ciou", "dy_missing", kUpstream, "upstream = C(1);", "reference", "elements are wrong"},
      {"ciou", "dy_of_the_first_box", kUpstream, "upstream = load_value(dy);", "reference",
       "elements are wrong"},
      {"ciou", "dy_times_1_001", kUpstream, "upstream = C(1.001) * load_value(dy + i);", "reference",
       "elements are wrong"},
      {"ciou", "input_changed", kUpstream, kUpstream + " const_cast<D*>(dy)[i] = D(1.0f);", "guards",
       "input was changed"},
      {"ciou", "added_instead_of_written", "store_value(d_pred + i, upstream * d_cx);",
       "store_value(d_pred + i, load_value(d_pred + i) + upstream * d_cx);", "guards", ""},
  };
}

const std::string kRowUpstream = "upstream = load_value(dy + row);";
const std::string kStoreRow = "store_value(d_row1 + column, active ? d1 : C(0));";

std::vector<WrongKernel> wrong_cosine_kernels() {
  const std::string wrong = "elements are wrong";
  return {
      {"cosine", "last_element_lost", "first.add_to(sums);",
       "Tile cut; cut.load(row1, row2, lane, columns - 1); cut.add_to(sums);", "reference", wrong},
      {"cosine", "last_shuffle_missing", "step > 0; step /= 2", "step > 1; step /= 2", "reference", wrong},
      {"cosine", "cos_missing_in_projection", "along1 = cosine * factors.k1", "along1 = factors.k1",
       "reference", wrong},
      {"cosine", "hinge_on_the_wrong_side", "cosine > C(margin)", "cosine < C(margin)", "reference", wrong},
      {"cosine", "dy_missing", kRowUpstream, "upstream = C(1);", "reference", wrong},
      {"cosine", "dy_of_the_first_row", kRowUpstream, "upstream = load_value(dy);", "reference", wrong},
      {"cosine", "dy_times_1_001", kRowUpstream, "upstream = C(1.001) * load_value(dy + row);", "reference",
       wrong},
      {"cosine", "inactive_rows_not_written", kStoreRow, "if (active) store_value(d_row1 + column, d1);",
       "guards", "is not written"},
      {"cosine", "last_row_lost", "inside = row < n_rows;", "inside = row < n_rows - 1;", "guards",
       "is not written"},
      {"cosine", "element_past_the_row_written", "if (column >= columns) break;",
       "if (column > columns) break;", "guards", "written at element"},
      {"cosine", "input_changed", kRowUpstream, kRowUpstream + " const_cast<D*>(dy)[row] = D(1.0f);",
       "guards", "input was changed"},
      {"cosine", "added_instead_of_written", kStoreRow,
       "store_value(d_row1 + column, load_value(d_row1 + column) + (active ? d1 : C(0)));", "guards", ""},
  };
}

std::vector<WrongKernel> wrong_kernels() {
  std::vector<WrongKernel> all = wrong_ciou_kernels();
  for (WrongKernel& kernel : wrong_cosine_kernels()) all.push_back(std::move(kernel));
  return all;
}

// f32 alone. The text to replace has to be there: an edit of the kernel cannot make these tests empty.
std::optional<Kernel> wrong_kernel(const WrongKernel& wrong, const KernelOptions& options) {
  const Loss& loss = find_loss(wrong.loss);
  KernelOptions main = options;
  main.block = kOwnBlock;
  Kernel kernel = loss.kernel(main);
  if (options.dtype != Dtype::f32 || options.block != kernel.constant(loss.block().name)) return std::nullopt;
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
  const bool boxes = wrong.loss == "ciou";
  CheckRequest request = request_for({wrong.loss, Dtype::f32, find_loss(wrong.loss).conventions()[0].name},
                                     boxes ? "overlapping" : "gaussian");
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

INSTANTIATE_TEST_SUITE_P(All, WrongKernelGpu, ::testing::ValuesIn(wrong_kernels()), [](const auto& instance) {
  return instance.param.loss + '_' + instance.param.name;
});

}  // namespace
}  // namespace lossgrad
