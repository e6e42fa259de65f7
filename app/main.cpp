// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include <sys/ioctl.h>
#include <unistd.h>

#include "app/check_plan.hpp"
#include "app/program.hpp"
#include "data/npz.hpp"

namespace {

bool no_color_wanted() {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return (no_color != nullptr && *no_color != '\0') ||
         (terminal != nullptr && std::strcmp(terminal, "dumb") == 0);
}

std::size_t columns_of_standard_error() {
  struct winsize size {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string as_typed(int argc, char** argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) text += (i == 0 ? "" : " ") + lossgrad::app::shell_quoted(argv[i]);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const lossgrad::app::Environment environment = {
      .out = std::cout,
      .err = std::cerr,
      .out_is_terminal = ::isatty(STDOUT_FILENO) == 1,
      .err_is_terminal = ::isatty(STDERR_FILENO) == 1,
      .no_color = no_color_wanted(),
      .executable = argc > 0 ? argv[0] : "lossgrad",
      .command_line = as_typed(argc, argv),
      .readers = {.boxes = lossgrad::read_boxes, .array = lossgrad::read_array},
      .write_arrays = lossgrad::write_npz,
      .err_columns = columns_of_standard_error};
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error of its write
  return lossgrad::app::run_program({argv + (argc > 0 ? 1 : 0), argv + argc}, environment);
}
