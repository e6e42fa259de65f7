// SPDX-License-Identifier: Apache-2.0
// Cosine embedding kernels in plain CUDA C++. THREADS threads work on a row, ROWS rows share a thread block.
// A sweep covers up to BLOCK_SIZE elements of a row, neighbours by neighbouring threads; rows that are longer
// take several sweeps. Sums are added in a fixed order: each thread its own elements, then pairs of threads
// across the warp, then the warps one after another. Rows are [n_rows, n_dim], row-major; offsets are 64-bit.

enum class CosineConvention { exact, torch, similarity, product, normalize };

template <typename C>
struct CosineEps {
  static constexpr C kTorch = C(1e-12);      // added to each squared norm
  static constexpr C kSimilarity = C(1e-8);  // least norm
  static constexpr C kProduct = C(1e-8);     // least product of the norms
  static constexpr C kInverseRootOfProduct = C(1e4);
  static constexpr C kNormalize = C(1e-12);  // least norm
};

template <typename C>
struct CosineSums {
  C x11, x22, x12;
};

// cos = x12 * r1 * r2; d cos/d x1 = (x2 * r2 - x1 * (cos * k1)) * r1, and the same with 1 and 2 exchanged.
template <typename C>
struct CosineFactors {
  C r1, r2, k1, k2;
};

// The elements of a sweep that one thread holds.
template <typename D, int THREADS, int ELEMENTS, typename C = typename ComputeOf<D>::type>
struct CosineTile {
  C x1[ELEMENTS], x2[ELEMENTS];

  // `first`: this thread's first column; zeros beyond the row.
  __device__ __forceinline__ void load(const D* __restrict__ row1, const D* __restrict__ row2,
                                       long long first, long long n_dim) {
#pragma unroll
    for (int e = 0; e < ELEMENTS; ++e) {
      const long long column = first + static_cast<long long>(e) * THREADS;
      const bool inside = column < n_dim;
      x1[e] = inside ? load_value(row1 + column) : C(0);
      x2[e] = inside ? load_value(row2 + column) : C(0);
    }
  }
  __device__ __forceinline__ void add_to(CosineSums<C>& sums) const {
#pragma unroll
    for (int e = 0; e < ELEMENTS; ++e) {
      sums.x11 += x1[e] * x1[e];
      sums.x22 += x2[e] * x2[e];
      sums.x12 += x1[e] * x2[e];
    }
  }
};

// Sums over the THREADS threads of a row; every one of them gets the same bits.
template <int THREADS, int ROWS, typename C>
__device__ __forceinline__ CosineSums<C> cosine_sum_of_row(CosineSums<C> sums, int row, int lane) {
  constexpr int kWidth = THREADS < 32 ? THREADS : 32;
  if constexpr (THREADS > 1) {
#pragma unroll
    for (int step = kWidth / 2; step > 0; step /= 2) {
      sums.x11 += __shfl_xor_sync(0xffffffffu, sums.x11, step);
      sums.x22 += __shfl_xor_sync(0xffffffffu, sums.x22, step);
      sums.x12 += __shfl_xor_sync(0xffffffffu, sums.x12, step);
    }
  }
  if constexpr (THREADS > 32) {
    constexpr int kWarps = THREADS / 32;
    __shared__ C parts[3 * ROWS * kWarps];
    C* const mine = parts + 3 * kWarps * row;
    if (lane % 32 == 0) {
      mine[lane / 32] = sums.x11;
      mine[kWarps + lane / 32] = sums.x22;
      mine[2 * kWarps + lane / 32] = sums.x12;
    }
    __syncthreads();
    sums = {C(0), C(0), C(0)};
    for (int warp = 0; warp < kWarps; ++warp) {
      sums.x11 += mine[warp];
      sums.x22 += mine[kWarps + warp];
      sums.x12 += mine[2 * kWarps + warp];
    }
  }
  return sums;
}

template <CosineConvention CONVENTION, typename C>
__device__ __forceinline__ CosineFactors<C> cosine_factors(const CosineSums<C>& sums) {
  const C one = C(1);
  if constexpr (CONVENTION == CosineConvention::torch) {
    const C r1 = one / square_root(sums.x11 + CosineEps<C>::kTorch);
    const C r2 = one / square_root(sums.x22 + CosineEps<C>::kTorch);
    return {r1, r2, r1, r2};
  }
  const C norm1 = square_root(sums.x11), norm2 = square_root(sums.x22);
  if constexpr (CONVENTION == CosineConvention::similarity) {
    // The least norm is no part of the gradient: that divides by the norm itself; a zero row has none.
    const C least = CosineEps<C>::kSimilarity;
    return {one / (norm1 < least ? least : norm1), one / (norm2 < least ? least : norm2),
            norm1 == C(0) ? C(0) : one / norm1, norm2 == C(0) ? C(0) : one / norm2};
  }
  if constexpr (CONVENTION == CosineConvention::product) {
    if (norm1 * norm2 < CosineEps<C>::kProduct) {
      const C r = CosineEps<C>::kInverseRootOfProduct;
      return {r, r, C(0), C(0)};
    }
  }
  if constexpr (CONVENTION == CosineConvention::normalize) {
    const C least = CosineEps<C>::kNormalize;
    const bool short1 = norm1 < least, short2 = norm2 < least;
    const C r1 = one / (short1 ? least : norm1), r2 = one / (short2 ? least : norm2);
    return {r1, r2, short1 ? C(0) : r1, short2 ? C(0) : r2};
  }
  const C r1 = one / norm1, r2 = one / norm2;
  return {r1, r2, r1, r2};
}

template <typename D, int BLOCK_SIZE, int THREADS, int ROWS, int ELEMENTS, CosineConvention CONVENTION>
__device__ __forceinline__ void cosine_embedding_loss_forward(const D* __restrict__ x1,
                                                              const D* __restrict__ x2,
                                                              const D* __restrict__ y, D* __restrict__ loss,
                                                              int n_rows, int n_dim, float margin) {
  using C = typename ComputeOf<D>::type;
  constexpr int kSweep = THREADS * ELEMENTS;
  const int row_in_block = threadIdx.x / THREADS, lane = threadIdx.x % THREADS;
  const long long row = static_cast<long long>(blockIdx.x) * ROWS + row_in_block;
  const bool inside = row < n_rows;
  const long long columns = inside ? n_dim : 0;
  const D* const row1 = x1 + row * n_dim;
  const D* const row2 = x2 + row * n_dim;
  CosineSums<C> sums = {C(0), C(0), C(0)};
  for (long long sweep = 0; sweep < columns; sweep += kSweep) {
    CosineTile<D, THREADS, ELEMENTS> tile;
    tile.load(row1, row2, sweep + lane, columns);
    tile.add_to(sums);
  }
  sums = cosine_sum_of_row<THREADS, ROWS>(sums, row_in_block, lane);
  if (!inside || lane != 0) return;
  const CosineFactors<C> factors = cosine_factors<CONVENTION>(sums);
  const C cosine = sums.x12 * factors.r1 * factors.r2;
  const C excess = cosine - C(margin);
  // Written so that a NaN passes.
  const C hinge = excess <= C(0) ? C(0) : excess;
  store_value(loss + row, load_value(y + row) > C(0) ? C(1) - cosine : hinge);
}

template <typename D, int BLOCK_SIZE, int THREADS, int ROWS, int ELEMENTS, CosineConvention CONVENTION>
__device__ __forceinline__ void cosine_embedding_loss_backward(
    const D* __restrict__ dy, const D* __restrict__ x1, const D* __restrict__ x2, const D* __restrict__ y,
    D* __restrict__ dx1, D* __restrict__ dx2, int n_rows, int n_dim, float margin) {
  using C = typename ComputeOf<D>::type;
  using Tile = CosineTile<D, THREADS, ELEMENTS>;
  constexpr int kSweep = THREADS * ELEMENTS;
  const int row_in_block = threadIdx.x / THREADS, lane = threadIdx.x % THREADS;
  const long long row = static_cast<long long>(blockIdx.x) * ROWS + row_in_block;
  const bool inside = row < n_rows;
  const long long columns = inside ? n_dim : 0;
  const D* const row1 = x1 + row * n_dim;
  const D* const row2 = x2 + row * n_dim;
  // The first sweep stays in registers for the gradient.
  Tile first;
  first.load(row1, row2, lane, columns);
  CosineSums<C> sums = {C(0), C(0), C(0)};
  first.add_to(sums);
  for (long long sweep = kSweep; sweep < columns; sweep += kSweep) {
    Tile tile;
    tile.load(row1, row2, sweep + lane, columns);
    tile.add_to(sums);
  }
  sums = cosine_sum_of_row<THREADS, ROWS>(sums, row_in_block, lane);
  if (!inside) return;

  const CosineFactors<C> factors = cosine_factors<CONVENTION>(sums);
  const C cosine = sums.x12 * factors.r1 * factors.r2;
  const bool same = load_value(y + row) > C(0);
  const bool active = same || cosine > C(margin);
  const C upstream = load_value(dy + row);
  const C coefficient = same ? -upstream : upstream;
  const C scale1 = coefficient * factors.r1, scale2 = coefficient * factors.r2;
  const C along1 = cosine * factors.k1, along2 = cosine * factors.k2;
  D* const d_row1 = dx1 + row * n_dim;
  D* const d_row2 = dx2 + row * n_dim;
  const auto store = [&](const Tile& tile, long long begin) {
#pragma unroll
    for (int e = 0; e < ELEMENTS; ++e) {
      const long long column = begin + static_cast<long long>(e) * THREADS;
      if (column >= columns) break;
      // An inactive row is exactly zero, whatever it holds.
      const C d1 = scale1 * (tile.x2[e] * factors.r2 - tile.x1[e] * along1);
      const C d2 = scale2 * (tile.x1[e] * factors.r1 - tile.x2[e] * along2);
      store_value(d_row1 + column, active ? d1 : C(0));
      store_value(d_row2 + column, active ? d2 : C(0));
    }
  };
  store(first, lane);
  for (long long sweep = kSweep; sweep < columns; sweep += kSweep) {
    Tile tile;
    tile.load(row1, row2, sweep + lane, columns);
    store(tile, sweep + lane);
  }
}
