// SPDX-License-Identifier: Apache-2.0
// What a run found: plain data. Engines fill it, reports read it, neither knows the other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/argument.hpp"
#include "math/dtype.hpp"

namespace lossgrad {

enum class Verdict {
  passed,
  failed,
  mistrusted,  // agrees, but proves little: nearly all gradients zero, nearly all elements kinks or unbounded
  unsupported,  // the kernel or backend cannot run this case; no check says so yet
  skipped,      // left out on request (--skip) or not applicable; the reason says which
};
std::string_view name(Verdict verdict);
std::optional<Verdict> parse_verdict(std::string_view text);

using InputFiles = std::vector<std::pair<std::string, std::string>>;  // argument name, path as given

// What was checked. Two results with the same case and check are about the same thing in two runs.
struct CaseId {
  std::string loss;  // "ciou"
  Pass pass = Pass::forward;
  std::string convention;  // "yolo"
  Dtype dtype = Dtype::f32;
  Sizes sizes;                               // {"N": 1048576}
  std::map<std::string, double> parameters;  // {"margin": 0.5}
  std::string scenario;                      // "mixed"; "file" for inputs read from files
  InputFiles files;
  std::uint64_t seed = 0;
  std::string backend;      // "host"
  std::string kernel_id;    // "yolo_ciou_loss_backward__f32__256"
  std::string kernel_hash;  // content hash of the binary that ran
};

// Largest value and upper quantiles of one error measure over the compared elements.
struct Distribution {
  double max = 0;
  double q999 = 0;  // 99.9 %
  double q99 = 0;
  double q50 = 0;
};

struct WorstElement {
  std::string output;     // "d_pred"
  std::int64_t item = 0;  // box or row
  std::int64_t component = 0;
  double got = 0;
  // The hull of right values. The two ends of an element that is no kink differ by rounding at most.
  double expected_low = 0;
  double expected_high = 0;
  double bound = 0;
  double bound_usage = 0;
  double abs_error = 0;
  double rel_error = 0;
  double ulp_error = 0;
  bool kink = false;
  bool wrong = false;  // beyond its limit; not in documents, and false when read from one
  std::string note;    // what is wrong where that is not the distance alone: "not finite", "a NaN input was
                       // swallowed", "more than the rounding to f16 allows"
  // Inputs of the item, in full precision: ("pred", {cx, cy, w, h}), ("dy", {1.25}) ...
  std::vector<std::pair<std::string, std::vector<double>>> inputs;
};

// The right value that is nearest to what the kernel gave; the lower end where it gave no number.
double nearest_expected(const WorstElement& element);

// A deviation that explains what a failed kernel computed.
struct Diagnosis {
  std::string name;     // "alpha_detached"; "convention_torchvision" for another convention
  std::string summary;  // goes on from "behaves as if": "alpha were held fixed"
  double share = 0;     // of the wrong elements, and of those it would make wrong, that it explains
  int rank = 1;         // 1 is best; deviations that explain equally much share a rank
};

// The one part of the formula, or the whole, that explains every difference when it is taken `factor` times.
struct PartFault {
  std::string name;   // "distance", "cos", "whole"
  double factor = 0;  // 0: missing, -1: the other sign
  std::string text;   // "the distance part is taken 0.5 times"
};

// One named check of one case.
struct CheckResult {
  CaseId case_id;
  std::string
      check;  // "oracles", "reference", "own_saved", "self_consistency", "guards", "repeatability" ...
  Verdict verdict = Verdict::passed;
  std::string reason;                 // why not passed, or what deserves a word; one line
  std::int64_t compared = 0;          // elements
  std::int64_t kinks = 0;             // elements whose right value is a range
  std::int64_t out_of_range = 0;      // elements infinite or beyond a type's range, themselves or on the way
  std::int64_t unbounded = 0;         // elements without a finite bound
  std::int64_t non_finite_items = 0;  // boxes or rows with a NaN or infinite input
  std::optional<Distribution> bound_usage;  // abs error / bound, the bound that holds for any right kernel
  std::optional<Distribution> sharp_bound_usage;  // the same against the bound of the accurate form
  std::optional<Distribution> abs_error;
  // Over elements whose right value exceeds its bound: of a value that cancels to less, no digit is certain.
  std::optional<Distribution> rel_error;
  std::optional<Distribution> ulp_error;  // in ulp of the storage type
  std::vector<WorstElement> worst;        // what is wrong first, then the largest bound usage
  std::optional<PartFault> part;          // of a failed comparison
  std::vector<Diagnosis> diagnosis;       // of a failed kernel, best first; empty: none found
  // What deserves a word about inputs read from files: boxes left out, odd boxes, values changed by rounding.
  std::vector<std::string> data_notes;
  double seconds = 0;
  std::string command;  // the command line that repeats this case
  // The one that repeats this failure from what --save-failures wrote; empty: nothing was saved.
  std::string reproducer;
};

enum class FaultOutcome {
  caught,      // by the check that should catch it
  slipped,     // not, or for the wrong reason
  equivalent,  // it changes nothing in this type
};
std::string_view name(FaultOutcome outcome);
std::optional<FaultOutcome> parse_fault_outcome(std::string_view text);

// What became of one fault that selftest injected.
struct FaultResult {
  std::string loss;
  std::string fault;    // name in the loss's dictionary
  std::string family;   // "sign"
  std::string summary;  // goes on from "behaves as if"
  Pass pass = Pass::forward;
  Dtype dtype = Dtype::f32;
  std::string backend;
  FaultOutcome outcome = FaultOutcome::caught;
  std::vector<std::string> caught_by;  // checks that failed
  double bound_usage = 0;              // largest over the checks
  std::string reason;                  // of the check that caught it, why it slipped, or why it is equivalent
  // Where a diagnosis was asked for and the fault has numbers of its own: the rank of the right name, 0 when
  // it is not among those found.
  std::optional<int> diagnosed_as;
  std::vector<Diagnosis> diagnosis;
  double seconds = 0;
};

struct DeviceContext {
  std::string name;
  std::string architecture;
  std::string driver_version;
  std::string compiler;
  std::int64_t memory_bytes = 0;
  int multiprocessors = 0;
};

struct RunContext {
  std::string date;  // RFC 3339, local time with offset
  std::string host_name;
  std::string executable;
  std::string command;  // as typed
  std::string version;  // lossgrad's
  int num_cpus = 0;
  double tolerance_slack = 2;
  // Both set: they replaced the certified bounds, and bound usage is against them.
  std::optional<double> tolerance_rtol;
  std::optional<double> tolerance_atol;
  std::vector<DeviceContext> devices;  // those that ran something
};

struct Run {
  RunContext context;
  std::vector<CheckResult> checks;
  std::vector<FaultResult> faults;  // of a selftest
  bool complete = false;            // false while cases are still to come, and for ever in an aborted run
};

bool has_results(const Run& run);  // of checks or faults

struct Summary {
  std::int64_t passed = 0, failed = 0, mistrusted = 0, unsupported = 0, skipped = 0;
};
Summary summarise(const Run& run);

}  // namespace lossgrad
