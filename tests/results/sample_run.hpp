// SPDX-License-Identifier: Apache-2.0
// A run with every field set and every odd number in it.
#pragma once

#include <limits>

#include "results/results.hpp"

namespace lossgrad::test {

inline CaseId sample_case() {
  CaseId id;
  id.loss = "ciou";
  id.pass = Pass::backward;
  id.convention = "yolo";
  id.dtype = Dtype::f32;
  id.sizes = {{"N", 1048576}};
  id.scenario = "mixed";
  id.seed = 1;
  id.backend = "host";
  id.kernel_id = "yolo_ciou_loss_backward__f32__256";
  id.kernel_hash = "0123456789abcdef0123456789abcdef";
  return id;
}

inline CheckResult passed_check() {
  CheckResult result;
  result.case_id = sample_case();
  result.check = "reference";
  result.compared = 4194304;
  result.kinks = 9412;
  result.bound_usage = Distribution{0.9412, 0.32, 0.21, 0.034};
  result.abs_error = Distribution{3.1e-7, 1e-7, 2e-8, 1e-9};
  result.rel_error = Distribution{2.25e-6, 1e-7, 2e-8, 1e-9};
  result.ulp_error = Distribution{19.52, 3, 2, 0.5};
  result.seconds = 1.25;
  result.command = "lossgrad check ciou --n 1048576 --scenario mixed --seed 1";
  return result;
}

inline WorstElement worst_element() {
  WorstElement element;
  element.output = "d_pred";
  element.item = 17;
  element.component = 2;
  element.got = 0.1234567890123456;
  element.expected_low = 0.2345678901234567;
  element.expected_high = 0.2345678901234567;
  element.bound = 1.25e-7;
  element.bound_usage = 888888.9;
  element.abs_error = 0.1111111011111111;
  element.rel_error = 0.47368422;
  element.ulp_error = 7456540;
  element.inputs = {
      {"pred", {0.1, 2, 3e-9, 10}}, {"target", {0.30000001192092896, 2, 1, 16777216}}, {"dy", {-1.25}}};
  return element;
}

inline FaultResult caught_fault() {
  FaultResult result;
  result.loss = "ciou";
  result.fault = "alpha_detached";
  result.family = "convention";
  result.summary = "alpha carried no gradient";
  result.pass = Pass::backward;
  result.backend = "host";
  result.caught_by = {"reference", "own_saved"};
  result.bound_usage = 88123.5;
  result.reason = "12 of 4,194,304 elements are outside their bound";
  result.diagnosed_as = 1;
  result.diagnosis = {{"alpha_detached", "alpha carried no gradient", 1, 1},
                      {"convention_torchvision", "the convention were torchvision", 0.96875, 2}};
  result.seconds = 0.25;
  return result;
}

inline FaultResult slipped_fault() {
  FaultResult result = caught_fault();
  result.fault = "sign_lost";
  result.outcome = FaultOutcome::slipped;
  result.caught_by = {};
  result.bound_usage = 0;
  result.reason = "reference passed";
  result.diagnosed_as = 0;
  result.diagnosis = {};
  return result;
}

inline FaultResult equivalent_fault() {
  FaultResult result = slipped_fault();
  result.fault = "constant_in_f32";
  result.family = "low precision";
  result.outcome = FaultOutcome::equivalent;
  result.reason = "the type is f32";
  result.diagnosed_as.reset();
  return result;
}

inline CheckResult failed_check() {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  CheckResult result = passed_check();
  result.check = "own_saved";
  result.verdict = Verdict::failed;
  result.reason = "12 of 4,194,304 elements are outside their bound";
  result.out_of_range = 3;
  result.unbounded = 2;
  result.non_finite_items = 1;
  result.bound_usage = Distribution{kInf, 8.9e5, 1.5, 0.034};
  result.sharp_bound_usage = Distribution{kInf, 9.9e5, 2.5, 0.05};
  result.ulp_error = Distribution{kNan, -kInf, 0.1, 5e-324};
  result.part = PartFault{"distance", 0.5, "the distance part is taken 0.5 times"};
  result.reproducer = "lossgrad check ciou --pred failures/a.npz --target failures/a.npz";
  result.worst = {worst_element(), worst_element()};
  result.diagnosis = caught_fault().diagnosis;
  WorstElement& kink = result.worst.back();
  kink.item = 1048575;
  kink.kink = true;
  kink.got = kNan;
  kink.expected_low = -0.5;
  kink.expected_high = 0.25;
  kink.bound_usage = kNan;
  kink.note = "not written";
  kink.inputs = {{"pred", {kNan, kInf, -kInf, -0.0}}};
  return result;
}

inline Run sample_run() {
  Run run;
  run.context.date = "2025-03-01T12:34:56+01:00";
  run.context.host_name = "build-7";
  run.context.executable = "lossgrad";
  run.context.command = "lossgrad check ciou --json -";
  run.context.version = "0.1.0";
  run.context.num_cpus = 2;
  run.context.tolerance_slack = 2;
  run.context.tolerance_rtol = 1e-5;
  run.context.tolerance_atol = 0;
  run.context.devices = {{"host (2 threads)", "x86_64", "", "g++ 12.2.0", 8589934592, 2}};
  run.checks = {passed_check(), failed_check(), passed_check()};
  run.faults = {caught_fault(), slipped_fault(), equivalent_fault()};
  CheckResult& file_check = run.checks.back();
  file_check.case_id.scenario = "file";
  file_check.case_id.files = {{"pred", "a b/\"pred\".npy"}, {"target", "t\xC3\xA9.json"}};
  file_check.case_id.seed = std::numeric_limits<std::uint64_t>::max();
  file_check.case_id.sizes = {{"n_rows", 3}, {"n_dim", 512}};
  file_check.verdict = Verdict::skipped;
  file_check.reason = "left out with --skip";
  file_check.bound_usage.reset();
  file_check.data_notes = {"83 of 734 predictions have no partner"};
  run.complete = true;
  return run;
}

}  // namespace lossgrad::test
