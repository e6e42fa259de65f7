// SPDX-License-Identifier: Apache-2.0
#include "app/builtin_kernels.hpp"

#include <algorithm>
#include <charconv>

#include "app/values.hpp"
#include "base/error.hpp"
#include "losses/loss.hpp"
#include "report/case_words.hpp"

namespace lossgrad::app {
namespace {

// The block that an id names; the loss's own choice when there is none, so that a wrong id still gets a near
// one.
int block_of(const std::string& id) {
  const std::string text = block_in(id);
  int block = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), block);
  return code == std::errc() && end == text.data() + text.size() ? block : kOwnBlock;
}

std::vector<Kernel> kernels_of(const Loss& loss, int block) {
  std::vector<Kernel> kernels;
  for (const NamedChoice& convention : loss.conventions()) {
    for (const Dtype dtype : kAllDtypes) {
      for (const Pass pass : {Pass::forward, Pass::backward})
        kernels.push_back(loss.kernel({pass, dtype, convention.name, block, default_sizes(loss)}));
    }
  }
  return kernels;
}

bool names_kernel_of(const Loss& loss, std::string_view id) {
  const std::vector<Kernel> own = kernels_of(loss, kOwnBlock);
  return std::any_of(own.begin(), own.end(),
                     [&](const Kernel& kernel) { return id.substr(0, id.find("__")) == kernel.name(); });
}

// A loss's kernels with the block that the id names; with its own one where the id is of another loss.
std::vector<Kernel> kernels_near(const Loss& loss, const std::string& id) {
  if (!names_kernel_of(loss, id)) return kernels_of(loss, kOwnBlock);
  try {
    return kernels_of(loss, block_of(id));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    throw Error(ErrorKind::usage, "kernel '" + id + "': " + error.what());
  }
}

}  // namespace

std::vector<Kernel> builtin_kernels() {
  std::vector<Kernel> kernels;
  for (const Loss* loss : all_losses()) {
    for (Kernel& kernel : kernels_of(*loss, kOwnBlock)) kernels.push_back(std::move(kernel));
  }
  return kernels;
}

Kernel find_kernel(const std::string& id) {
  std::vector<std::string> known;
  for (const Loss* loss : all_losses()) {
    for (const Kernel& kernel : kernels_near(*loss, id)) {
      if (kernel.id() == id) return kernel;
      known.push_back(kernel.id());
    }
  }
  throw Error(ErrorKind::usage,
              nearest_name_message("kernel", id, known, "lossgrad kernels list names them"));
}

}  // namespace lossgrad::app
