// SPDX-License-Identifier: Apache-2.0
#include "losses/ciou/ciou_parts.hpp"

namespace lossgrad {

std::vector<LossPart> ciou_parts(Pass pass, const CiouConvention& convention, const CiouBox<double>& pred,
                                 const CiouBox<double>& target, double dy) {
  const CiouValues<double> r = ciou_values(pred, target, convention, CiouForm::centre, pass != Pass::forward);
  if (pass == Pass::forward) {
    return {{"constant", "constant 1", {{"loss", {1}}}},
            {"iou", "IoU part", {{"loss", {-r.iou}}}},
            {"distance", "distance part", {{"loss", {r.d2 / r.c2_eps}}}},
            {"aspect", "alpha*v part", {{"loss", {r.alpha * r.v}}}}};
  }
  // The gradient is linear in what the factors of each part hold.
  const CiouFactors<double> all = ciou_factors(pred, r, r.iou, r.alpha, convention);
  const auto gradient = [&](const CiouFactors<double>& factors) {
    const CiouBox<double> d = ciou_gradient(pred, r, factors, dy);
    return std::map<std::string, std::vector<double>>{{"d_pred", {d.cx, d.cy, d.w, d.h}}};
  };
  return {{"iou", "IoU part", gradient({all.by_inter, all.by_area, 0, 0, 0, 0})},
          {"distance", "distance part", gradient({0, 0, all.two_over_c2, all.ratio, 0, 0})},
          {"aspect", "alpha*v part", gradient({0, 0, 0, 0, all.by_width, all.by_height})}};
}

}  // namespace lossgrad
