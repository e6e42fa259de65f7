// SPDX-License-Identifier: Apache-2.0
#include "app/run_frame.hpp"

#include <chrono>
#include <utility>

#include <spdlog/spdlog.h>

#include "app/interrupt.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"

namespace lossgrad::app {

RunFrame::RunFrame(std::string json, const CommonOptions& common, const Environment& environment)
    : json_path_(std::move(json)),
      style_(console_style(common, environment)),
      json_(json_path_, environment.out),
      bar_(environment.err, environment.err_is_terminal && common.verbosity != Verbosity::quiet,
           environment.err_columns) {
  run_.context = run_context(environment);
}

double RunFrame::execute(BackendChoice backend, int device, std::size_t steps,
                         const std::function<void(std::size_t)>& step, std::size_t steps_per_save) {
  const auto start = std::chrono::steady_clock::now();
  steps_ = steps;
  backend_ = open_backend(choose_backend(backend), device);
  run_.context.devices.push_back(device_context(backend_->device()));
  const InterruptHandler handler;
  try {
    take_steps(step, steps_per_save);
  } catch (...) {
    bar_.erase();
    keep_results();
    throw;
  }
  bar_.erase();
  try {
    written_ = json_.finish(run_);
  } catch (const Error& error) {
    write_error_ = error;
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// After an error, which is the news: that the results could not be kept besides is a line of its own.
void RunFrame::keep_results() {
  if (save_failed_) return;  // that is the error, and would come again
  try {
    (void)json_.finish(run_);
  } catch (const Error& error) {
    spdlog::error("{}", escaped_controls(error.what()));
  }
}

void RunFrame::save() {
  save_failed_ = true;
  json_.save(run_);
  save_failed_ = false;
}

void RunFrame::take_steps(const std::function<void(std::size_t)>& step, std::size_t steps_per_save) {
  for (std::size_t i = 0; i < steps_; ++i) {
    try {
      step(i);
    } catch (const Interrupted&) {
      return;
    } catch (const Error&) {
      // Ctrl-C reaches the compilers that a step runs too: their failure is not the news.
      if (!InterruptHandler::interrupted()) throw;
      return;
    }
    run_.complete = i + 1 == steps_;
    if (!run_.complete && (i + 1) % steps_per_save == 0) save();
  }
}

void RunFrame::progress(std::size_t index, double fraction, std::string_view label) {
  if (InterruptHandler::interrupted()) throw Interrupted{};
  bar_.update((static_cast<double>(index) + fraction) / static_cast<double>(steps_), label);
}

int RunFrame::exit_code(int code) const {
  if (write_error_) throw Error(*write_error_);
  return run_.complete && written_ ? code : InterruptHandler::exit_code();
}

}  // namespace lossgrad::app
