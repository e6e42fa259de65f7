// SPDX-License-Identifier: Apache-2.0
#include "losses/ciou/ciou_scenarios.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "losses/random_inputs.hpp"
#include "losses/scenario_table.hpp"
#include "math/random.hpp"

namespace lossgrad {
namespace {

using Box = std::array<double, 4>;
struct Pair {
  Box pred, target;
};
using Draw = Pair (*)(ItemRandom&, Dtype);

constexpr double kCanvas = 640;

Box round_box(const Box& box, Dtype dtype) {
  return {round_to(dtype, box[0]), round_to(dtype, box[1]), round_to(dtype, box[2]), round_to(dtype, box[3])};
}

// A size with COCO's spread: the square root of the area log-uniform in 8 to 400, aspect ratio log-normal.
Box canvas_box(ItemRandom& random) {
  const double root = random.log_uniform(8, 400);
  const double stretch = std::exp(0.35 * random.normal());
  return {random.uniform(0, kCanvas), random.uniform(0, kCanvas), root * stretch, root / stretch};
}

// A prediction near `target`: centre off by a normal share of the size, sizes by a log-normal factor.
Box near(ItemRandom& random, const Box& target, double shift, double growth) {
  return {target[0] + shift * target[2] * random.normal(), target[1] + shift * target[3] * random.normal(),
          target[2] * std::exp(growth * random.normal()), target[3] * std::exp(growth * random.normal())};
}

Pair scaled(Pair pair, double factor) {
  for (Box* box : {&pair.pred, &pair.target}) {
    for (double& component : *box) component *= factor;
  }
  return pair;
}

Pair typical(ItemRandom& random, Dtype) {
  const Box target = canvas_box(random);
  if (random.chance(0.1)) return {canvas_box(random), target};  // an unrelated prediction
  return {near(random, target, 0.2, 0.25), target};
}

Pair normalised(ItemRandom& random, Dtype dtype) { return scaled(typical(random, dtype), 1 / kCanvas); }

Pair overlapping(ItemRandom& random, Dtype) {
  const Box target = canvas_box(random);
  Box pred = near(random, target, 0, 0.4);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    pred[axis] += 0.45 * random.uniform(-1, 1) * (pred[axis + 2] + target[axis + 2]);
  }
  return {pred, target};
}

Pair disjoint(ItemRandom& random, Dtype) {
  const Box target = canvas_box(random);
  Box pred = near(random, target, 0.3, 0.5);
  const std::size_t axis = random.chance(0.5) ? 0 : 1;
  const double reach = 0.5 * (pred[axis + 2] + target[axis + 2]);
  pred[axis] = target[axis] + random.sign() * reach * random.uniform(1.02, 4);
  return {pred, target};
}

Pair nested(ItemRandom& random, Dtype) {
  const Box outer = canvas_box(random);
  Box inner = outer;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    inner[axis + 2] = outer[axis + 2] * random.uniform(0.1, 0.9);
    inner[axis] = outer[axis] + 0.49 * random.uniform(-1, 1) * (outer[axis + 2] - inner[axis + 2]);
  }
  return random.chance(0.5) ? Pair{inner, outer} : Pair{outer, inner};
}

Pair identical(ItemRandom& random, Dtype dtype) {
  const Box box =
      random.chance(0.5) ? canvas_box(random) : scaled({canvas_box(random), {}}, 1 / kCanvas).pred;
  const Box rounded = round_box(box, dtype);
  return {rounded, rounded};
}

Pair near_identical(ItemRandom& random, Dtype dtype) {
  const Box target = round_box(canvas_box(random), dtype);
  Box pred = target;
  for (double& component : pred)
    component += ulp(dtype, component) * static_cast<double>(random.integer(-4, 4));
  return {pred, target};
}

// Edges on a grid of whole numbers that every storage type holds, times a power of two: shared edges and
// corners are exact.
Pair touching(ItemRandom& random, Dtype) {
  Pair pair{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const double tw = 2 * static_cast<double>(random.integer(1, 16));
    const double pw = 2 * static_cast<double>(random.integer(1, 16));
    const double centre = static_cast<double>(random.integer(32, 128));
    const double side = random.sign();
    double shift = static_cast<double>(random.integer(-24, 24));
    if (axis == 0 || random.chance(0.5)) {
      // Outside, edge to edge; or inside with one edge in common.
      shift = side * 0.5 * (random.chance(0.5) ? pw + tw : pw - tw);
    }
    pair.target[axis] = centre;
    pair.target[axis + 2] = tw;
    pair.pred[axis] = centre + shift;
    pair.pred[axis + 2] = pw;
  }
  if (random.chance(0.5)) {
    std::swap(pair.pred[0], pair.pred[1]), std::swap(pair.pred[2], pair.pred[3]);
    std::swap(pair.target[0], pair.target[1]), std::swap(pair.target[2], pair.target[3]);
  }
  return scaled(pair, std::ldexp(1.0, static_cast<int>(random.integer(-8, 2))));
}

// Boxes of size 1 or so about the origin, so that small gaps between edges have digits: one pair of edges, or
// one in each axis, is 1 ulp (of 1) to 0.1 apart.
Pair near_touching(ItemRandom& random, Dtype dtype) {
  Pair pair{};
  const std::int64_t which = random.integer(0, 2);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const double tw = random.log_uniform(0.5, 2), pw = tw * random.log_uniform(0.5, 2);
    const double side = random.sign();
    const double gap = random.sign() * random.log_uniform(ulp(dtype, 1), 0.1);
    // Outside, edge beside edge; or inside, one pair of edges nearly the same.
    const double reach = 0.5 * (random.chance(0.5) ? pw + tw : pw - tw) + gap;
    const double inside = 0.3 * random.uniform(-1, 1) * (pw + tw);
    const bool close = which == 2 || which == static_cast<std::int64_t>(axis);
    pair.target[axis] = random.uniform(-0.25, 0.25);
    pair.target[axis + 2] = tw;
    pair.pred[axis] = pair.target[axis] + (close ? side * reach : inside);
    pair.pred[axis + 2] = pw;
  }
  return pair;
}

// Boxes of size 1 or so about the origin that differ by up to a gap of 1 ulp (of 1) to 0.1: distances and
// differences of the aspect ratios have all sizes on the way to 0.
Pair near_equal(ItemRandom& random, Dtype dtype) {
  const double gap = random.log_uniform(ulp(dtype, 1), 0.1);
  Pair pair{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    pair.target[axis] = random.uniform(-0.25, 0.25);
    pair.target[axis + 2] = random.log_uniform(0.5, 2);
  }
  for (std::size_t component = 0; component < 4; ++component) {
    pair.pred[component] =
        pair.target[component] + gap * random.uniform(-1, 1) * pair.target[2 + component % 2];
  }
  return pair;
}

Pair thin(ItemRandom& random, Dtype) {
  const auto side_lengths = [&](Box& box) {
    const double length = random.log_uniform(1, 1000);
    const double width = length / random.log_uniform(1, 1e6);
    const bool tall = random.chance(0.5);
    box[2] = tall ? width : length;
    box[3] = tall ? length : width;
  };
  Box target{random.uniform(0, kCanvas), random.uniform(0, kCanvas), 0, 0};
  side_lengths(target);
  Box pred = target;
  if (random.chance(0.5)) side_lengths(pred);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    pred[axis] += 0.3 * random.normal() * (pred[axis + 2] + target[axis + 2]);
  }
  return {pred, target};
}

// Sizes from 1e-5 to 1e-2, so that areas lie around eps; positions from the boxes' own scale up to 1.
Pair tiny(ItemRandom& random, Dtype) {
  const double size = random.log_uniform(1e-5, 1e-2);
  Box target{0, 0, size * std::exp(0.3 * random.normal()), size * std::exp(0.3 * random.normal())};
  const double place = random.log_uniform(size, 1);
  target[0] = place * random.uniform();
  target[1] = place * random.uniform();
  return {near(random, target, 0.3, 0.3), target};
}

// Coordinates up to 1e7, or half the largest storage value where that is less; sizes from 1 to 1000.
Pair far(ItemRandom& random, Dtype dtype) {
  const double limit = std::min(1e7, format_of(dtype).max / 2);
  const double distance = random.log_uniform(1e3, limit);
  Box target{random.sign() * distance, random.uniform(-1, 1) * distance, random.log_uniform(1, 1000),
             random.log_uniform(1, 1000)};
  return {near(random, target, 0.3, 0.3), target};
}

Pair zero_size(ItemRandom& random, Dtype dtype) {
  Pair pair = random.chance(0.5) ? typical(random, dtype) : normalised(random, dtype);
  const std::int64_t which = random.integer(1, 15);
  for (std::size_t i = 0; i < 4; ++i) {
    if ((which >> i & 1) == 0) continue;
    (i < 2 ? pair.pred : pair.target)[2 + i % 2] = 0;
  }
  return pair;
}

Pair negative_size(ItemRandom& random, Dtype dtype) {
  Pair pair = random.chance(0.5) ? typical(random, dtype) : normalised(random, dtype);
  const std::int64_t which = random.integer(1, 15);
  for (std::size_t i = 0; i < 4; ++i) {
    double& size = (i < 2 ? pair.pred : pair.target)[2 + i % 2];
    if ((which >> i & 1) != 0) size = -size;
  }
  return pair;
}

const ScenarioTable<Draw>& table() {
  static const ScenarioTable<Draw> scenarios(
      "ciou",
      {
          {{"mixed", "one of all the following but non_finite per box (the default)"}, nullptr},
          {{"typical",
            "COCO-like sizes (8 to 400) on a 640 canvas, predictions near their target, 1 in 10 unrelated"},
           typical},
          {{"normalised", "typical divided by 640: coordinates in 0..1"}, normalised},
          {{"overlapping", "every pair overlaps, centres up to 0.45 of the summed sizes apart"}, overlapping},
          {{"disjoint", "every pair is apart along one axis"}, disjoint},
          {{"nested", "one box inside the other"}, nested},
          {{"identical", "prediction equals target", true}, identical},
          {{"near_identical", "prediction within 4 ulp of the target in every component", true},
           near_identical},
          {{"touching", "exactly shared edges and corners, outside and inside", true}, touching},
          {{"near_touching",
            "edges apart by 1 ulp to 0.1 of boxes of size 1, log-uniform, outside and inside"},
           near_touching},
          {{"near_equal", "prediction and target of size 1 alike but for 1 ulp to 0.1, log-uniform"},
           near_equal},
          {{"thin", "aspect ratios from 1 to 1e6"}, thin},
          {{"tiny", "sizes 1e-5 to 1e-2, areas around eps"}, tiny},
          {{"far", "coordinates up to 1e7 (half the largest value in f16), sizes 1 to 1000"}, far},
          {{"zero_size", "width or height 0 in prediction or target"}, zero_size},
          {{"negative_size", "negative width or height in prediction or target"}, negative_size},
          {{"non_finite",
            "typical; in 1 box of 4 one element of prediction, target or dy is NaN (half), inf or -inf"},
           typical,
           false},
      });
  return scenarios;
}

// In prediction, target or dy, each a third of the time.
void spoil_one_element(CiouSample& sample, ItemRandom& random) {
  if (!random.chance(kNonFiniteShare)) return;
  const double value = random_non_finite(random);
  const std::int64_t argument = random.integer(0, 2);
  const auto component = static_cast<std::size_t>(random.integer(0, 3));
  (argument == 0 ? sample.pred[component] : argument == 1 ? sample.target[component] : sample.dy) = value;
}

CiouSample finish(const Pair& pair, ItemRandom& random, Dtype dtype) {
  return {round_box(pair.pred, dtype), round_box(pair.target, dtype), random_upstream(random, dtype)};
}

}  // namespace

std::span<const ScenarioInfo> ciou_scenarios() { return table().infos(); }

CiouSampler::CiouSampler(std::string_view scenario) : index_(table().index_of(scenario)) {}

CiouSample CiouSampler::operator()(Dtype dtype, std::uint64_t seed, std::int64_t item) const {
  ItemRandom random(seed, static_cast<std::uint32_t>(index_), item);
  std::size_t drawn = index_;
  if (table().draw(drawn) == nullptr) {
    drawn = static_cast<std::size_t>(random.integer(1, table().last_finite()));
  }
  CiouSample sample = finish(table().draw(drawn)(random, dtype), random, dtype);
  if (!table().finite(drawn)) spoil_one_element(sample, random);
  return sample;
}

}  // namespace lossgrad
