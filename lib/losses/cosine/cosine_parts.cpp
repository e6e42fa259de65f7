// SPDX-License-Identifier: Apache-2.0
#include "losses/cosine/cosine_parts.hpp"

namespace lossgrad {
namespace {

std::vector<double> scaled(const Vector<double>& x, double factor) {
  const Vector<double> product = x * factor;
  return {product.begin(), product.end()};
}

}  // namespace

std::vector<LossPart> cosine_parts(Pass pass, CosineConvention convention, const CosineItem& row, double dy,
                                   double margin) {
  const CosineSums<double> sums = {(row.x1 * row.x1).sum(), (row.x2 * row.x2).sum(), (row.x1 * row.x2).sum()};
  const auto f = cosine_factors(sums, convention, cosine_branches(sums, convention));
  const double cosine = cosine_of(sums, f);
  const double active = row.y > 0 || cosine > margin ? 1 : 0;
  if (pass == Pass::forward) {
    if (row.y > 0) {
      return {{"constant", "constant 1", {{"loss", {1}}}},
              {"cos", "cos term", {{"loss", {-cosine}}}},
              {"margin", "margin", {{"loss", {0}}}}};
    }
    return {{"constant", "constant 1", {{"loss", {0}}}},
            {"cos", "cos term", {{"loss", {active * cosine}}}},
            {"margin", "margin", {{"loss", {-active * margin}}}}};
  }
  const double coefficient = row.y > 0 ? -dy : active * dy;
  const double across = coefficient * f.r1 * f.r2;
  return {{"cos", "cos term", {{"dx1", scaled(row.x2, across)}, {"dx2", scaled(row.x1, across)}}},
          {"norm",
           "norm term",
           {{"dx1", scaled(row.x1, -coefficient * cosine * f.k1 * f.r1)},
            {"dx2", scaled(row.x2, -coefficient * cosine * f.k2 * f.r2)}}}};
}

}  // namespace lossgrad
