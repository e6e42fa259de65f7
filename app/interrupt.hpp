// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first one asks the run to stop at the next step and keep its results, the second one ends the
// program.
#pragma once

namespace lossgrad::app {

// Thrown out of a running case; not an error, so no handler of errors sees it.
struct Interrupted {};

// Handles SIGINT while it lives.
class InterruptHandler {
 public:
  InterruptHandler();
  ~InterruptHandler();
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;
  InterruptHandler(InterruptHandler&&) = delete;
  InterruptHandler& operator=(InterruptHandler&&) = delete;

  [[nodiscard]] static bool interrupted();
};

}  // namespace lossgrad::app
