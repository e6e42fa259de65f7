// SPDX-License-Identifier: Apache-2.0
// Writes sample documents into a folder, for validate_schema.py.
#include <iostream>

#include "base/files.hpp"
#include "results/run_json.hpp"
#include "sample_run.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_samples FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  lossgrad::Run run = lossgrad::test::sample_run();
  lossgrad::write_file_atomically(folder / "full.json", to_json(run));
  run.complete = false;
  run.checks.clear();
  lossgrad::write_file_atomically(folder / "empty.json", to_json(run));
  return 0;
}
