// SPDX-License-Identifier: Apache-2.0
// Box formats under torchvision's names. Arithmetic is in double, so conversions of f16 and f32 values are
// exact or within half an ulp of f64.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace lossgrad {

enum class BoxFormat {
  xyxy,    // two corners
  xywh,    // left-top corner and size (COCO)
  cxcywh,  // centre and size (the kernels' format)
};

std::string_view name(BoxFormat format);
std::optional<BoxFormat> parse_box_format(std::string_view text);

// (cx, cy, w, h) of a box given in `format`. Negative sizes stay negative.
std::array<double, 4> to_cxcywh(BoxFormat format, const std::array<double, 4>& box);

}  // namespace lossgrad
