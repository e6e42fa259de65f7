// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry point; name and signature are its own.
#include "fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  lossgrad::fuzz::run_case(std::as_bytes(std::span(data, size)));
  return 0;
}
