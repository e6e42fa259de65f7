// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "app/commands.hpp"
#include "report/number_text.hpp"

namespace lossgrad::app {
namespace {

std::string gibibytes(std::int64_t bytes) {
  constexpr std::int64_t kTenth = (std::int64_t{1} << 30) / 10;
  const std::int64_t tenths = bytes / kTenth;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

void print_device(std::ostream& out, int index, const DeviceDescription& device, BackendKind kind) {
  out << "  " << index << "  " << device.name << ", " << device.architecture;
  if (device.multiprocessors > 0) {
    out << ", " << counted(device.multiprocessors, kind == BackendKind::cuda ? "multiprocessor" : "thread");
  }
  if (device.memory_bytes > 0) out << ", " << gibibytes(device.memory_bytes);
  if (!device.driver_version.empty()) out << ", driver " << device.driver_version;
  if (!device.compiler.empty()) out << ", " << device.compiler;
  out << '\n';
}

}  // namespace

int command_devices(const Environment& environment) {
  for (const BackendKind kind : {BackendKind::cuda, BackendKind::host}) {
    const BackendStatus status = backend_status(kind);
    const char* const backend = kind == BackendKind::cuda ? "cuda" : "host";
    environment.out << backend << ": " << (status.available ? "available" : "not available: " + status.reason)
                    << '\n';
    int index = 0;
    for (const DeviceDescription& device : status.devices)
      print_device(environment.out, index++, device, status.kind);
  }
  return kExitPassed;
}

}  // namespace lossgrad::app
