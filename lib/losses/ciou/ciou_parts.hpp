// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "losses/ciou/ciou.hpp"
#include "losses/loss.hpp"

namespace lossgrad {

// As Loss::parts. Forward: 1, -iou, d2/(c2+eps) and alpha*v, which make the loss. Backward: what the IoU, the
// centre distance and alpha*v add to d_pred.
std::vector<LossPart> ciou_parts(Pass pass, const CiouConvention& convention, const CiouBox<double>& pred,
                                 const CiouBox<double>& target, double dy);

}  // namespace lossgrad
