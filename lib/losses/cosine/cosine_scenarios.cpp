// SPDX-License-Identifier: Apache-2.0
#include "losses/cosine/cosine_scenarios.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "losses/random_inputs.hpp"
#include "losses/scenario_table.hpp"
#include "math/random.hpp"

namespace lossgrad {
namespace {

using Values = std::vector<double>;
struct Pair {
  Values x1, x2;
  double y = 0;  // 0: either label
};
struct Shape {
  Dtype dtype;
  std::size_t n_dim;
  double margin;
};
using Draw = Pair (*)(ItemRandom&, const Shape&);

Values normals(ItemRandom& random, std::size_t n) {
  Values values(n);
  for (double& x : values) x = random.normal();
  return values;
}

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
double norm(const Values& a) { return std::sqrt(dot(a, a)); }

Values times(Values values, double factor) {
  for (double& x : values) x *= factor;
  return values;
}
Values sum(Values a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

void round_all(Values& values, Dtype dtype) {
  for (double& x : values) x = round_to(dtype, x);
}
Values rounded(Values values, Dtype dtype) {
  round_all(values, dtype);
  return values;
}

// At right angles to x, as long as x; zero where the row has one component.
Values at_right_angles(ItemRandom& random, const Values& x) {
  Values other = normals(random, x.size());
  // Twice: the first subtraction leaves its own rounding along x behind.
  for (int pass = 0; pass < 2; ++pass) {
    const Values along = times(x, -dot(x, other) / dot(x, x));
    other = sum(std::move(other), along);
  }
  const double length = norm(other);
  return length > 0 && x.size() > 1 ? times(std::move(other), norm(x) / length) : Values(x.size(), 0.0);
}

Pair gaussian(ItemRandom& random, const Shape& shape) {
  Values x1 = normals(random, shape.n_dim), x2 = normals(random, shape.n_dim);
  // Half of the pairs alike, as pairs with label 1 are.
  if (random.chance(0.5)) x2 = sum(times(std::move(x2), random.uniform(0.1, 1)), x1);
  return {std::move(x1), std::move(x2), 0};
}

Pair of_length_one(ItemRandom& random, const Shape& shape) {
  Pair pair = gaussian(random, shape);
  pair.x1 = times(std::move(pair.x1), 1 / norm(pair.x1));
  pair.x2 = times(std::move(pair.x2), 1 / norm(pair.x2));
  return pair;
}

Pair unit(ItemRandom& random, const Shape& shape) {
  Pair pair = of_length_one(random, shape);
  for (Values* row : {&pair.x1, &pair.x2}) {
    if (random.chance(0.5)) continue;
    const double off = random.sign() * random.log_uniform(ulp(compute_type(shape.dtype), 1), 0.1);
    *row = times(std::move(*row), 1 + off);
  }
  return pair;
}

Pair parallel(ItemRandom& random, const Shape& shape) {
  Values x1 = rounded(normals(random, shape.n_dim), shape.dtype);
  const double factor = random.chance(0.5) ? std::ldexp(1.0, static_cast<int>(random.integer(-3, 3)))
                                           : random.log_uniform(0.1, 10);
  Values x2 = times(x1, factor);
  return {std::move(x1), std::move(x2), 0};
}

// In half of the pairs at an angle down to one rounding: between it and the root of a rounding the cosine is
// 1 to the last digit, and the gradient is not zero.
Pair near_parallel(ItemRandom& random, const Shape& shape) {
  Pair pair = parallel(random, shape);
  if (random.chance(0.5)) {
    const double angle = random.log_uniform(ulp(compute_type(shape.dtype), 1), 0.1);
    const double share = angle * norm(pair.x2) / norm(pair.x1);
    pair.x2 = sum(std::move(pair.x2), times(at_right_angles(random, pair.x1), share));
    return pair;
  }
  round_all(pair.x2, shape.dtype);
  for (double& x : pair.x2) x += ulp(shape.dtype, x) * static_cast<double>(random.integer(-4, 4));
  return pair;
}

Pair antiparallel(ItemRandom& random, const Shape& shape) {
  Pair pair = random.chance(0.5) ? parallel(random, shape) : near_parallel(random, shape);
  pair.x2 = times(std::move(pair.x2), -1);
  return pair;
}

Pair orthogonal(ItemRandom& random, const Shape& shape) {
  Values x1 = normals(random, shape.n_dim);
  if (shape.n_dim == 1) return {std::move(x1), normals(random, 1), 0};
  if (random.chance(0.5)) {
    Values x2 = at_right_angles(random, x1);
    if (random.chance(0.5)) {
      const double cosine = random.sign() * random.log_uniform(ulp(compute_type(shape.dtype), 1), 0.1);
      x2 = sum(std::move(x2), times(x1, cosine));
    }
    return {std::move(x1), std::move(x2), 0};
  }
  // Exactly: no component is in both rows.
  Values x2 = normals(random, shape.n_dim);
  for (std::size_t i = 0; i < shape.n_dim; ++i) (i % 2 == 0 ? x1 : x2)[i] = 0;
  return {std::move(x1), std::move(x2), 0};
}

// cos = margin + offset, where labels of -1 have their hinge: x2 = cos * x1 + sqrt(1 - cos^2) * w, w at right
// angles to x1 and as long. In f64 so long that no convention's eps moves the cosine.
Pair beside_margin(ItemRandom& random, const Shape& shape, double offset) {
  const double length = compute_type(shape.dtype) == Dtype::f64 ? 0x1p20 : 1;
  Values x1 = rounded(times(normals(random, shape.n_dim), length), shape.dtype);
  const double cosine = std::clamp(shape.margin + offset, -1.0, 1.0);
  Values x2 = times(at_right_angles(random, x1), std::sqrt(1 - cosine * cosine));
  x2 = sum(std::move(x2), times(x1, cosine));
  return {std::move(x1), std::move(x2), -1};
}

Pair near_margin(ItemRandom& random, const Shape& shape) {
  return beside_margin(random, shape,
                       ulp(compute_type(shape.dtype), 1) * static_cast<double>(random.integer(-4, 4)));
}

// From what rounding just decides up to where ordinary pairs lie.
Pair about_margin(ItemRandom& random, const Shape& shape) {
  const double sign = random.sign();
  return beside_margin(random, shape, sign * random.log_uniform(ulp(compute_type(shape.dtype), 1), 0.1));
}

// One row or both are zero in half of the pairs.
Pair zero_row(ItemRandom& random, const Shape& shape) {
  Pair pair = gaussian(random, shape);
  const std::int64_t which = random.integer(0, 5);
  if (which == 0 || which == 2) pair.x1.assign(shape.n_dim, 0);
  if (which == 1 || which == 2) pair.x2.assign(shape.n_dim, 0);
  return pair;
}

// Lengths log-uniform between the two; in half of the pairs both rows have the same.
Pair of_length(ItemRandom& random, const Shape& shape, double least, double most) {
  const Pair pair = of_length_one(random, shape);
  const double length = random.log_uniform(least, most);
  const double other = random.chance(0.5) ? length : random.log_uniform(least, most);
  return {times(pair.x1, length), times(pair.x2, other), 0};
}

// Down to lengths whose squares underflow in the compute type; f16 has no such values.
Pair tiny_norm(ItemRandom& random, const Shape& shape) {
  const bool wide = compute_type(shape.dtype) == Dtype::f64;
  return of_length(random, shape, shape.dtype == Dtype::f16 ? 1e-6 : (wide ? 1e-170 : 1e-24), 1e-2);
}

// Up to lengths whose squares overflow in the compute type; in f16 beyond 65504.
Pair huge_norm(ItemRandom& random, const Shape& shape) {
  const bool wide = compute_type(shape.dtype) == Dtype::f64;
  return of_length(random, shape, 1e2, shape.dtype == Dtype::f16 ? 6e4 : (wide ? 1e170 : 1e22));
}

Pair sparse(ItemRandom& random, const Shape& shape) {
  Pair pair = gaussian(random, shape);
  const auto kept = static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(shape.n_dim) - 1));
  for (std::size_t i = 0; i < shape.n_dim; ++i) {
    if (i == kept) continue;
    if (!random.chance(0.1)) pair.x1[i] = 0;
    if (!random.chance(0.1)) pair.x2[i] = 0;
  }
  return pair;
}

Pair large_offset(ItemRandom& random, const Shape& shape) {
  Pair pair = gaussian(random, shape);
  const double offset = random.sign() * random.log_uniform(10, 1000);
  for (std::size_t i = 0; i < shape.n_dim; ++i) pair.x1[i] += offset, pair.x2[i] += offset;
  return pair;
}

// Each of the last one to eight components weighs about as much as all before them together: a lost tail
// shows.
Pair tail_heavy(ItemRandom& random, const Shape& shape) {
  Pair pair = gaussian(random, shape);
  const double weight = std::sqrt(static_cast<double>(shape.n_dim));
  const auto tail = std::min<std::size_t>(shape.n_dim, static_cast<std::size_t>(random.integer(1, 8)));
  for (std::size_t i = shape.n_dim - tail; i < shape.n_dim; ++i) {
    pair.x1[i] = weight * (pair.x1[i] + random.sign());
    pair.x2[i] = weight * (pair.x2[i] + random.sign());
  }
  return pair;
}

// Squares of small whole numbers: their sums are exact in every order, so that one element lost from a row of
// any length shows in the gradient. The rows have few places in common, whose products would hide it.
Pair whole_numbers(ItemRandom& random, const Shape& shape) {
  Pair pair{Values(shape.n_dim, 0.0), Values(shape.n_dim, 0.0), 0};
  const double unit = std::ldexp(1.0, static_cast<int>(random.integer(-2, 2)));
  for (std::size_t i = 0; i < shape.n_dim; ++i) {
    const bool both = i == 0 || random.chance(1.0 / 16);
    if (both || i % 2 == 0) pair.x1[i] = unit * random.sign() * static_cast<double>(random.integer(1, 2));
    if (both || i % 2 == 1) pair.x2[i] = unit * random.sign() * static_cast<double>(random.integer(1, 2));
  }
  return pair;
}

const ScenarioTable<Draw>& table() {
  static const ScenarioTable<Draw> scenarios(
      "cosine",
      {
          {{"mixed",
            "gaussian in half of the rows, else one of all the following but non_finite (the default)"},
           nullptr},
          {{"gaussian", "normal components, half of the pairs alike"}, gaussian},
          {{"unit", "gaussian, rows of length 1, half of them 1 ulp to 0.1 off, log-uniform"}, unit},
          {{.name = "parallel",
            .summary = "x2 a positive multiple of x1, to rounding",
            .made_of_zeros = true},
           parallel},
          {{.name = "near_parallel",
            .summary =
                "x2 within 4 ulp of a multiple of x1 in every component, or at an angle from 1 ulp to 0.1",
            .made_of_zeros = true},
           near_parallel},
          {{.name = "antiparallel",
            .summary = "x2 a negative multiple of x1, exact or as near_parallel",
            .made_of_zeros = true},
           antiparallel},
          {{"orthogonal",
            "cos 0, in half of the rows exactly, in a quarter 1 ulp to 0.1 from it, log-uniform"},
           orthogonal},
          {{"near_margin", "cos within a few ulp of the margin, all labels -1", true}, near_margin},
          {{"about_margin",
            "cos apart from the margin by 1 ulp to 0.1, log-uniform, all labels -1; then x2 is rounded"},
           about_margin},
          {{"zero_row", "x1, x2 or both zero in half of the rows"}, zero_row},
          {{"tiny_norm", "lengths from 1e-24 to 1e-2 (f64 from 1e-170, f16 from 1e-6): squares underflow"},
           tiny_norm},
          {{"huge_norm", "lengths from 100 to 1e22 (f64 to 1e170, f16 to 6e4): squares overflow"}, huge_norm},
          {{"sparse", "nine components in ten are zero"}, sparse},
          {{"large_offset", "gaussian, every component shifted by 10 to 1000"}, large_offset},
          {{"tail_heavy", "the last one to eight components weigh most"}, tail_heavy},
          {{"whole_numbers",
            "1 or 2 times a power of two, few places in common: exact sums show each lost element"},
           whole_numbers},
          {{"non_finite", "gaussian; in 1 row of 4 one element of x1, x2 or dy is NaN (half), inf or -inf"},
           gaussian,
           false},
      });
  return scenarios;
}

// In x1, x2 or dy, each a third of the time.
void spoil_one_element(CosineRow& row, ItemRandom& random) {
  if (!random.chance(kNonFiniteShare)) return;
  const double value = random_non_finite(random);
  const std::int64_t argument = random.integer(0, 2);
  const auto element =
      static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(row.x1.size()) - 1));
  (argument == 0 ? row.x1[element] : argument == 1 ? row.x2[element] : row.dy) = value;
}

}  // namespace

std::span<const ScenarioInfo> cosine_scenarios() { return table().infos(); }

CosineSampler::CosineSampler(std::string_view scenario, Dtype dtype, std::int64_t n_dim, double margin)
    : index_(table().index_of(scenario)),
      dtype_(dtype),
      n_dim_(static_cast<std::size_t>(n_dim)),
      margin_(margin) {}

CosineRow CosineSampler::operator()(std::uint64_t seed, std::int64_t row) const {
  ItemRandom random(seed, static_cast<std::uint32_t>(index_), row);
  std::size_t drawn = index_;
  if (table().draw(drawn) == nullptr) {
    drawn = random.chance(0.5) ? 1 : static_cast<std::size_t>(random.integer(1, table().last_finite()));
  }
  Pair pair = table().draw(drawn)(random, {dtype_, n_dim_, margin_});
  round_all(pair.x1, dtype_);
  round_all(pair.x2, dtype_);
  const double y = pair.y == 0 ? random.sign() : pair.y;
  CosineRow drawn_row{std::move(pair.x1), std::move(pair.x2), y, random_upstream(random, dtype_)};
  if (!table().finite(drawn)) spoil_one_element(drawn_row, random);
  return drawn_row;
}

}  // namespace lossgrad
