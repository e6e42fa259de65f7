// SPDX-License-Identifier: Apache-2.0
// Prints what the CIoU kernels reach against the device-to-device copy bandwidth of the same run.
//
//   kernel_bandwidth [--n 16777216] [--block-n 256] [--dtype f32,f64,f16,bf16] [--backend cuda] [--samples
//   50]
//
// Bytes are the contract's least: each input read once, each output written once, also those that a kernel
// need not read. Inputs are boxes of the scenario `typical`; every timed launch works on the next of several
// sets of buffers, so that the caches never hold them. Medians of single launches timed by device events.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "base/log.hpp"
#include "device/backend.hpp"
#include "losses/loss.hpp"

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

// Every chunk of the inputs is the same million of boxes: data that no compression or constant folding can
// shorten.
void fill_with_boxes(Backend& backend, const Loss& loss, const Argument& argument, Dtype dtype,
                     DeviceMemory& memory, std::int64_t n) {
  Items items;
  items.count = std::min<std::int64_t>(n, 1 << 20);
  loss.generate("typical", dtype, 1, items);
  const bool generated = items.values.contains(argument.name);
  const auto values = items.at(generated ? argument.name : "dy");
  std::vector<std::byte> bytes(values.size() * size_in_bytes(dtype));
  encode(dtype, values, bytes);
  for (std::size_t at = 0; at < memory.size(); at += bytes.size()) {
    backend.upload(memory, at, std::span(bytes).first(std::min(bytes.size(), memory.size() - at)));
  }
}

BufferSet make_set(Backend& backend, const Loss& loss, const Kernel& kernel, const Sizes& sizes) {
  BufferSet set;
  for (const Argument& argument : kernel.arguments()) {
    if (!argument.is_array()) {
      set.arguments.emplace_back(static_cast<std::int32_t>(sizes.at(argument.name)));
      continue;
    }
    const auto bytes =
        static_cast<std::size_t>(element_count(argument, sizes)) * size_in_bytes(kernel.dtype());
    set.owned.push_back(backend.allocate(bytes));
    if (!is_written(argument, kernel.pass())) {
      fill_with_boxes(backend, loss, argument, kernel.dtype(), *set.owned.back(), sizes.at("N"));
    }
    set.arguments.emplace_back(set.owned.back()->address());
    set.bytes += bytes;
  }
  return set;
}

void measure(Backend& backend, const Loss& loss, const KernelOptions& options, std::int64_t n, int samples,
             double copy_rate) {
  const Kernel kernel = loss.kernel(options);
  const Sizes sizes = {{"N", n}};
  const auto loaded = backend.load(kernel);
  std::vector<BufferSet> sets;
  for (int i = 0; i < kBufferSets; ++i) sets.push_back(make_set(backend, loss, kernel, sizes));
  const double us = median_us(backend, samples, [&](int i) {
    backend.launch(*loaded, kernel.launch_shape(sizes),
                   sets[static_cast<std::size_t>(i) % kBufferSets].arguments, {});
  });
  const double rate = static_cast<double>(sets[0].bytes) / us / 1e3;
  std::printf("%-44s %12lld %10.2f us %8.1f GB/s %6.1f %% of copy\n", kernel.id().c_str(),
              static_cast<long long>(n), us, rate, 100 * rate / copy_rate);
}

int run(int argc, char** argv) {
  CLI::App app("CIoU kernels against the copy bandwidth of the same run");
  std::vector<std::int64_t> sizes = {std::int64_t{1} << 24};
  std::vector<int> blocks = {256};
  std::vector<std::string> dtypes = {"f32"};
  std::string backend_name = "cuda";
  int samples = 50;
  app.add_option("--n", sizes)->delimiter(',');
  app.add_option("--block-n", blocks)->delimiter(',');
  app.add_option("--dtype", dtypes)->delimiter(',');
  app.add_option("--backend", backend_name);
  app.add_option("--samples", samples)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  const auto backend = open_backend(backend_name == "host" ? BackendKind::host : BackendKind::cuda);
  const double copy_rate = copy_gigabytes_per_second(*backend, samples);
  std::printf("%s: copy of 1 GiB %.1f GB/s (read and written)\n", backend->device().name.c_str(), copy_rate);
  const Loss& loss = find_loss("ciou");
  for (const std::string& text : dtypes) {
    const auto dtype = parse_dtype(text);
    if (!dtype) throw Error(ErrorKind::usage, "unknown dtype '" + text + "'");
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      for (const int block : blocks) {
        for (const std::int64_t n : sizes)
          measure(*backend, loss, {pass, *dtype, "yolo", block}, n, samples, copy_rate);
      }
    }
  }
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
