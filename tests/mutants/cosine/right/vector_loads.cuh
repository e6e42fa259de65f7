// SPDX-License-Identifier: Apache-2.0
// Four elements at a time where the rows are aligned, single ones before and after.
template <typename C>
__device__ __forceinline__ void add_pair(Sums<C>& sums, C a, C b) {
  sums.x11 += a * a;
  sums.x22 += b * b;
  sums.x12 += a * b;
}
__device__ __forceinline__ bool is_aligned(const float* row) {
  return reinterpret_cast<unsigned long long>(row) % sizeof(float4) == 0;
}
template <typename C>
__device__ Sums<C> row_sums(const float* row1, const float* row2, int n_dim) {
  Sums<C> sums = {C(0), C(0), C(0)};
  int i = 0;
  while (i < n_dim && !is_aligned(row1 + i)) add_pair(sums, row1[i], row2[i]), ++i;
  if (is_aligned(row2 + i)) {
    for (; i + 4 <= n_dim; i += 4) {
      const float4 a = *reinterpret_cast<const float4*>(row1 + i);
      const float4 b = *reinterpret_cast<const float4*>(row2 + i);
      add_pair(sums, a.x, b.x), add_pair(sums, a.y, b.y), add_pair(sums, a.z, b.z), add_pair(sums, a.w, b.w);
    }
  }
  for (; i < n_dim; ++i) add_pair(sums, row1[i], row2[i]);
  return sums;
}
