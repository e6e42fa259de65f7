// SPDX-License-Identifier: Apache-2.0
#include "app/builtin_kernels.hpp"

#include <charconv>

#include "app/values.hpp"
#include "base/error.hpp"
#include "losses/loss.hpp"

namespace lossgrad::app {
namespace {

constexpr int kDefaultBlock = 256;

// The third part of an id; the default when there is none, so that a wrong id still gets a near one.
int block_in(std::string_view id) {
  for (int part = 0; part < 2; ++part) {
    const std::size_t at = id.find("__");
    if (at == std::string_view::npos) return kDefaultBlock;
    id.remove_prefix(at + 2);
  }
  const std::string_view text = id.substr(0, id.find("__"));
  int block = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), block);
  return code == std::errc() && end == text.data() + text.size() ? block : kDefaultBlock;
}

std::vector<Kernel> kernels_near(const std::string& id) {
  try {
    return builtin_kernels(block_in(id));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    throw Error(ErrorKind::usage, "kernel '" + id + "': " + error.what());
  }
}

}  // namespace

std::vector<Kernel> builtin_kernels(int block) {
  std::vector<Kernel> kernels;
  for (const Loss* loss : all_losses()) {
    for (const NamedChoice& convention : loss->conventions()) {
      for (const Dtype dtype : kAllDtypes) {
        for (const Pass pass : {Pass::forward, Pass::backward}) {
          kernels.push_back(loss->kernel({pass, dtype, convention.name, block}));
        }
      }
    }
  }
  return kernels;
}

Kernel find_kernel(const std::string& id) {
  std::vector<std::string> known;
  for (const Kernel& kernel : kernels_near(id)) {
    if (kernel.id() == id) return kernel;
    known.push_back(kernel.id());
  }
  throw Error(ErrorKind::usage,
              nearest_name_message("kernel", id, known, "lossgrad kernels list names them"));
}

}  // namespace lossgrad::app
