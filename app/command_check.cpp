// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <ostream>

#include "app/check_plan.hpp"
#include "app/commands.hpp"
#include "app/failure_files.hpp"
#include "app/interrupt.hpp"
#include "app/json_output.hpp"
#include "base/error.hpp"
#include "report/console.hpp"
#include "report/progress_bar.hpp"

namespace lossgrad::app {
namespace {

using Clock = std::chrono::steady_clock;

void list_choices(std::ostream& out, const std::string& title, const std::vector<NamedChoice>& choices) {
  std::size_t width = 0;
  for (const NamedChoice& choice : choices) width = std::max(width, choice.name.size());
  out << "  " << title << ":\n";
  for (const NamedChoice& choice : choices) {
    out << "    " << choice.name << std::string(width - choice.name.size() + 2, ' ') << choice.summary
        << '\n';
  }
}

void list_loss(std::ostream& out, const Loss& loss) {
  out << loss.name() << ": " << loss.summary() << '\n';
  list_choices(out, "conventions (the first is the default)",
               {loss.conventions().begin(), loss.conventions().end()});
  std::vector<NamedChoice> scenarios;
  for (const ScenarioInfo& scenario : loss.scenarios())
    scenarios.push_back({scenario.name, scenario.summary});
  list_choices(out, "scenarios (default " + loss.default_scenario() + ")", scenarios);
}

int list_losses(const CheckOptions& options, std::ostream& out) {
  if (!options.loss.empty()) {
    list_loss(out, find_loss(options.loss));
  } else {
    for (const Loss* loss : all_losses()) list_loss(out, *loss);
  }
  std::vector<NamedChoice> checks;
  for (const CheckName& check : check_names()) checks.push_back({check.name, check.summary});
  out << "every loss\n";
  list_choices(out, "checks, in this order", checks);
  return kExitPassed;
}

// One run of a plan: executes the cases in order, prints and saves after each.
class CheckRun {
 public:
  CheckRun(const CheckOptions& options, const CommonOptions& common, const Environment& environment)
      : options_(options),
        environment_(environment),
        style_(console_style(common, environment)),
        table_wanted_(options.json != "-"),
        plan_(make_check_plan(options, environment.readers)),
        failure_files_(options, environment.write_arrays),
        json_(options.json, environment.out),
        bar_(environment.err, environment.err_is_terminal && common.verbosity != Verbosity::quiet,
             environment.err_columns) {}

  int execute() {
    const Clock::time_point start = Clock::now();
    backend_ = open_backend(choose_backend(options_.backend), options_.device);
    run_.context = run_context(environment_);
    run_.context.tolerance_slack = options_.slack;
    run_.context.tolerance_rtol = options_.rtol;
    run_.context.tolerance_atol = options_.atol;
    run_.context.devices.push_back(device_context(backend_->device()));
    const InterruptHandler handler;
    try {
      run_cases();
    } catch (...) {
      bar_.erase();
      if (!run_.checks.empty()) (void)json_.finish(run_);
      throw;
    }
    bar_.erase();
    const bool written = json_.finish(run_);
    const std::chrono::duration<double> seconds = Clock::now() - start;
    if (table_wanted_) print_summary(environment_.out, run_, seconds.count(), style_);
    if (save_error_) throw Error(*save_error_);
    return run_.complete && written ? exit_code_of(run_, options_.allow_mistrusted)
                                    : InterruptHandler::exit_code();
  }

 private:
  void run_cases() {
    for (std::size_t i = 0; i < plan_.requests.size(); ++i) {
      try {
        run_case(i);
      } catch (const Interrupted&) {
        return;
      } catch (const Error&) {
        // Ctrl-C reaches the compilers that the case runs too: their failure is not the news.
        if (!InterruptHandler::interrupted()) throw;
        return;
      }
      run_.complete = i + 1 == plan_.requests.size();
      json_.save(run_);
    }
  }

  void run_case(std::size_t index) {
    CheckRequest request = plan_.requests[index];
    std::vector<std::string> notes;
    if (plan_.files) {
      notes = plan_.files->notes;
      request.inputs = rounded_inputs(*plan_.files, request.dtype, notes);
    }
    request.command = repeat_command(options_, request, backend_->name());
    const auto progress = [&](double fraction, std::string_view label) {
      if (InterruptHandler::interrupted()) throw Interrupted{};
      bar_.update((static_cast<double>(index) + fraction) / static_cast<double>(plan_.requests.size()),
                  label);
    };
    progress(0, request.scenario);
    std::vector<FailedPass> failed;
    if (failure_files_.wanted())
      request.on_failed_pass = [&failed](FailedPass pass) { failed.push_back(std::move(pass)); };
    std::vector<CheckResult> results = check_case(request, *backend_, progress);
    for (CheckResult& result : results) result.data_notes = notes;
    save_failures(request, failed, results);
    bar_.erase();
    if (table_wanted_) {
      print_case(environment_.out, results, style_);
      environment_.out.flush();
    }
    run_.checks.insert(run_.checks.end(), results.begin(), results.end());
  }

  // What cannot be saved must not cost the results of the run: the first error is told at the end.
  void save_failures(const CheckRequest& request, const std::vector<FailedPass>& failed,
                     std::vector<CheckResult>& results) {
    for (const FailedPass& pass : failed) {
      try {
        failure_files_.save(request, pass, results);
      } catch (const Error& error) {
        if (!save_error_) save_error_ = error;
      }
    }
  }

  const CheckOptions& options_;
  const Environment& environment_;
  ConsoleStyle style_;
  bool table_wanted_;
  CheckPlan plan_;
  FailureFiles failure_files_;
  std::optional<Error> save_error_;
  JsonOutput json_;
  ProgressBar bar_;
  std::unique_ptr<Backend> backend_;
  Run run_;
};

}  // namespace

int command_check(const CheckOptions& options, const CommonOptions& common, const Environment& environment) {
  if (options.list) return list_losses(options, environment.out);
  return CheckRun(options, common, environment).execute();
}

}  // namespace lossgrad::app
