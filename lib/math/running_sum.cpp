// SPDX-License-Identifier: Apache-2.0
#include "math/running_sum.hpp"

namespace lossgrad {

ProductSum product_sum(const Vector<double>& a, const Vector<double>& b) {
  ProductSum sum;
  sum.terms = a.size();
  std::int64_t repeated = 0;
  double before = 0;
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    const double term = a[i] * b[i];
    sum.value += term;
    sum.magnitude += std::abs(term);
    if (term == 0) continue;
    ++sum.nonzero;
    repeated += std::abs(term) == before ? 1 : 0;
    before = std::abs(term);
  }
  sum.finite = a.isFinite().all() && b.isFinite().all();
  sum.independent = 4 * repeated <= sum.nonzero;
  return sum;
}

}  // namespace lossgrad
