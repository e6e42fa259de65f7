// SPDX-License-Identifier: Apache-2.0
// Boxes read from files, and the pairing of predictions with targets.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/box_format.hpp"
#include "data/npz.hpp"

namespace lossgrad {

// Boxes of one file, already (cx, cy, w, h).
struct BoxList {
  std::string source;                        // path, for messages
  std::string stored_type;                   // "f32", "f64", "f16", "json"
  std::vector<std::array<double, 4>> boxes;  // cx, cy, w, h
  // Parallel to `boxes` where the file has them (COCO); empty otherwise.
  std::vector<std::int64_t> image_ids;
  std::vector<std::int64_t> category_ids;
  std::vector<double> scores;  // detection results
  std::vector<bool> crowd;     // COCO iscrowd
  // What makes the data prove less; each is reported. Counts of boxes.
  std::int64_t non_finite = 0;        // any component NaN or infinite
  std::int64_t first_non_finite = 0;  // the first of them
  std::int64_t zero_size = 0;         // width or height 0
  std::int64_t negative_size = 0;     // width or height below 0
};

struct BoxReadOptions {
  // Format of array files; COCO JSON is always xywh. nullopt: cxcywh for arrays.
  std::optional<BoxFormat> format;
  MemberChoice member = {};  // of an archive
};

// .npy or a member of .npz ([N,4] or [4,N]; [4,4] is taken as [4,N], the kernels' own layout) or COCO JSON
// (annotations or results), recognised by content. Throws ErrorKind::data: path, position, what was found,
// what was expected.
BoxList read_boxes(const std::filesystem::path& path, const BoxReadOptions& options);

enum class MatchRule {
  row,  // row i with row i; equal counts required
  iou,  // detections by falling score, each takes the unused non-crowd box of the same image and class with
        // greatest IoU, which has to be at least kLeastMatchIou
};
inline constexpr double kLeastMatchIou = 0.3;

struct BoxPairs {
  std::vector<std::array<double, 4>> pred;
  std::vector<std::array<double, 4>> target;
  std::int64_t unmatched_pred = 0;
  std::int64_t unmatched_target = 0;  // crowd boxes not counted
  std::int64_t crowd = 0;             // crowd boxes left out
};

// Throws ErrorKind::data: counts that differ (both files and both counts are named), `iou` without image and
// class ids.
BoxPairs pair_boxes(const BoxList& pred, const BoxList& target, MatchRule rule,
                    double min_iou = kLeastMatchIou);

}  // namespace lossgrad
