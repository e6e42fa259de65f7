// SPDX-License-Identifier: Apache-2.0
// Prints what a loss's kernels reach against the device-to-device copy bandwidth of the same run.
//
//   kernel_bandwidth [ciou|cosine] [--n 16777216] [--rows 1000000] [--dim 512] [--block 256]
//                    [--dtype f32,f64] [--backend cuda] [--samples 50]
//
// Bytes are the contract's least: each input read once, each output written once, also those that a kernel
// need not read. Inputs are the loss's second scenario (the plain one); every timed launch works on the next
// of several sets of buffers, so that the caches never hold them. Medians of single launches timed by device
// events.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "base/log.hpp"
#include "device/backend.hpp"
#include "kernel/item_layout.hpp"
#include "losses/loss.hpp"
#include "results/size_fields.hpp"

namespace lossgrad {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{1} << 30;
constexpr int kBufferSets = 3;
constexpr int kWarmUps = 5;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class Work>
double median_us(Backend& backend, int samples, Work work) {
  std::vector<double> times;
  for (int i = 0; i < kWarmUps; ++i) backend.time_us([&] { work(i); });
  for (int i = 0; i < samples; ++i) times.push_back(backend.time_us([&] { work(i); }));
  return median(times);
}

double copy_gigabytes_per_second(Backend& backend, int samples) {
  const auto from = backend.allocate(kCopyBytes), to = backend.allocate(kCopyBytes);
  backend.fill(*from, 0, kCopyBytes, std::as_bytes(std::span("\x13\x57\x9b\xdf", 4)));
  const double us = median_us(backend, samples, [&](int) { backend.copy(*to, 0, *from, 0, kCopyBytes); });
  return 2.0 * static_cast<double>(kCopyBytes) / us / 1e3;
}

using Memory = std::shared_ptr<DeviceMemory>;

struct BufferSet {
  std::vector<Memory> owned;
  std::vector<LaunchArgument> arguments;
  std::size_t bytes = 0;
};

// A few million values that the buffers repeat: data that no compression or constant folding can shorten.
Items some_items(const Loss& loss, const Kernel& kernel, const Sizes& sizes) {
  constexpr std::int64_t kMostValues = 1 << 22;
  std::int64_t per_item = 0;
  for (const Argument& argument : kernel.arguments()) {
    if (argument.is_array()) per_item += item_layout(argument, loss.item_size(), sizes).per_item();
  }
  Items items;
  items.sizes = sizes;
  items.parameters = default_parameters(loss);
  items.count = std::clamp<std::int64_t>(kMostValues / per_item, 1, sizes.at(loss.item_size()));
  loss.generate(loss.scenarios()[1].name, kernel.dtype(), 1, items);
  return items;
}

void fill_with(Backend& backend, std::span<const double> values, Dtype dtype, DeviceMemory& memory) {
  std::vector<std::byte> bytes(values.size() * size_in_bytes(dtype));
  encode(dtype, values, bytes);
  for (std::size_t at = 0; at < memory.size(); at += bytes.size())
    backend.upload(memory, at, std::span(bytes).first(std::min(bytes.size(), memory.size() - at)));
}

// A saved argument gets the numbers of dy: what it holds does not matter to the time.
const Argument& like(const Kernel& kernel, const Argument& argument) {
  if (argument.role != ArgumentRole::saved) return argument;
  for (const Argument& other : kernel.arguments()) {
    if (other.role == ArgumentRole::upstream) return other;
  }
  return argument;
}

BufferSet make_set(Backend& backend, const Loss& loss, const Kernel& kernel, const Sizes& sizes,
                   const Items& items) {
  BufferSet set;
  for (const Argument& argument : kernel.arguments()) {
    if (argument.role == ArgumentRole::size) {
      set.arguments.emplace_back(static_cast<std::int32_t>(sizes.at(argument.name)));
      continue;
    }
    if (argument.role == ArgumentRole::parameter) {
      set.arguments.emplace_back(static_cast<float>(default_parameters(loss).at(argument.name)));
      continue;
    }
    const auto bytes =
        static_cast<std::size_t>(element_count(argument, sizes)) * size_in_bytes(kernel.dtype());
    set.owned.push_back(backend.allocate(bytes));
    if (!is_written(argument, kernel.pass())) {
      fill_with(backend, items.at(like(kernel, argument).name), kernel.dtype(), *set.owned.back());
    }
    set.arguments.emplace_back(set.owned.back()->address());
    set.bytes += bytes;
  }
  return set;
}

std::string text_of(const Sizes& sizes) {
  std::string text;
  for (const SizeField& entry : kSizeFields) {
    const auto size = sizes.find(std::string(entry.size));
    if (size != sizes.end()) text += (text.empty() ? "" : " x ") + std::to_string(size->second);
  }
  return text;
}

void measure(Backend& backend, const Loss& loss, const KernelOptions& options, int samples,
             double copy_rate) {
  const Kernel kernel = loss.kernel(options);
  const Sizes& sizes = options.sizes;
  const auto loaded = backend.load(kernel);
  const Items items = some_items(loss, kernel, sizes);
  std::vector<BufferSet> sets;
  for (int i = 0; i < kBufferSets; ++i) sets.push_back(make_set(backend, loss, kernel, sizes, items));
  const double us = median_us(backend, samples, [&](int i) {
    backend.launch(*loaded, kernel.launch_shape(sizes),
                   sets[static_cast<std::size_t>(i) % kBufferSets].arguments, {});
  });
  const double rate = static_cast<double>(sets[0].bytes) / us / 1e3;
  std::printf("%-44s %15s %10.2f us %8.1f GB/s %6.1f %% of copy\n", kernel.id().c_str(),
              text_of(sizes).c_str(), us, rate, 100 * rate / copy_rate);
}

struct Plan {
  const Loss* loss;
  std::vector<Sizes> sizes;
  std::vector<Dtype> dtypes;
  std::vector<int> blocks;
  int samples;
};

void measure_all(Backend& backend, const Plan& plan, double copy_rate) {
  for (const Dtype dtype : plan.dtypes) {
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      for (const int block : plan.blocks) {
        for (const Sizes& sizes : plan.sizes) {
          measure(backend, *plan.loss, {pass, dtype, plan.loss->conventions().front().name, block, sizes},
                  plan.samples, copy_rate);
        }
      }
    }
  }
}

using GivenSizes = std::map<std::string_view, std::vector<std::int64_t>>;  // field -> values

// What is measured where the command line does not say; another size has the loss's own default.
const GivenSizes kMeasured = {{"n", {std::int64_t{1} << 24}}, {"rows", {1000000}}, {"dim", {512}}};

// The first values of all sizes, then the second ones ...; the last value of a shorter list stands for the
// rest.
std::vector<Sizes> sizes_of(const Loss& loss, const GivenSizes& given) {
  std::map<std::string, std::vector<std::int64_t>> values;
  std::size_t cases = 0;
  for (const SizeInfo& size : loss.sizes()) {
    values[size.name] = {size.standard};
    for (const GivenSizes* source : {&kMeasured, &given}) {
      const auto found = source->find(field_of_size(size.name));
      if (found != source->end() && !found->second.empty()) values[size.name] = found->second;
    }
    cases = std::max(cases, values[size.name].size());
  }
  std::vector<Sizes> all(cases);
  for (std::size_t i = 0; i < cases; ++i) {
    for (const auto& [name, list] : values) all[i][name] = list[std::min(i, list.size() - 1)];
  }
  return all;
}

int run(int argc, char** argv) {
  CLI::App app("a loss's kernels against the copy bandwidth of the same run");
  std::string loss_name = "ciou";
  GivenSizes given;
  std::vector<int> blocks = {kOwnBlock};
  std::vector<std::string> dtypes = {"f32"};
  std::string backend_name = "cuda";
  int samples = 50;
  app.add_option("loss", loss_name);
  for (const SizeField& entry : kSizeFields)
    app.add_option("--" + std::string(entry.field), given[entry.field])->delimiter(',');
  app.add_option("--block", blocks)->delimiter(',');
  app.add_option("--dtype", dtypes)->delimiter(',');
  app.add_option("--backend", backend_name);
  app.add_option("--samples", samples)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  const Loss& loss = find_loss(loss_name);
  Plan plan{&loss, sizes_of(loss, given), {}, blocks, samples};
  for (const std::string& text : dtypes) {
    const auto dtype = parse_dtype(text);
    if (!dtype) throw Error(ErrorKind::usage, "unknown dtype '" + text + "'");
    plan.dtypes.push_back(*dtype);
  }
  const auto backend = open_backend(backend_name == "host" ? BackendKind::host : BackendKind::cuda);
  const double copy_rate = copy_gigabytes_per_second(*backend, samples);
  std::printf("%s: copy of 1 GiB %.1f GB/s (read and written)\n", backend->device().name.c_str(), copy_rate);
  measure_all(*backend, plan, copy_rate);
  const double copy_again = copy_gigabytes_per_second(*backend, samples);
  std::printf("copy of 1 GiB again: %.1f GB/s\n", copy_again);
  return 0;
}

}  // namespace
}  // namespace lossgrad

int main(int argc, char** argv) {
  lossgrad::set_up_log(lossgrad::Verbosity::normal);
  try {
    return lossgrad::run(argc, argv);
  } catch (const lossgrad::Error& error) {
    std::fprintf(stderr, "kernel_bandwidth: %s\n%s", error.what(), error.detail().c_str());
    return lossgrad::exit_code(error.kind());
  }
}
