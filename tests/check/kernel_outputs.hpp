// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/case_kernels.hpp"
#include "check/check_support.hpp"
#include "check/kernel_run.hpp"

namespace lossgrad::check_support {

// What the built-in kernels of a request write on the host backend: outputs of forward, and of backward with
// what forward saved, launched between canaries.
inline Items kernel_outputs(const CheckRequest& request, const Items& inputs) {
  const CaseKernels kernels(request, host());
  KernelRun run(request, host(), request.sizes, {.misalignment = 1}, 1);
  for (const Pass pass : {Pass::forward, Pass::backward}) run.provide(kernels.main(pass).kernel);
  run.write_values(inputs);
  Items outputs;
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const ReadyKernel& kernel = kernels.main(pass);
    EXPECT_THAT(run.launch(*kernel.loaded, kernel.kernel).damage, ::testing::IsEmpty());
    outputs.values.merge(run.read(kernel.kernel.arguments(), 0, inputs.count).values);
  }
  return outputs;
}

}  // namespace lossgrad::check_support
