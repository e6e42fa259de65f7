// SPDX-License-Identifier: Apache-2.0
// What the command line asks for, as plain values: parsed, but names that depend on the loss are not looked
// up yet.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/log.hpp"
#include "data/boxes.hpp"
#include "kernel/argument.hpp"
#include "math/dtype.hpp"

namespace lossgrad::app {

enum class ColorChoice { automatic, always, never };
enum class BackendChoice { automatic, cuda, host };

struct CommonOptions {
  Verbosity verbosity = Verbosity::normal;
  ColorChoice color = ColorChoice::automatic;
};

struct CheckOptions {
  std::string loss;  // empty only with `list`
  bool list = false;
  std::vector<Pass> passes = {Pass::forward, Pass::backward};
  std::vector<Dtype> dtypes;  // empty: f32, or the type of the files
  std::map<std::string, std::vector<std::int64_t>>
      sizes;  // size name -> values; a missing one: the loss's default
  // Names of BlockInfo and ParameterInfo -> values; a missing one: the loss's own choice or default.
  std::map<std::string, std::vector<std::int64_t>> blocks;
  std::map<std::string, std::vector<double>> parameters;
  std::vector<std::string> scenarios;  // empty: the loss's default; {"all"}
  std::uint64_t seed = 1;
  std::vector<std::string> conventions;  // empty: the loss's default; {"all"}
  BackendChoice backend = BackendChoice::automatic;
  int device = 0;
  std::map<std::string, std::string> files;  // argument name -> path
  std::optional<BoxFormat> box_format;
  std::optional<MatchRule> match;
  double slack = 2;
  std::optional<double> rtol;
  std::optional<double> atol;
  std::int64_t fd_samples = 256;
  bool full_jacobian = false;
  std::vector<std::string> skip;
  bool allow_mistrusted = false;
  bool diagnose = true;
  std::string json;           // path, "-" or empty
  std::string save_failures;  // folder, or empty
};

struct SelftestOptions {
  std::vector<std::string> losses;  // empty: all
  std::vector<Dtype> dtypes = {Dtype::f32};
  std::vector<std::string> faults;  // names; empty: all
  bool diagnosis = false;
  BackendChoice backend = BackendChoice::automatic;
  int device = 0;
  std::string json;  // path, "-" or empty
};

struct DevicesOptions {};

struct KernelsListOptions {};

enum class KernelView { overview, source, entry_point, ptx, resources };

struct KernelsShowOptions {
  std::string id;
  KernelView view = KernelView::overview;
  std::vector<std::string> architectures;  // empty: the default of the view
};

struct KernelsBuildOptions {
  BackendChoice backend = BackendChoice::automatic;
  std::vector<std::string> architectures;  // cuda: compile for these without a device
};

struct ShowText {  // --help and --version
  std::string text;
};

struct CommandLine {
  CommonOptions common;
  std::variant<ShowText, CheckOptions, SelftestOptions, DevicesOptions, KernelsListOptions,
               KernelsShowOptions, KernelsBuildOptions>
      command;
};

}  // namespace lossgrad::app
