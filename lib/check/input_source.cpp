// SPDX-License-Identifier: Apache-2.0
#include "check/input_source.hpp"

#include "check/check_request.hpp"

namespace lossgrad {

InputSource::InputSource(const CheckRequest& request) : request_(request) {
  if (!from_files()) return;
  items_in_files_ = request.sizes.at(request.loss->item_size());
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const Kernel kernel = own_kernel(request, pass, request.dtype);
    arguments_.insert(arguments_.end(), kernel.arguments().begin(), kernel.arguments().end());
  }
}

Items InputSource::read(std::int64_t first, std::int64_t count, int variant) const {
  Items items;
  items.first = first;
  items.count = count;
  items.sizes = request_.sizes;
  items.parameters = request_.parameters;
  const std::uint64_t seed = request_.seed + static_cast<std::uint64_t>(variant) * 0x9e3779b97f4a7c15u;
  request_.loss->generate(from_files() ? request_.loss->default_scenario() : request_.scenario,
                          request_.dtype, seed, items);
  for (const Argument& argument : arguments_) {
    const auto found = request_.inputs.find(argument.name);
    if (found != request_.inputs.end()) take_from_file(argument, found->second, variant, items);
  }
  return items;
}

void InputSource::take_from_file(const Argument& argument, const std::vector<double>& values, int variant,
                                 Items& items) const {
  const ItemLayout layout = item_layout(request_, argument);
  auto& taken = items.values[argument.name];
  taken.resize(static_cast<std::size_t>(items.count * layout.per_item()));
  for (std::int64_t i = 0; i < items.count; ++i) {
    const std::int64_t from = (items.first + i + variant * (layout.items / 2 + 1)) % layout.items;
    for (std::int64_t c = 0; c < layout.per_item(); ++c) {
      taken[layout.position(items.count, i, c)] =
          round_to(request_.dtype, values[layout.position(layout.items, from, c)]);
    }
  }
}

}  // namespace lossgrad
