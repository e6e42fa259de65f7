// SPDX-License-Identifier: Apache-2.0
#include "app/interrupt.hpp"

#include <array>
#include <csignal>

namespace lossgrad::app {
namespace {

volatile std::sig_atomic_t interrupt_seen = 0;

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

extern "C" void remember_interrupt(int signal) { interrupt_seen = signal; }

void set_handler(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptHandler::InterruptHandler() {
  interrupt_seen = 0;
  for (const int signal : kSignals) {
    // Unless the program was started with the signal ignored (nohup, a background job of a script).
    struct sigaction current {};
    ::sigaction(signal, nullptr, &current);
    if (current.sa_handler != SIG_IGN)
      set_handler(signal, remember_interrupt, static_cast<int>(SA_RESETHAND) | SA_RESTART);
  }
}

InterruptHandler::~InterruptHandler() {
  for (const int signal : kSignals) {
    struct sigaction current {};
    ::sigaction(signal, nullptr, &current);
    if (current.sa_handler == remember_interrupt) set_handler(signal, SIG_DFL, 0);
  }
}

bool InterruptHandler::interrupted() { return interrupt_seen != 0; }

int InterruptHandler::exit_code() { return 128 + interrupt_seen; }

}  // namespace lossgrad::app
