// SPDX-License-Identifier: Apache-2.0
#include "app/interrupt.hpp"

#include <array>
#include <csignal>
#include <ctime>

namespace lossgrad::app {
namespace {

volatile std::sig_atomic_t interrupt_seen = 0;
timespec interrupt_time{};  // of the first one

// Some programs send a signal to a process and at once to its group: that is one request to stop.
constexpr double kOneRequestSeconds = 1;

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

void set_handler(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(signal, &action, nullptr);
}

// Calls nothing that a handler may not.
extern "C" void remember_interrupt(int signal) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (interrupt_seen == 0) {
    interrupt_time = now;
    interrupt_seen = signal;
    return;
  }
  const double seconds = static_cast<double>(now.tv_sec - interrupt_time.tv_sec) +
                         1e-9 * static_cast<double>(now.tv_nsec - interrupt_time.tv_nsec);
  if (seconds < kOneRequestSeconds) return;
  set_handler(signal, SIG_DFL, 0);
  ::raise(signal);
}

}  // namespace

InterruptHandler::InterruptHandler() {
  interrupt_seen = 0;
  for (const int signal : kSignals) {
    // Unless the program was started with the signal ignored (nohup, a background job of a script).
    struct sigaction current {};
    ::sigaction(signal, nullptr, &current);
    if (current.sa_handler != SIG_IGN) set_handler(signal, remember_interrupt, SA_RESTART);
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
