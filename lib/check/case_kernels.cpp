// SPDX-License-Identifier: Apache-2.0
#include "check/case_kernels.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "check/check_request.hpp"

namespace lossgrad {

CaseKernels::CaseKernels(const CheckRequest& request, Backend& backend)
    : request_(request), block_(lossgrad::main_block(request)) {
  std::vector<std::pair<Key, Kernel>> wanted;
  const auto want = [&](Pass pass, Dtype dtype, int block) {
    const KernelOptions options{pass, dtype, request.convention, block, request.sizes};
    auto kernel =
        request.make_kernel ? request.make_kernel(options) : std::optional(request.loss->kernel(options));
    const Key key{pass, dtype, block};
    const bool known =
        std::any_of(wanted.begin(), wanted.end(), [&](const auto& entry) { return entry.first == key; });
    if (kernel && !known) wanted.emplace_back(key, std::move(*kernel));
  };
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const bool needed = wants(request, pass) || (pass == Pass::forward && wants(request, Pass::backward));
    if (!needed) continue;
    want(pass, request.dtype, block_);
    if (wants(request, Pass::backward) && !skips(request, "self_consistency")) want(pass, Dtype::f64, block_);
    if (!wants(request, pass) || skips(request, "repeatability")) continue;
    for (const int block : request.loss->repeatability_blocks()) want(pass, request.dtype, block);
  }
  std::vector<Kernel> kernels;
  kernels.reserve(wanted.size());
  for (const auto& [key, kernel] : wanted) kernels.push_back(kernel);
  const auto loaded = backend.load_all(kernels);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    kernels_.emplace(wanted[i].first, ReadyKernel{std::move(kernels[i]), loaded[i]});
  }
}

const ReadyKernel* CaseKernels::find(Pass pass, Dtype dtype, int block) const {
  const auto found = kernels_.find({pass, dtype, block});
  return found == kernels_.end() ? nullptr : &found->second;
}

const ReadyKernel& CaseKernels::main(Pass pass) const {
  const ReadyKernel* kernel = find(pass, request_.dtype);
  if (kernel == nullptr)
    throw Error(ErrorKind::internal, "the case has no kernel for " + std::string(name(pass)));
  return *kernel;
}

}  // namespace lossgrad
