// SPDX-License-Identifier: Apache-2.0
// The reader of result documents. What it accepts is written back and read again as the same.
#include "fuzz_target.hpp"
#include "results/run_json.hpp"

namespace lossgrad::fuzz {

int run_case(std::span<const std::byte> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Run run;
  if (accepts(ErrorKind::data, "", [&] { run = run_from_json(text); }) == 0) return 0;
  // The program's own document: that it is rejected would be a fault.
  const std::string written = to_json(run);
  require(to_json(run_from_json(written)) == written, "a document changes when it is read and written");
  return 1;
}

}  // namespace lossgrad::fuzz
