// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <ctime>
#include <thread>

#include <spdlog/spdlog.h>
#include <unistd.h>

#include "app/commands.hpp"
#include "base/version.hpp"

namespace lossgrad::app {
namespace {

// RFC 3339: the offset of strftime is +0100, the standard wants +01:00.
std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 64> buffer{};
  std::string text(buffer.data(), std::strftime(buffer.data(), buffer.size(), "%Y-%m-%dT%H:%M:%S%z", &local));
  return text.insert(text.size() - 2, 1, ':');
}

std::string host_name() {
  std::array<char, 256> buffer{};
  return ::gethostname(buffer.data(), buffer.size() - 1) == 0 ? buffer.data() : "";
}

}  // namespace

int exit_code_of(const Run& run, bool allow_mistrusted) {
  const Summary summary = summarise(run);
  const bool any_ran = summary.passed + summary.failed + summary.mistrusted > 0;
  if (!any_ran || summary.failed > 0) return kExitFailed;
  return summary.mistrusted > 0 && !allow_mistrusted ? kExitFailed : kExitPassed;
}

ConsoleStyle console_style(const CommonOptions& common, const Environment& environment) {
  ConsoleStyle style;
  style.only_problems = common.verbosity == Verbosity::quiet;
  switch (common.color) {
    case ColorChoice::automatic:
      style.color = environment.out_is_terminal && !environment.no_color;
      break;
    case ColorChoice::always:
      style.color = true;
      break;
    case ColorChoice::never:
      style.color = false;
      break;
  }
  return style;
}

RunContext run_context(const Environment& environment) {
  RunContext context;
  context.date = local_time();
  context.host_name = host_name();
  context.executable = environment.executable;
  context.command = environment.command_line;
  context.version = version();
  context.num_cpus = static_cast<int>(std::thread::hardware_concurrency());
  return context;
}

DeviceContext device_context(const DeviceDescription& device) {
  return {device.name,     device.architecture, device.driver_version,
          device.compiler, device.memory_bytes, device.multiprocessors};
}

BackendKind choose_backend(BackendChoice choice) {
  if (choice == BackendChoice::cuda) return BackendKind::cuda;
  if (choice == BackendChoice::host) return BackendKind::host;
  const BackendStatus cuda = backend_status(BackendKind::cuda);
  if (cuda.available) {
    spdlog::info("backend cuda");
    return BackendKind::cuda;
  }
  spdlog::info("backend host, as cuda is not available: {}", cuda.reason);
  return BackendKind::host;
}

}  // namespace lossgrad::app
