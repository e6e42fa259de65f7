// SPDX-License-Identifier: Apache-2.0
#include "losses/loss.hpp"

#include "base/error.hpp"
#include "losses/named.hpp"

namespace lossgrad {

std::span<const double> Items::at(const std::string& argument) const {
  const auto found = values.find(argument);
  if (found == values.end()) throw Error(ErrorKind::internal, "no values for the argument " + argument);
  return found->second;
}

void ReferenceValues::resize(std::size_t elements) {
  for (auto* numbers : {&low, &high, &bound, &sharp_low, &sharp_high, &sharp_bound})
    numbers->resize(elements);
  flags.resize(elements);
}

Sizes default_sizes(const Loss& loss) {
  Sizes sizes;
  for (const SizeInfo& size : loss.sizes()) sizes[size.name] = size.standard;
  return sizes;
}

Parameters default_parameters(const Loss& loss) {
  Parameters parameters;
  for (const ParameterInfo& parameter : loss.parameters())
    parameters[parameter.name] = round_to(Dtype::f32, parameter.standard);
  return parameters;
}

const Loss& find_loss(std::string_view wanted) {
  return *find_named(all_losses(), "loss", wanted, [](const Loss* loss) { return loss->name(); });
}

}  // namespace lossgrad
