// SPDX-License-Identifier: Apache-2.0
#include "data/box_format.hpp"

namespace lossgrad {

std::string_view name(BoxFormat format) {
  switch (format) {
    case BoxFormat::xyxy:
      return "xyxy";
    case BoxFormat::xywh:
      return "xywh";
    case BoxFormat::cxcywh:
      return "cxcywh";
  }
  return "?";
}

std::optional<BoxFormat> parse_box_format(std::string_view text) {
  for (const BoxFormat format : {BoxFormat::xyxy, BoxFormat::xywh, BoxFormat::cxcywh}) {
    if (text == name(format)) return format;
  }
  return std::nullopt;
}

std::array<double, 4> to_cxcywh(BoxFormat format, const std::array<double, 4>& box) {
  const auto& [a, b, c, d] = box;
  switch (format) {
    case BoxFormat::xyxy:
      return {(a + c) / 2, (b + d) / 2, c - a, d - b};
    case BoxFormat::xywh:
      return {a + c / 2, b + d / 2, c, d};
    case BoxFormat::cxcywh:
      break;
  }
  return box;
}

}  // namespace lossgrad
