// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <ostream>

#include "app/commands.hpp"
#include "app/interrupt.hpp"
#include "app/json_output.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"
#include "check/selftest.hpp"
#include "report/fault_table.hpp"
#include "report/progress_bar.hpp"

namespace lossgrad::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kCompiledAtOnce = 16;

struct Injection {
  const Loss* loss;
  const Fault* fault;
  Dtype dtype;
};

std::vector<const Loss*> chosen_losses(const SelftestOptions& options) {
  std::vector<const Loss*> losses;
  for (const std::string& loss : options.losses) losses.push_back(&find_loss(loss));
  if (losses.empty()) losses.assign(all_losses().begin(), all_losses().end());
  return losses;
}

std::vector<Injection> injections(const SelftestOptions& options) {
  std::vector<Injection> list;
  std::vector<std::string> known;
  const auto wanted = [&](const std::string& name) {
    return options.faults.empty() ||
           std::find(options.faults.begin(), options.faults.end(), name) != options.faults.end();
  };
  for (const Loss* loss : chosen_losses(options)) {
    for (const Fault& fault : loss->faults()) known.push_back(fault.name);
    for (const Dtype dtype : options.dtypes) {
      for (const Fault& fault : loss->faults()) {
        if (wanted(fault.name)) list.push_back({loss, &fault, dtype});
      }
    }
  }
  for (const std::string& fault : options.faults) {
    if (std::find(known.begin(), known.end(), fault) == known.end())
      throw Error(ErrorKind::usage, "--fault: " + unknown_name_message("fault", fault, known));
  }
  return list;
}

class SelftestRun {
 public:
  SelftestRun(const SelftestOptions& options, const CommonOptions& common, const Environment& environment)
      : options_(options),
        environment_(environment),
        style_(console_style(common, environment)),
        list_(injections(options)),
        json_(options.json, environment.out),
        bar_(environment.err, environment.err_is_terminal && common.verbosity != Verbosity::quiet,
             environment.err_columns) {}

  int execute() {
    const Clock::time_point start = Clock::now();
    backend_ = open_backend(choose_backend(options_.backend), options_.device);
    run_.context = run_context(environment_);
    run_.context.devices.push_back(device_context(backend_->device()));
    const InterruptHandler handler;
    try {
      inject_all();
    } catch (...) {
      bar_.erase();
      if (!run_.faults.empty()) (void)json_.finish(run_);
      throw;
    }
    bar_.erase();
    const bool written = json_.finish(run_);
    if (options_.json != "-") print(std::chrono::duration<double>(Clock::now() - start).count());
    return run_.complete && written ? exit_code() : InterruptHandler::exit_code();
  }

 private:
  void inject_all() {
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (InterruptHandler::interrupted()) return;
      try {
        if (i % kCompiledAtOnce == 0) compile(i);
        bar_.update(static_cast<double>(i) / static_cast<double>(list_.size()), list_[i].fault->name);
        const auto& [loss, fault, dtype] = list_[i];
        run_.faults.push_back(check_fault(*loss, *fault, dtype, *backend_, options_.diagnosis));
      } catch (const Error&) {
        // Ctrl-C reaches the compilers too: their failure is not the news.
        if (!InterruptHandler::interrupted()) throw;
        return;
      }
      run_.complete = i + 1 == list_.size();
      if (i % kCompiledAtOnce == 0 || run_.complete) json_.save(run_);
    }
  }

  // The kernels of the next injections, several at a time.
  void compile(std::size_t begin) {
    bar_.update(static_cast<double>(begin) / static_cast<double>(list_.size()), "compiling");
    std::vector<Kernel> kernels;
    for (std::size_t i = begin; i < std::min(list_.size(), begin + kCompiledAtOnce); ++i) {
      const auto& [loss, fault, dtype] = list_[i];
      if (!fault->shows_in(dtype)) continue;
      for (Kernel& kernel : fault_kernels(*loss, *fault, dtype)) kernels.push_back(std::move(kernel));
    }
    (void)backend_->load_all(kernels);
  }

  void print(double seconds) {
    print_faults(environment_.out, run_.faults, style_);
    if (options_.diagnosis) {
      environment_.out << '\n';
      print_confusion(environment_.out, run_.faults, style_);
    }
    environment_.out << '\n';
    print_fault_summary(environment_.out, run_, seconds, style_);
  }

  [[nodiscard]] int exit_code() const {
    const bool slipped = std::any_of(run_.faults.begin(), run_.faults.end(), [](const FaultResult& fault) {
      return fault.outcome == FaultOutcome::slipped;
    });
    const bool any = std::any_of(run_.faults.begin(), run_.faults.end(), [](const FaultResult& fault) {
      return fault.outcome == FaultOutcome::caught;
    });
    return any && !slipped ? kExitPassed : kExitFailed;
  }

  const SelftestOptions& options_;
  const Environment& environment_;
  ConsoleStyle style_;
  std::vector<Injection> list_;
  JsonOutput json_;
  ProgressBar bar_;
  std::unique_ptr<Backend> backend_;
  Run run_;
};

}  // namespace

int command_selftest(const SelftestOptions& options, const CommonOptions& common,
                     const Environment& environment) {
  return SelftestRun(options, common, environment).execute();
}

}  // namespace lossgrad::app
