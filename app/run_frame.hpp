// SPDX-License-Identifier: Apache-2.0
// The frame of a command that takes steps on a backend and keeps what they give: the backend and the run's
// context, the progress bar, the JSON document, and what is kept when a signal or an error ends it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/commands.hpp"
#include "app/json_output.hpp"
#include "base/error.hpp"
#include "report/progress_bar.hpp"

namespace lossgrad::app {

class RunFrame {
 public:
  // `json`: path, "-" or empty. Throws like JsonOutput.
  RunFrame(std::string json, const CommonOptions& common, const Environment& environment);

  // Opens the backend and takes the steps in order; the document is saved after every `steps_per_save` of
  // them and at the end. Returns the seconds that it took. What a step throws leaves, with the document as it
  // stands then; a signal ends it quietly; that the whole document cannot be written is for exit_code().
  double execute(BackendChoice backend, int device, std::size_t steps,
                 const std::function<void(std::size_t)>& step, std::size_t steps_per_save = 1);

  [[nodiscard]] Backend& backend() { return *backend_; }
  [[nodiscard]] Run& run() { return run_; }
  [[nodiscard]] const ConsoleStyle& style() const { return style_; }
  // Whether standard output is for people: it is not where the document goes there.
  [[nodiscard]] bool table_wanted() const { return json_path_ != "-"; }
  // Step `index` is done to this fraction. Throws Interrupted (app/interrupt.hpp) after a signal.
  void progress(std::size_t index, double fraction, std::string_view label);
  void erase_bar() { bar_.erase(); }
  // `code` when every step was taken and all was written, else the code of the signal. Throws what kept the
  // document from being written at the end.
  [[nodiscard]] int exit_code(int code) const;

 private:
  void save();
  void keep_results();
  void take_steps(const std::function<void(std::size_t)>& step, std::size_t steps_per_save);

  std::string json_path_;
  ConsoleStyle style_;
  JsonOutput json_;
  ProgressBar bar_;
  std::unique_ptr<Backend> backend_;
  Run run_;
  std::size_t steps_ = 0;
  bool written_ = false;
  std::optional<Error> write_error_;
  bool save_failed_ = false;
};

}  // namespace lossgrad::app
