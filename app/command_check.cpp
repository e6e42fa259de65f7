// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <ostream>

#include "app/check_plan.hpp"
#include "app/commands.hpp"
#include "app/failure_files.hpp"
#include "app/run_frame.hpp"
#include "base/error.hpp"
#include "report/console.hpp"
#include "report/usage_summary.hpp"

namespace lossgrad::app {
namespace {

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
        plan_(make_check_plan(options, environment.readers)),
        failure_files_(options, environment.write_arrays),
        frame_(options.json, common, environment) {
    frame_.run().context.tolerance_slack = options.slack;
    frame_.run().context.tolerance_rtol = options.rtol;
    frame_.run().context.tolerance_atol = options.atol;
  }

  // Of two files that are lost both are told.
  int execute() {
    try {
      const int code = run();
      if (!save_error_) return code;
    } catch (const Error& error) {
      if (!save_error_) throw;
      throw Error(error.kind(), error.what() + std::string("; ") + save_error_->what(), error.detail());
    }
    throw Error(*save_error_);
  }

 private:
  int run() {
    const double seconds = frame_.execute(options_.backend, options_.device, plan_.requests.size(),
                                          [this](std::size_t index) { run_case(index); });
    if (frame_.table_wanted()) {
      print_usage_summary(environment_.out, frame_.run());
      print_summary(environment_.out, frame_.run(), seconds, frame_.style());
    }
    return frame_.exit_code(exit_code_of(frame_.run(), options_.allow_mistrusted));
  }

  void run_case(std::size_t index) {
    CheckRequest request = plan_.requests[index];
    std::vector<std::string> notes;
    if (plan_.files) {
      notes = plan_.files->notes;
      request.inputs = rounded_inputs(*plan_.files, request.dtype, notes);
    }
    request.command = repeat_command(options_, request, frame_.backend().name());
    const auto progress = [&](double fraction, std::string_view label) {
      frame_.progress(index, fraction, label);
    };
    progress(0, request.scenario);
    std::vector<FailedPass> failed;
    if (failure_files_.wanted())
      request.on_failed_pass = [&failed](FailedPass pass) { failed.push_back(std::move(pass)); };
    std::vector<CheckResult> results = check_case(request, frame_.backend(), progress);
    for (CheckResult& result : results) result.data_notes = notes;
    save_failures(request, failed, results);
    frame_.erase_bar();
    if (frame_.table_wanted()) {
      print_case(environment_.out, results, frame_.style());
      environment_.out.flush();
    }
    frame_.run().checks.insert(frame_.run().checks.end(), results.begin(), results.end());
  }

  // What cannot be saved must not cost the results of the run: the first error is told at the end.
  void save_failures(const CheckRequest& request, const std::vector<FailedPass>& failed,
                     std::vector<CheckResult>& results) {
    for (const FailedPass& pass : failed) {
      try {
        failure_files_.save(request, pass, results);
      } catch (const Error& error) {
        if (!save_error_) save_error_ = error;
      } catch (const std::bad_alloc&) {
        if (!save_error_) save_error_ = Error(ErrorKind::device, "--save-failures: not enough memory");
      }
    }
  }

  const CheckOptions& options_;
  const Environment& environment_;
  CheckPlan plan_;
  FailureFiles failure_files_;
  std::optional<Error> save_error_;
  RunFrame frame_;
};

}  // namespace

int command_check(const CheckOptions& options, const CommonOptions& common, const Environment& environment) {
  if (options.list) return list_losses(options, environment.out);
  return CheckRun(options, common, environment).execute();
}

}  // namespace lossgrad::app
