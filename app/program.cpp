// SPDX-License-Identifier: Apache-2.0
#include "app/program.hpp"

#include <new>
#include <ostream>
#include <sstream>

#include "app/cli.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"

namespace lossgrad::app {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

int run_command(const CommandLine& line, const Environment& environment) {
  return std::visit(
      Overloaded{
          [&](const ShowText& show) {
            environment.out << show.text;
            return kExitPassed;
          },
          [&](const CheckOptions& options) { return command_check(options, line.common, environment); },
          [&](const SelftestOptions& options) { return command_selftest(options, line.common, environment); },
          [&](const DevicesOptions&) { return command_devices(environment); },
          [&](const KernelsListOptions&) { return command_kernels_list(environment); },
          [&](const KernelsShowOptions& options) { return command_kernels_show(options, environment); },
          [&](const KernelsBuildOptions& options) { return command_kernels_build(options, environment); },
      },
      line.command);
}

void require_written(std::ostream& out) {
  out.flush();
  if (!out) throw Error(ErrorKind::data, "standard output cannot be written (disk full, or closed)");
}

// A message stays one line, and safe for a terminal, whatever a file name or a compiler puts into it.
int report(const Error& error, bool verbose, std::ostream& err) {
  err << "lossgrad: " << escaped_controls(error.what()) << '\n';
  if (!error.detail().empty() && (verbose || error.kind() == ErrorKind::compile)) {
    std::istringstream lines(error.detail());
    for (std::string line; std::getline(lines, line);) err << escaped_controls(line) << '\n';
  }
  return exit_code(error.kind());
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, const Environment& environment) {
  bool verbose = false;
  try {
    const CommandLine line = parse_command_line(arguments);
    verbose = line.common.verbosity == Verbosity::verbose;
    set_up_log(line.common.verbosity);
    const int code = run_command(line, environment);
    require_written(environment.out);
    return code;
  } catch (const Error& error) {
    return report(error, verbose, environment.err);
  } catch (const std::bad_alloc&) {
    environment.err << "lossgrad: not enough memory: try fewer items\n";
    return exit_code(ErrorKind::device);
  } catch (const std::exception& error) {
    environment.err << "lossgrad: internal error: " << escaped_controls(error.what()) << '\n';
    return kExitInternal;
  }
}

}  // namespace lossgrad::app
