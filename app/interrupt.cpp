// SPDX-License-Identifier: Apache-2.0
#include "app/interrupt.hpp"

#include <csignal>

namespace lossgrad::app {
namespace {

volatile std::sig_atomic_t interrupt_seen = 0;

extern "C" void remember_interrupt(int) { interrupt_seen = 1; }

void set_handler(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(SIGINT, &action, nullptr);
}

}  // namespace

InterruptHandler::InterruptHandler() {
  interrupt_seen = 0;
  // Unless the program was started with interrupts ignored (nohup, a background job of a script).
  struct sigaction current {};
  ::sigaction(SIGINT, nullptr, &current);
  if (current.sa_handler != SIG_IGN)
    set_handler(remember_interrupt, static_cast<int>(SA_RESETHAND) | SA_RESTART);
}

InterruptHandler::~InterruptHandler() {
  struct sigaction current {};
  ::sigaction(SIGINT, nullptr, &current);
  if (current.sa_handler == remember_interrupt) set_handler(SIG_DFL, 0);
}

bool InterruptHandler::interrupted() { return interrupt_seen != 0; }

}  // namespace lossgrad::app
