// SPDX-License-Identifier: Apache-2.0
// Cases of the built-in kernels on the host backend, and looks into their results.
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "check/check.hpp"
#include "results/run_json.hpp"

namespace lossgrad::check_support {

// One backend for all tests of a program.
inline Backend& host() {
  static const auto backend = open_backend(BackendKind::host);
  return *backend;
}

// What built-in kernels there are of a loss, but for their blocks.
struct Variant {
  std::string loss;
  Dtype dtype;
  std::string convention;
};

// "f32_yolo" ...
inline std::string label(const Variant& variant) {
  return std::string(name(variant.dtype)) + '_' + variant.convention;
}
inline void PrintTo(const Variant& variant, std::ostream* stream) {
  *stream << variant.loss << '_' << label(variant);
}

inline std::vector<Variant> variants(std::string_view loss_name) {
  std::vector<Variant> all;
  for (const Dtype dtype : kAllDtypes) {
    for (const NamedChoice& convention : find_loss(loss_name).conventions())
      all.push_back({std::string(loss_name), dtype, convention.name});
  }
  return all;
}

inline CheckRequest ciou_request(Dtype dtype, const std::string& convention, std::int64_t boxes,
                                 const std::string& scenario = "mixed") {
  CheckRequest request;
  request.loss = &find_loss("ciou");
  request.convention = convention;
  request.dtype = dtype;
  request.sizes = {{"N", boxes}};
  request.scenario = scenario;
  request.fd_samples = 64;
  return request;
}

struct CosineShape {
  std::int64_t n_rows = 0;
  std::int64_t n_dim = 0;
};

inline CheckRequest cosine_request(Dtype dtype, const std::string& convention, CosineShape shape,
                                   const std::string& scenario = "mixed", double margin = 0) {
  CheckRequest request;
  request.loss = &find_loss("cosine");
  request.convention = convention;
  request.dtype = dtype;
  request.sizes = {{"n_rows", shape.n_rows}, {"n_dim", shape.n_dim}};
  request.parameters = {{"margin", round_to(Dtype::f32, margin)}};
  request.scenario = scenario;
  request.fd_samples = 16;
  return request;
}

inline const CheckResult& find(const std::vector<CheckResult>& results, Pass pass, const std::string& check) {
  const auto found = std::find_if(results.begin(), results.end(), [&](const CheckResult& result) {
    return result.case_id.pass == pass && result.check == check;
  });
  if (found != results.end()) return *found;
  static const CheckResult none = [] {
    CheckResult result;
    result.verdict = Verdict::unsupported;
    result.reason = "there is no such result";
    return result;
  }();
  ADD_FAILURE() << name(pass) << ' ' << check << " is missing";
  return none;
}

// "forward reference" ...
inline std::string label(const CheckResult& result) {
  return std::string(name(result.case_id.pass)) + ' ' + result.check;
}

inline std::vector<std::string> labels(const std::vector<CheckResult>& results) {
  std::vector<std::string> all;
  for (const CheckResult& result : results) all.push_back(label(result));
  return all;
}

inline void expect_passed(const CheckResult& result) {
  EXPECT_EQ(name(result.verdict), "passed") << label(result) << ": " << result.reason;
  EXPECT_GT(result.compared, 0) << label(result);
}

inline void expect_none_failed(const std::vector<CheckResult>& results) {
  for (const CheckResult& result : results) {
    EXPECT_NE(name(result.verdict), "failed") << label(result) << ": " << result.reason;
    EXPECT_NE(name(result.verdict), "unsupported") << label(result) << ": " << result.reason;
  }
}

inline double largest_usage(const CheckResult& result) {
  return result.bound_usage ? result.bound_usage->max : 0;
}

// Everything in the results but how long they took.
inline std::string text_without_times(std::vector<CheckResult> results) {
  for (CheckResult& result : results) result.seconds = 0;
  Run run;
  run.checks = std::move(results);
  return to_json(run);
}

}  // namespace lossgrad::check_support
