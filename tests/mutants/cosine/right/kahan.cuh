// SPDX-License-Identifier: Apache-2.0
// Compensated summation (Kahan): what an addition loses is added to the next term.
template <typename C>
struct Compensated {
  C sum = C(0), lost = C(0);
  __device__ void add(C term) {
    const C wanted = term - lost, next = sum + wanted;
    lost = (next - sum) - wanted;
    sum = next;
  }
};
template <typename C, typename D>
__device__ Sums<C> row_sums(const D* row1, const D* row2, int n_dim) {
  Compensated<C> x11, x22, x12;
  for (int i = 0; i < n_dim; ++i) {
    const C a = load_value(row1 + i), b = load_value(row2 + i);
    x11.add(a * a), x22.add(b * b), x12.add(a * b);
  }
  return {x11.sum, x22.sum, x12.sum};
}
