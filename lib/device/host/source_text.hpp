// SPDX-License-Identifier: Apache-2.0
// From the text of a kernel to a C++ translation unit for the host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel.hpp"

namespace lossgrad::host {

struct SourceFile {
  std::string_view name;
  std::string_view text;
};

// The CUDA-on-CPU header and stand-ins for CUDA's own headers; every kernel is compiled against these.
const std::vector<SourceFile>& cuda_headers();

// Hash over the names and texts of cuda_headers() and the frame that translation_unit() adds.
const std::string& cuda_headers_hash();

// The kernel's text behind an include of the header, with line numbers as in `<id>.cu`, and the export of its
// entry point. Declarations of dynamic shared memory (`extern __shared__ T name[];`) are rewritten.
std::string translation_unit(const Kernel& kernel);

}  // namespace lossgrad::host
