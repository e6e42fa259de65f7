// SPDX-License-Identifier: Apache-2.0
#include "mutants/right_kernels.hpp"

#include <algorithm>
#include <bit>

namespace lossgrad::mutants {
namespace {

const std::vector<std::string> kEveryConvention = {"exact", "torch", "similarity", "product", "normalize"};
const std::vector<Dtype> kOnlyF32 = {Dtype::f32};
const std::vector<Dtype> kComputedInF32 = {Dtype::f32, Dtype::f16, Dtype::bf16};

// One block for all lengths: what these kernels do does not depend on it, and their text is compiled once.
constexpr int kBlock = 64;

OtherLaunch warp_of_rows(const Sizes&) { return {32, 32}; }
OtherLaunch block_of_256(const Sizes&) { return {1, 256}; }
OtherLaunch next_power_of_two(const Sizes& sizes) {
  return {1, std::min(1024u, std::bit_ceil(static_cast<std::uint32_t>(sizes.at("n_dim"))))};
}

OtherLaunch eight_lanes_in_128(const Sizes&) { return {16, 128}; }

RightKernel thread_a_row(const std::string& name, const std::string& sums, const std::string& formulas) {
  RightKernel kernel;
  kernel.name = name;
  kernel.text = {{"rows.cuh", sums, formulas, "one_thread_a_row.cuh"}, {}, warp_of_rows};
  kernel.conventions = {"exact"};
  kernel.block = kBlock;
  return kernel;
}

RightKernel block_a_row(const std::string& name, const std::string& formulas,
                        OtherLaunch (*launch)(const Sizes&)) {
  RightKernel kernel = thread_a_row(name, "", formulas);
  kernel.text = {{"rows.cuh", formulas, "one_block_a_row.cuh"}, {}, launch};
  return kernel;
}

RightKernel with(RightKernel kernel, const std::vector<Dtype>& dtypes,
                 const std::vector<std::string>& conventions) {
  kernel.dtypes = dtypes;
  kernel.conventions = conventions;
  return kernel;
}

RightKernel normalised_first() {
  RightKernel kernel = thread_a_row("normalised_first", "", "");
  kernel.text = {{"rows.cuh", "normalised_first.cuh"}, {}, warp_of_rows};
  kernel.conventions = {"exact", "normalize"};
  return kernel;
}

RightKernel double_intermediates() {
  RightKernel kernel = with(thread_a_row("double_intermediates", "one_accumulator.cuh", "by_norms.cuh"),
                            kComputedInF32, {"exact"});
  kernel.text.edits = {{"using C = typename ComputeOf<D>::type;", "using C = double;", 2}};
  return kernel;
}

RightKernel fast_math() {
  RightKernel kernel =
      with(thread_a_row("fast_math", "one_accumulator.cuh", "by_norms.cuh"), kComputedInF32, {"torch"});
  kernel.text.fast_math = true;
  kernel.drops_nan = true;
  return kernel;
}

// Sums alone in double.
RightKernel double_sums() {
  RightKernel kernel = with(thread_a_row("double_sums", "one_accumulator.cuh", "by_reciprocal_roots.cuh"),
                            kComputedInF32, {"exact"});
  kernel.text.edits = {{"Sums<C> sums = {C(0), C(0), C(0)};\n  for", "Sums<double> sums = {0, 0, 0};\n  for"},
                       {"const C a = load_value(row1 + i), b = load_value(row2 + i);\n    sums",
                        "const double a = load_value(row1 + i), b = load_value(row2 + i);\n    sums"},
                       {"  return sums;\n", "  return {C(sums.x11), C(sums.x22), C(sums.x12)};\n"}};
  return kernel;
}

RightKernel eight_lanes_a_row() {
  RightKernel kernel = thread_a_row("eight_lanes_a_row", "", "");
  kernel.text = {{"rows.cuh", "by_norms.cuh", "eight_lanes_a_row.cuh"}, {}, eight_lanes_in_128};
  return with(kernel, RightKernel().dtypes, {"exact", "similarity"});
}

// The first sweep is read again for the gradient, as the other sweeps are.
RightKernel nothing_kept() {
  RightKernel kernel;
  kernel.name = "nothing_kept_in_registers";
  kernel.text = {{},
                 {{"store(first, lane);",
                   "Tile again;\n  again.load(row1, row2, lane, columns);\n  store(again, lane);"}}};
  kernel.conventions = {"exact"};
  kernel.backward_only = true;
  return kernel;
}

// A NaN in a row of label -1 makes its gradient NaN; in the built-in kernel zero.
RightKernel active_unless_below() {
  RightKernel kernel;
  kernel.name = "active_unless_below";
  kernel.text = {{}, {{"same || cosine > C(margin)", "same || !(cosine <= C(margin))"}}};
  kernel.conventions = {"exact"};
  kernel.backward_only = true;
  return kernel;
}

RightKernel builtin(const std::string& name, int block, const std::vector<Dtype>& dtypes,
                    const std::vector<std::string>& conventions) {
  RightKernel kernel;
  kernel.name = name;
  kernel.block = block;
  return with(kernel, dtypes, conventions);
}

}  // namespace

std::vector<RightKernel> right_kernels() {
  const std::vector<Dtype> all = RightKernel().dtypes;
  return {
      builtin("builtin", kOwnBlock, all, kEveryConvention),
      builtin("builtin_many_sweeps", 32, all, {"exact"}),
      nothing_kept(),
      active_unless_below(),
      with(thread_a_row("one_thread_one_accumulator", "one_accumulator.cuh", "by_norms.cuh"), all,
           kEveryConvention),
      with(thread_a_row("fused_multiply_add", "fused_accumulators.cuh", "by_norms.cuh"), all, {"exact"}),
      with(thread_a_row("pairwise_tree", "pairwise.cuh", "by_norms.cuh"), all, {"exact"}),
      with(thread_a_row("kahan_sum", "kahan.cuh", "by_norms.cuh"), all, {"exact"}),
      with(thread_a_row("reciprocal_roots", "one_accumulator.cuh", "by_reciprocal_roots.cuh"), all,
           {"exact", "torch"}),
      with(thread_a_row("newton_roots", "one_accumulator.cuh", "by_newton_roots.cuh"), kComputedInF32,
           {"exact", "torch"}),
      with(thread_a_row("blocks_of_32", "blocks_of_32.cuh", "by_norms.cuh"), all, {"exact"}),
      fast_math(),
      double_sums(),
      eight_lanes_a_row(),
      with(thread_a_row("root_of_product", "one_accumulator.cuh", "by_root_of_product.cuh"), all,
           {"exact", "torch"}),
      with(thread_a_row("cross_products", "one_accumulator.cuh", "by_cross_products.cuh"), all, {"exact"}),
      normalised_first(),
      with(thread_a_row("vector_loads", "vector_loads.cuh", "by_norms.cuh"), kOnlyF32, {"exact"}),
      double_intermediates(),
      with(block_a_row("block_of_256", "by_norms.cuh", block_of_256), all, {"exact"}),
      with(block_a_row("next_power_of_two_threads", "by_reciprocal_roots.cuh", next_power_of_two), all,
           {"exact"}),
  };
}

std::vector<RightCase> right_cases() {
  // As many rows as leave one of about_margin active in each.
  return {{.sizes = {{"n_rows", 67}, {"n_dim", 1}}, .parameters = {{"margin", -0.3}}, .fd_samples = 8},
          {.sizes = {{"n_rows", 50}, {"n_dim", 7}}, .parameters = {{"margin", 0.5}}, .fd_samples = 8},
          {.sizes = {{"n_rows", 26}, {"n_dim", 33}}, .fd_samples = 8},
          {.sizes = {{"n_rows", 13}, {"n_dim", 130}}, .parameters = {{"margin", 0.5}}, .fd_samples = 4},
          {.sizes = {{"n_rows", 8}, {"n_dim", 1000}}, .fd_samples = 2}};
}

}  // namespace lossgrad::mutants
