// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "app/commands.hpp"
#include "app/run_frame.hpp"
#include "app/values.hpp"
#include "base/error.hpp"
#include "check/selftest.hpp"
#include "report/fault_table.hpp"

namespace lossgrad::app {
namespace {

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
    if (std::find(known.begin(), known.end(), fault) == known.end()) {
      throw Error(ErrorKind::usage,
                  "--fault: " + nearest_name_message("fault", fault, known, "lossgrad selftest names them"));
    }
  }
  return list;
}

class SelftestRun {
 public:
  SelftestRun(const SelftestOptions& options, const CommonOptions& common, const Environment& environment)
      : options_(options),
        environment_(environment),
        list_(injections(options)),
        frame_(options.json, common, environment) {}

  int execute() {
    const double seconds = frame_.execute(
        options_.backend, options_.device, list_.size(), [this](std::size_t index) { inject(index); },
        kCompiledAtOnce);
    if (frame_.table_wanted()) print(seconds);
    return frame_.exit_code(exit_code());
  }

 private:
  void inject(std::size_t index) {
    if (index % kCompiledAtOnce == 0) compile(index);
    const auto& [loss, fault, dtype] = list_[index];
    frame_.progress(index, 0, fault->name);
    frame_.run().faults.push_back(check_fault(*loss, *fault, dtype, frame_.backend(), options_.diagnosis));
  }

  // The kernels of the next injections, several at a time.
  void compile(std::size_t begin) {
    frame_.progress(begin, 0, "compiling");
    std::vector<Kernel> kernels;
    for (std::size_t i = begin; i < std::min(list_.size(), begin + kCompiledAtOnce); ++i) {
      const auto& [loss, fault, dtype] = list_[i];
      for (Kernel& kernel : fault_kernels(*loss, *fault, dtype)) kernels.push_back(std::move(kernel));
    }
    (void)frame_.backend().load_all(kernels);
  }

  void print(double seconds) {
    const Run& run = frame_.run();
    print_faults(environment_.out, run.faults, frame_.style());
    if (options_.diagnosis) {
      environment_.out << '\n';
      print_confusion(environment_.out, run.faults, frame_.style());
    }
    environment_.out << '\n';
    print_fault_summary(environment_.out, run, seconds, frame_.style());
  }

  [[nodiscard]] int exit_code() {
    const auto any = [this](FaultOutcome outcome) {
      return std::any_of(frame_.run().faults.begin(), frame_.run().faults.end(),
                         [&](const FaultResult& fault) { return fault.outcome == outcome; });
    };
    return any(FaultOutcome::caught) && !any(FaultOutcome::slipped) ? kExitPassed : kExitFailed;
  }

  const SelftestOptions& options_;
  const Environment& environment_;
  std::vector<Injection> list_;
  RunFrame frame_;
};

}  // namespace

int command_selftest(const SelftestOptions& options, const CommonOptions& common,
                     const Environment& environment) {
  return SelftestRun(options, common, environment).execute();
}

}  // namespace lossgrad::app
