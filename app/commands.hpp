// SPDX-License-Identifier: Apache-2.0
// One function per command. Each returns the exit code for what it found; faults are thrown as Error.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>

#include "app/file_inputs.hpp"
#include "app/options.hpp"
#include "device/backend.hpp"
#include "report/console_style.hpp"
#include "results/results.hpp"

namespace lossgrad::app {

inline constexpr int kExitPassed = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitInternal = 70;

// What surrounds a command.
struct Environment {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool no_color = false;  // the environment asks for no colour: NO_COLOR, TERM=dumb
  std::string executable;
  std::string command_line;  // as typed
  FileReaders readers;
  std::function<void(const std::filesystem::path&, std::span<const NamedArray>)> write_arrays = {};  // .npz
  std::function<std::size_t()> err_columns = {};  // width of the terminal behind `err`; 0 when not known
};

int command_check(const CheckOptions& options, const CommonOptions& common, const Environment& environment);
int command_selftest(const SelftestOptions& options, const CommonOptions& common,
                     const Environment& environment);
int command_devices(const Environment& environment);
int command_kernels_list(const Environment& environment);
int command_kernels_show(const KernelsShowOptions& options, const Environment& environment);
int command_kernels_build(const KernelsBuildOptions& options, const Environment& environment);

// 0 when at least one check ran and none failed; mistrusted counts as failed unless allowed.
int exit_code_of(const Run& run, bool allow_mistrusted);
ConsoleStyle console_style(const CommonOptions& common, const Environment& environment);
RunContext run_context(const Environment& environment);
// auto: cuda where it is available, else host; which one, and why, goes to the log.
BackendKind choose_backend(BackendChoice choice);
DeviceContext device_context(const DeviceDescription& device);

}  // namespace lossgrad::app
