// SPDX-License-Identifier: Apache-2.0
// Prints how long the host backend takes for switching threads and for plain loops.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <oneapi/tbb/global_control.h>

#include "base/error.hpp"
#include "device/host/host_backend.hpp"

namespace {

using lossgrad::Backend;
using lossgrad::Kernel;

constexpr const char* kBarriers = R"(
extern "C" __global__ void barriers_entry_point(float* out) {
  __shared__ float values[128];
  float sum = threadIdx.x;
  for (int i = 0; i < 33; ++i) {
    values[threadIdx.x] = sum;
    __syncthreads();
    sum += values[(threadIdx.x + i) % 128];
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
})";

constexpr const char* kLoop = R"(
extern "C" __global__ void loop_entry_point(const float* a, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fmaxf(a[i], 0.5f) * 2.0f + 1.0f;
})";

constexpr const char* kBoxes = R"(
extern "C" __global__ void boxes_entry_point(const float* p, const float* t, float* loss, int n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x, m = n;
  if (i >= n) return;
  const float px = p[i], py = p[i + m], pw = p[i + 2 * m], ph = p[i + 3 * m];
  const float tx = t[i], ty = t[i + m], tw = t[i + 2 * m], th = t[i + 3 * m];
  const float dx = fabsf(px - tx), dy = fabsf(py - ty), mw = (pw + tw) / 2, mh = (ph + th) / 2;
  const float iw = fmaxf(0.0f, fminf(fminf(pw, tw), mw - dx)), ih = fmaxf(0.0f, fminf(fminf(ph, th), mh - dy));
  const float cw = fmaxf(fmaxf(pw, tw), mw + dx), ch = fmaxf(fmaxf(ph, th), mh + dy);
  const float inter = iw * ih, iou = inter / (pw * ph + tw * th - inter + 1e-7f);
  const float d = atanf(tw / (th + 1e-7f)) - atanf(pw / (ph + 1e-7f)), v = 0.405284735f * d * d;
  loss[i] = 1 - iou + (dx * dx + dy * dy) / (cw * cw + ch * ch + 1e-7f) + v / (1 - iou + v + 1e-7f) * v;
})";

Kernel make_kernel(const char* name, const char* source) {
  Kernel::Parts parts;
  parts.name = name;
  parts.kernel_source = source;
  return Kernel(std::move(parts));
}

// The best of five, in elapsed time and in processor time: the second one is right on a busy machine too.
void measure(const char* what, Backend& backend, lossgrad::LoadedKernel& kernel,
             const lossgrad::LaunchShape& shape, const std::vector<lossgrad::LaunchArgument>& arguments) {
  double elapsed = 1e30;
  double processor = 1e30;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t begin = std::clock();
    elapsed =
        std::min(elapsed, 1e-6 * backend.time_us([&] { backend.launch(kernel, shape, arguments, {}); }));
    processor = std::min(processor, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  std::printf("  %-40s %.3f s elapsed, %.3f s of processor time\n", what, elapsed, processor);
}

lossgrad::LaunchShape line_of(std::uint32_t blocks, std::uint32_t threads) {
  lossgrad::LaunchShape shape;
  shape.grid = {blocks, 1, 1};
  shape.block = {threads, 1, 1};
  return shape;
}

void run() {
  const auto backend = lossgrad::open_host_backend();
  const std::vector<Kernel> kernels = {make_kernel("barriers", kBarriers), make_kernel("loop", kLoop),
                                       make_kernel("boxes", kBoxes)};
  const auto loaded = backend->load_all(kernels);
  constexpr std::int32_t kThreads = 1 << 24;
  constexpr std::int32_t kBoxCount = 1 << 20;
  const auto in = backend->allocate(std::size_t{kThreads} * 4);
  const auto out = backend->allocate(std::size_t{kThreads} * 4);
  const float one = 1;
  backend->fill(*in, 0, in->size(), std::as_bytes(std::span(&one, 1)));
  backend->fill(*out, 0, out->size(), std::as_bytes(std::span(&one, 1)));
  for (const std::size_t cores : {1, 2}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, cores);
    std::printf("threads of the host: %zu\n", cores);
    measure("8192 blocks x 128 threads x 33 barriers", *backend, *loaded[0], line_of(8192, 128),
            {out->address()});
    measure("2^24 threads without barriers", *backend, *loaded[1], line_of(kThreads / 256, 256),
            {in->address(), out->address(), kThreads});
    measure("CIoU of 2^20 boxes", *backend, *loaded[2], line_of(kBoxCount / 256, 256),
            {in->address(), in->address() + 4, out->address(), kBoxCount});
  }
}

}  // namespace

int main() {
  try {
    run();
    return EXIT_SUCCESS;
  } catch (const lossgrad::Error& error) {
    std::fprintf(stderr, "%s\n%s\n", error.what(), error.detail().c_str());
    return EXIT_FAILURE;
  }
}
