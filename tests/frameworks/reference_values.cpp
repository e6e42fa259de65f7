// SPDX-License-Identifier: Apache-2.0
// reference_values LOSS CONVENTION f32|f64 FOLDER [margin]
// The reference's right values for the inputs in FOLDER, by name of the argument: pred.npy, target.npy and
// dy.npy of ciou, x1.npy, x2.npy, y.npy and dy.npy of cosine, in the layout that the kernels take. Writes
// <output>.low.npy, .high.npy, .bound.npy and .flags.npy (f64; flags are ElementFlag bits) for every output
// of forward and backward: what scripts/compare_frameworks holds other programs' results against.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "data/npy.hpp"
#include "losses/loss.hpp"

namespace {

using namespace lossgrad;

// Fills values and sizes; a file of another shape is an error.
void read_argument(const std::filesystem::path& folder, const Argument& argument, Items& items) {
  Array array = read_npy(folder / (argument.name + ".npy"));
  if (array.shape.size() != argument.axes.size())
    throw Error(ErrorKind::data, array.source + ": found " + shape_text(array.shape));
  for (std::size_t axis = 0; axis < argument.axes.size(); ++axis) {
    const std::string& size = argument.axes[axis];
    const bool number = size.find_first_not_of("0123456789") == std::string::npos;
    const std::int64_t known =
        number ? std::stoll(size) : items.sizes.emplace(size, array.shape[axis]).first->second;
    if (known != array.shape[axis])
      throw Error(ErrorKind::data, array.source + ": found " + shape_text(array.shape));
  }
  items.values[argument.name] = std::move(array.values);
}

void write_values(const std::filesystem::path& folder, const std::string& output,
                  const ReferenceValues& values) {
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(values.low.size())};
  const auto write = [&](const char* what, std::span<const double> numbers) {
    write_npy(folder / (output + "." + what + ".npy"), Dtype::f64, shape, numbers);
  };
  write("low", values.low);
  write("high", values.high);
  write("bound", values.bound);
  write("flags", std::vector<double>(values.flags.begin(), values.flags.end()));
}

void run(std::span<char* const> words) {
  if (words.size() < 5)
    throw Error(ErrorKind::usage, "expected: reference_values LOSS CONVENTION f32|f64 FOLDER [margin]");
  const Loss& loss = find_loss(words[1]);
  const Dtype dtype = std::string(words[3]) == "f64" ? Dtype::f64 : Dtype::f32;
  const std::filesystem::path folder = words[4];
  Items items;
  items.parameters = default_parameters(loss);
  if (words.size() > 5) items.parameters["margin"] = std::strtod(words[5], nullptr);
  const Kernel backward = loss.kernel({Pass::backward, dtype, words[2], kOwnBlock, default_sizes(loss)});
  for (const Argument& argument : backward.arguments()) {
    if (is_drawn(argument, Pass::backward)) read_argument(folder, argument, items);
  }
  items.count = items.sizes.at(loss.item_size());
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    Reference reference;
    loss.evaluate({pass, dtype, words[2]}, items, reference);
    for (const auto& [output, values] : reference) write_values(folder, output, values);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv, static_cast<std::size_t>(argc)});
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "reference_values: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reference_values: %s\n", error.what());
    return 70;
  }
}
