// SPDX-License-Identifier: Apache-2.0
#include "losses/ciou/ciou_parts.hpp"

namespace lossgrad {

std::vector<LossPart> ciou_parts(Pass pass, const CiouConvention& convention, const CiouBox<double>& pred,
                                 const CiouBox<double>& target, double dy) {
  const CiouValues<double> r = ciou_values(pred, target, convention, CiouForm::centre, pass != Pass::forward);
  // A clamped loss is a constant.
  const double open = 1 - r.iou + r.d2 / r.c2_eps + r.alpha * r.v;
  const bool clamped = convention.loss_clamped && (open < 0 || open > 2);
  if (pass == Pass::forward) {
    const double part = clamped ? 0 : 1;
    return {{"constant", "constant 1", {{"loss", {clamped ? r.loss : 1}}}},
            {"iou", "IoU part", {{"loss", {-part * r.iou}}}},
            {"distance", "distance part", {{"loss", {part * (r.d2 / r.c2_eps)}}}},
            {"aspect", "alpha*v part", {{"loss", {part * (r.alpha * r.v)}}}}};
  }
  // The gradient is linear in what the factors of each part hold.
  const CiouFactors<double> all = ciou_factors(pred, r, r.iou, r.alpha, convention);
  const auto gradient = [&](const CiouFactors<double>& factors) {
    const CiouBox<double> d = ciou_gradient(pred, r, factors, clamped ? 0 : dy);
    return std::map<std::string, std::vector<double>>{{"d_pred", {d.cx, d.cy, d.w, d.h}}};
  };
  return {{"iou", "IoU part", gradient({all.by_inter, all.by_area, 0, 0, 0, 0})},
          {"distance", "distance part", gradient({0, 0, all.two_over_c2, all.ratio, 0, 0})},
          {"aspect", "alpha*v part", gradient({0, 0, 0, 0, all.by_width, all.by_height})}};
}

}  // namespace lossgrad
