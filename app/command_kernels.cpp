// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <ostream>
#include <span>

#include "app/builtin_kernels.hpp"
#include "app/commands.hpp"
#include "app/interrupt.hpp"
#include "base/error.hpp"
#include "report/number_text.hpp"
#include "report/text_table.hpp"

namespace lossgrad::app {
namespace {

constexpr std::array<const char*, 6> kResourceArchitectures = {"sm_75", "sm_80",  "sm_89",
                                                               "sm_90", "sm_100", "sm_120"};
constexpr const char* kPtxArchitecture = "sm_90";

std::vector<std::string> all_architectures() {
  return {kResourceArchitectures.begin(), kResourceArchitectures.end()};
}

std::string shape_of(const Argument& argument) {
  std::string text;
  for (const std::string& axis : argument.axes) text += (text.empty() ? "[" : ", ") + axis;
  return text.empty() ? (argument.role == ArgumentRole::parameter ? "f32" : "i32") : text + "]";
}

void print_overview(std::ostream& out, const Kernel& kernel) {
  out << kernel.id() << '\n' << "  pass         " << name(kernel.pass()) << '\n';
  out << "  dtype        " << name(kernel.dtype()) << '\n';
  for (const auto& [constant, value] : kernel.constants()) {
    out << "  " << constant << std::string(constant.size() < 13 ? 13 - constant.size() : 1, ' ') << value
        << '\n';
  }
  const LaunchRule& launch = kernel.parts().launch;
  out << "  entry point  " << kernel.entry_point_name() << '\n'
      << "  launch       grid cdiv(" << launch.size_name << ", " << launch.items_per_block << "), block "
      << launch.threads_per_block << '\n'
      << "  arguments\n";
  TextTable table({{"name"}, {"role"}, {"shape"}, {"access"}});
  for (const Argument& argument : kernel.arguments()) {
    const char* const access = is_written(argument, kernel.pass()) ? "written" : "read";
    table.add_row({argument.name, std::string(name(argument.role)), shape_of(argument),
                   argument.is_array() ? access : "value"});
  }
  table.print(out, "    ");
}

std::string bytes_text(int value) { return value < 0 ? "-" : std::to_string(value); }

void print_resources(std::ostream& out, const Kernel& kernel, const std::vector<std::string>& architectures) {
  TextTable table({{"arch"},
                   {"registers", true},
                   {"shared bytes", true},
                   {"local bytes", true},
                   {"spill stores", true},
                   {"spill loads", true}});
  for (const std::string& architecture : architectures) {
    const KernelResources resources = cuda_resources(kernel, architecture);
    table.add_row({architecture, bytes_text(resources.registers), bytes_text(resources.shared_bytes),
                   bytes_text(resources.local_bytes), bytes_text(resources.spill_store_bytes),
                   bytes_text(resources.spill_load_bytes)});
  }
  out << kernel.id() << '\n';
  table.print(out, "  ");
}

void print_text(std::ostream& out, const std::string& text) {
  out << text << (text.ends_with('\n') ? "" : "\n");
}

void stop_if_interrupted() {
  if (InterruptHandler::interrupted()) throw Interrupted{};
}

std::string build_for_architectures(const std::vector<Kernel>& kernels,
                                    const std::vector<std::string>& architectures) {
  std::string names;
  for (const std::string& architecture : architectures) {
    stop_if_interrupted();
    cuda_build(kernels, architecture);
    names += (names.empty() ? "" : ", ") + architecture;
  }
  return "cuda (" + names + ")";
}

std::string build_for_backend(const std::vector<Kernel>& kernels, BackendChoice choice) {
  const std::unique_ptr<Backend> backend = open_backend(choose_backend(choice));
  // A few at a time, so that a signal does not have to wait for all of them.
  constexpr std::size_t kAtOnce = 4;
  for (std::size_t done = 0; done < kernels.size(); done += kAtOnce) {
    stop_if_interrupted();
    (void)backend->load_all(std::span(kernels).subspan(done, std::min(kAtOnce, kernels.size() - done)));
  }
  return std::string(backend->name()) + " (" + backend->device().architecture + ")";
}

}  // namespace

int command_kernels_list(const Environment& environment) {
  for (const Kernel& kernel : builtin_kernels()) environment.out << kernel.id() << '\n';
  return kExitPassed;
}

int command_kernels_show(const KernelsShowOptions& options, const Environment& environment) {
  const Kernel kernel = find_kernel(options.id);
  std::ostream& out = environment.out;
  const std::vector<std::string>& given = options.architectures;
  switch (options.view) {
    case KernelView::overview:
      print_overview(out, kernel);
      break;
    case KernelView::source:
      print_text(out, kernel.source());
      break;
    case KernelView::entry_point:
      print_text(out, kernel.entry_point_source());
      break;
    case KernelView::ptx:
      for (const std::string& architecture :
           given.empty() ? std::vector<std::string>{kPtxArchitecture} : given) {
        print_text(out, cuda_ptx(kernel, architecture));
      }
      break;
    case KernelView::resources:
      print_resources(out, kernel, given.empty() ? all_architectures() : given);
      break;
  }
  return kExitPassed;
}

int command_kernels_build(const KernelsBuildOptions& options, const Environment& environment) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Kernel> kernels = builtin_kernels();
  // Without it a signal would end the program before the compilers' temporary folders are removed.
  const InterruptHandler handler;
  std::string target;
  try {
    target = options.architectures.empty() ? build_for_backend(kernels, options.backend)
                                           : build_for_architectures(kernels, options.architectures);
  } catch (const Interrupted&) {
    return InterruptHandler::exit_code();
  } catch (const Error&) {
    // Ctrl-C reaches the compilers too: their failure is not the news.
    if (!InterruptHandler::interrupted()) throw;
    return InterruptHandler::exit_code();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  environment.out << counted(static_cast<std::int64_t>(kernels.size()), "kernel") << " ready for " << target
                  << " in " << seconds_text(seconds.count()) << '\n';
  return kExitPassed;
}

}  // namespace lossgrad::app
