// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, SIGTERM, SIGHUP: the first one asks the run to stop at the next step and keep its results, one that
// comes more than a second later ends the program.
#pragma once

namespace lossgrad::app {

// Thrown out of a running case; not an error, so no handler of errors sees it.
struct Interrupted {};

// Handles the three signals while it lives.
class InterruptHandler {
 public:
  InterruptHandler();
  ~InterruptHandler();
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;
  InterruptHandler(InterruptHandler&&) = delete;
  InterruptHandler& operator=(InterruptHandler&&) = delete;

  [[nodiscard]] static bool interrupted();
  // 128 + the signal, as shells have it: 130 for Ctrl-C.
  [[nodiscard]] static int exit_code();
};

}  // namespace lossgrad::app
