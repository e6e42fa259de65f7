// SPDX-License-Identifier: Apache-2.0
// The check engine: one case in, named check results out. Knows losses only through lib/losses/loss.hpp and
// devices only through lib/device/backend.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/failed_pass.hpp"
#include "device/backend.hpp"
#include "losses/loss.hpp"
#include "results/results.hpp"

namespace lossgrad {

struct Tolerance {
  double slack = 2;  // multiplies the certified bound; see allowed_error()
  // When both are set they replace the bound: |got - expected| <= atol + rtol * |expected|.
  std::optional<double> rtol;
  std::optional<double> atol;
};

// Names of the checks in the order of the report, with one line each for --list.
struct CheckName {
  std::string name;
  std::string summary;
};
const std::vector<CheckName>& check_names();

struct CheckRequest {
  const Loss* loss = nullptr;
  std::vector<Pass> passes = {Pass::forward, Pass::backward};
  std::string convention;
  Dtype dtype = Dtype::f32;
  Sizes sizes;
  Parameters parameters;  // of the loss (margin); all of them
  std::string scenario;
  std::uint64_t seed = 1;
  int block = kOwnBlock;
  Tolerance tolerance;
  std::set<std::string> skip;     // names of checks to leave out
  std::int64_t fd_samples = 256;  // items whose gradients are compared with finite differences
  bool full_jacobian = false;     // every component of these items, not some
  bool diagnose = true;           // what a failed kernel does wrong
  // A diagnosis that cannot be made (its kernels do not compile) ends the case, instead of a word in the
  // reason.
  bool diagnosis_required = false;
  // Inputs from files instead of the scenario: argument name -> values in the argument's own layout. An
  // argument that is not here is generated (dy), with sizes as in `sizes`.
  std::map<std::string, std::vector<double>> inputs;
  InputFiles files;     // for the report
  std::string command;  // that repeats the case
  // Makes the kernels that are checked; empty: the loss's own. Returns nothing for options that it does not
  // offer (another block size, f64): checks that need such a kernel are left out and say so.
  std::function<std::optional<Kernel>(const KernelOptions&)> make_kernel;
  // Gets the inputs and outputs of each pass that has a failed check, at the end of the case; may be empty.
  std::function<void(FailedPass)> on_failed_pass = {};
};

// Called with the fraction of the case that is done (0..1) and the name of the running check; may be empty.
using Progress = std::function<void(double, std::string_view)>;

// Runs every check of the case; results in the order of check_names() within each pass. Throws Error when the
// case cannot be run at all (compile, device, memory): never turned into a skip.
std::vector<CheckResult> check_case(const CheckRequest& request, Backend& backend,
                                    const Progress& progress = {});

}  // namespace lossgrad
