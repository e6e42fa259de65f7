// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

#include "base/error.hpp"
#include "data/boxes.hpp"

namespace lossgrad {
namespace {

using Box = std::array<double, 4>;

// NaN where both areas are 0 or a coordinate is NaN: such a pair never reaches a least IoU.
double intersection_over_union(const Box& a, const Box& b) {
  const auto overlap = [&](std::size_t axis) {
    const double low = std::max(a[axis] - a[axis + 2] / 2, b[axis] - b[axis + 2] / 2);
    const double high = std::min(a[axis] + a[axis + 2] / 2, b[axis] + b[axis + 2] / 2);
    return std::max(0.0, high - low);
  };
  const double intersection = overlap(0) * overlap(1);
  return intersection / (a[2] * a[3] + b[2] * b[3] - intersection);
}

void require_ids(const BoxList& list) {
  if (list.boxes.empty()) return;
  for (const auto& [ids, key] :
       {std::pair(&list.image_ids, "image_id"), std::pair(&list.category_ids, "category_id")}) {
    if (ids->size() != list.boxes.size()) {
      throw Error(ErrorKind::data, list.source + ": the boxes have no " + key +
                                       ", expected one for each (COCO JSON) to pair them by IoU");
    }
  }
}

// Targets ordered by image, class and place in the file, so that one binary search finds a detection's
// candidates.
class TargetGroups {
 public:
  explicit TargetGroups(const BoxList& target) : target_(target) {
    for (std::size_t i = 0; i < target.boxes.size(); ++i) {
      if (target.crowd.empty() || !target.crowd[i]) order_.push_back(i);
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [this](std::size_t a, std::size_t b) { return key(a) < key(b); });
    used_.resize(order_.size());
  }

  [[nodiscard]] std::size_t size() const { return order_.size(); }

  // The unused target of that image and class with the greatest IoU of at least `min_iou`, the first of
  // equals. Marks it as used; nullptr where there is none.
  const Box* take(const BoxList& pred, std::size_t index, double min_iou) {
    const Key wanted(pred.image_ids[index], pred.category_ids[index]);
    auto it = std::lower_bound(order_.begin(), order_.end(), wanted,
                               [this](std::size_t i, const Key& k) { return key(i) < k; });
    std::size_t best = order_.size();
    double best_iou = min_iou;
    for (; it != order_.end() && key(*it) == wanted; ++it) {
      const auto place = static_cast<std::size_t>(it - order_.begin());
      if (used_[place]) continue;
      const double iou = intersection_over_union(pred.boxes[index], target_.boxes[*it]);
      if (iou > best_iou || (iou == min_iou && best == order_.size())) {
        best = place;
        best_iou = iou;
      }
    }
    if (best == order_.size()) return nullptr;
    used_[best] = true;
    return &target_.boxes[order_[best]];
  }

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;
  [[nodiscard]] Key key(std::size_t i) const { return {target_.image_ids[i], target_.category_ids[i]}; }

  const BoxList& target_;
  std::vector<std::size_t> order_;
  std::vector<bool> used_;
};

BoxPairs pair_by_row(const BoxList& pred, const BoxList& target) {
  if (pred.boxes.size() != target.boxes.size()) {
    throw Error(ErrorKind::data, pred.source + " has " + std::to_string(pred.boxes.size()) +
                                     (pred.boxes.size() == 1 ? " box and " : " boxes and ") + target.source +
                                     " has " + std::to_string(target.boxes.size()) +
                                     ", expected equal counts to pair them row by row");
  }
  BoxPairs pairs;
  pairs.pred = pred.boxes;
  pairs.target = target.boxes;
  return pairs;
}

BoxPairs pair_by_iou(const BoxList& pred, const BoxList& target, double min_iou) {
  require_ids(pred);
  require_ids(target);
  std::vector<std::size_t> order(pred.boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!pred.scores.empty()) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return pred.scores[a] > pred.scores[b]; });
  }
  TargetGroups groups(target);
  BoxPairs pairs;
  for (const std::size_t index : order) {
    if (const Box* match = groups.take(pred, index, min_iou)) {
      pairs.pred.push_back(pred.boxes[index]);
      pairs.target.push_back(*match);
    }
  }
  pairs.unmatched_pred = static_cast<std::int64_t>(pred.boxes.size() - pairs.pred.size());
  pairs.unmatched_target = static_cast<std::int64_t>(groups.size() - pairs.target.size());
  pairs.crowd = static_cast<std::int64_t>(target.boxes.size() - groups.size());
  return pairs;
}

}  // namespace

BoxPairs pair_boxes(const BoxList& pred, const BoxList& target, MatchRule rule, double min_iou) {
  return rule == MatchRule::row ? pair_by_row(pred, target) : pair_by_iou(pred, target, min_iou);
}

}  // namespace lossgrad
