// SPDX-License-Identifier: Apache-2.0
// Files of embeddings and labels: as each argument of cosine beside others that fit it, as .npy and in an
// archive.
#include <algorithm>
#include <string>
#include <vector>

#include "app/file_inputs.hpp"
#include "data/npy.hpp"
#include "data/npz.hpp"
#include "fuzz_target.hpp"

namespace lossgrad::fuzz {
namespace {

const std::string kFile = "fuzz";

Array read_bytes(std::span<const std::byte> bytes, const MemberChoice& choice) {
  auto source = view_memory(bytes, kFile);
  if (is_zip(*source)) return read_npy(*open_member(view_memory(bytes, kFile), choice));
  return read_npy(*view_memory(bytes, kFile));
}

// Ones, as rows or labels beside an array of this shape.
Array beside(const std::string& argument, const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t kMostRows = 4096;  // a shape with a 0 may have any number of them
  const std::int64_t rows = shape.empty() ? 1 : std::min(shape.front(), kMostRows);
  Array array{argument, "f32", {rows, shape.size() == 2 ? shape.back() : 3}, {}};
  if (argument == "y") array.shape.pop_back();
  std::size_t count = 1;
  for (const std::int64_t extent : array.shape) count *= static_cast<std::size_t>(extent);
  array.values.assign(count, 1);
  return array;
}

std::string beside_path(const std::string& argument) {
  std::string path = kFile;
  return path.append(" beside ").append(argument);
}

void read_as(const std::string& fuzzed, std::span<const std::byte> bytes) {
  const Array array = read_bytes(bytes, {"", fuzzed, {}});
  app::CheckOptions options;
  options.loss = "cosine";
  for (const std::string argument : {"x1", "x2", "y"})
    options.files[argument] = argument == fuzzed ? kFile : beside_path(argument);
  const auto read = [&](const std::filesystem::path& path, const MemberChoice& choice) {
    return path == kFile ? array : beside(choice.argument, array.shape);
  };
  const app::FileInputs inputs =
      app::read_file_inputs(find_loss("cosine"), options, {.boxes = {}, .array = read});
  const auto rows = static_cast<std::size_t>(inputs.sizes.at("n_rows"));
  const auto dim = static_cast<std::size_t>(inputs.sizes.at("n_dim"));
  require(inputs.values.at("x1").size() == rows * dim, "x1 is not rows of n_dim elements");
  require(inputs.values.at("x2").size() == rows * dim, "x2 is not rows of n_dim elements");
  require(inputs.values.at("y").size() == rows, "y is not a label a row");
  for (const double y : inputs.values.at("y")) require(y == 1 || y == -1, "another label");
}

}  // namespace

int run_case(std::span<const std::byte> bytes) {
  int accepted = 0;
  for (const std::string argument : {"x1", "x2", "y"})
    accepted += accepts(ErrorKind::data, kFile, [&] { read_as(argument, bytes); });
  return accepted;
}

}  // namespace lossgrad::fuzz
