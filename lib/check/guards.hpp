// SPDX-License-Identifier: Apache-2.0
// Checks of a kernel's manners at small sizes, and of the bits it repeats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check/case_kernels.hpp"
#include "check/input_source.hpp"
#include "check/kernel_run.hpp"
#include "results/results.hpp"

namespace lossgrad {

// Sizes around the block (0, 1, BLOCK-1, BLOCK, BLOCK+1, 2*BLOCK ...), each with aligned and misaligned
// bases: every element right, canaries and inputs intact. Then a second launch on other inputs in the same
// buffers. Appends one line per finding; counts the elements it compared.
void check_small_sizes(const CheckRequest& request, Backend& backend, const ReadyKernel& kernel,
                       const InputSource& source, std::vector<std::string>& findings, std::int64_t& compared);

// The same bits from every block size, and on the host backend under shuffled thread schedules.
void check_same_bits(const CheckRequest& request, Backend& backend, const CaseKernels& kernels, Pass pass,
                     const InputSource& source, std::vector<std::string>& findings, std::int64_t& compared);

}  // namespace lossgrad
