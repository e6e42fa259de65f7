// SPDX-License-Identifier: Apache-2.0
#include "data/boxes.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/npy.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"

namespace lossgrad {
namespace {

using test::data_error;
using test::sample;
using testing::HasSubstr;

using Box = std::array<double, 4>;
using Boxes = std::vector<Box>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- formats

TEST(BoxFormat, NamesAndValues) {
  for (const BoxFormat format : {BoxFormat::xyxy, BoxFormat::xywh, BoxFormat::cxcywh}) {
    EXPECT_EQ(parse_box_format(name(format)), format);
  }
  EXPECT_EQ(parse_box_format("yxyx"), std::nullopt);
  EXPECT_EQ(parse_box_format(""), std::nullopt);
  EXPECT_EQ(to_cxcywh(BoxFormat::cxcywh, {1, 2, 3, 4}), (Box{1, 2, 3, 4}));
  EXPECT_EQ(to_cxcywh(BoxFormat::xywh, {10, 20, 5, 8}), (Box{12.5, 24, 5, 8}));
  EXPECT_EQ(to_cxcywh(BoxFormat::xyxy, {10, 20, 15, 28}), (Box{12.5, 24, 5, 8}));
  EXPECT_EQ(to_cxcywh(BoxFormat::xyxy, {15, 28, 10, 20}), (Box{12.5, 24, -5, -8}));
  EXPECT_EQ(to_cxcywh(BoxFormat::xywh, {40, 60, -30, -40}), (Box{25, 40, -30, -40}));
}

TEST(BoxFormat, ConversionsOfHalfAreExact) {
  std::mt19937 random(1);
  const auto half = [&random] {
    return round_to(Dtype::f16, static_cast<double>(random()) / 4294967296.0 * 640);
  };
  for (int i = 0; i < 10000; ++i) {
    const Box corners = {half(), half(), half(), half()};
    const Box box = to_cxcywh(BoxFormat::xyxy, corners);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      EXPECT_EQ(box[axis] - box[axis + 2] / 2, corners[axis]);
      EXPECT_EQ(box[axis] + box[axis + 2] / 2, corners[axis + 2]);
    }
  }
}

// ---- arrays of boxes

BoxList read_array(Dtype dtype, const std::vector<std::int64_t>& shape, const std::vector<double>& values,
                   BoxReadOptions options = {}) {
  const test::TemporaryFolder folder;
  write_npy(folder / "boxes.npy", dtype, shape, values);
  return read_boxes(folder / "boxes.npy", options);
}

TEST(ReadBoxes, TakesBothLayouts) {
  const Boxes expected = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  EXPECT_EQ(read_array(Dtype::f32, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}).boxes, expected);
  EXPECT_EQ(read_array(Dtype::f32, {4, 2}, {1, 5, 2, 6, 3, 7, 4, 8}).boxes, expected);
  // Four boxes: the kernels' own layout, components first.
  std::vector<double> values(16);
  for (std::size_t i = 0; i < 16; ++i) values[i] = static_cast<double>(i);
  const BoxList square = read_array(Dtype::f64, {4, 4}, values);
  EXPECT_EQ(square.boxes[1], (Box{1, 5, 9, 13}));
  EXPECT_EQ(square.stored_type, "f64");
  EXPECT_TRUE(square.image_ids.empty() && square.scores.empty() && square.crowd.empty());
  EXPECT_TRUE(read_array(Dtype::f32, {4, 0}, {}).boxes.empty());
  EXPECT_TRUE(read_array(Dtype::f32, {0, 4}, {}).boxes.empty());
}

TEST(ReadBoxes, ConvertsTheNamedFormat) {
  EXPECT_EQ(read_array(Dtype::f16, {1, 4}, {10, 20, 15, 28}, {BoxFormat::xyxy}).boxes[0],
            (Box{12.5, 24, 5, 8}));
  EXPECT_EQ(read_array(Dtype::f16, {1, 4}, {10, 20, 5, 8}, {BoxFormat::xywh}).boxes[0],
            (Box{12.5, 24, 5, 8}));
}

TEST(ReadBoxes, NamesTheWrongShape) {
  const auto error = [](const std::vector<std::int64_t>& shape, std::size_t count) {
    return data_error([&] { read_array(Dtype::f32, shape, std::vector<double>(count)); });
  };
  EXPECT_THAT(error({3, 5}, 15), HasSubstr("boxes.npy: shape [3, 5], expected [N, 4] or [4, N]"));
  EXPECT_THAT(error({4}, 4), HasSubstr("shape [4], expected"));
  EXPECT_THAT(error({}, 1), HasSubstr("shape [], expected"));
  EXPECT_THAT(error({0}, 0), HasSubstr("shape [0], expected"));
  EXPECT_THAT(error({1, 4, 2}, 8), HasSubstr("shape [1, 4, 2], expected"));
  EXPECT_THAT(data_error([] { read_boxes(sample("npy/bool.npy"), {}); }), HasSubstr("shape [3, 3, 3]"));
}

TEST(ReadBoxes, CountsOddBoxes) {
  const BoxList list = read_array(Dtype::f32, {8, 4}, {1,    1, 1,          1,     //
                                                       1,    1, 0,          1,     //
                                                       1,    1, 0,          0,     //
                                                       1,    1, -1,         1,     //
                                                       1,    1, -1,         0,     //
                                                       kNan, 1, 1,          kNan,  //
                                                       1,    1, kInfinity,  0,     //
                                                       1,    1, -kInfinity, 1});
  EXPECT_EQ(list.boxes.size(), 8u);
  EXPECT_EQ(list.non_finite, 3);
  EXPECT_EQ(list.zero_size, 4);
  EXPECT_EQ(list.negative_size, 3);
}

TEST(ReadBoxes, RecognisesFilesByContent) {
  const test::TemporaryFolder folder;
  const auto with_content = [&](std::string_view content) {
    std::ofstream(folder / "file.dat", std::ios::binary) << content;
    std::string message = data_error([&] { read_boxes(folder / "file.dat", {}); });
    return message.substr(std::min(
        message.size(), message.find("file.dat") == std::string::npos ? 0 : message.find("file.dat")));
  };
  const std::string accepted = "expected a .npy or .npz file or COCO JSON ('{' or '[')";
  EXPECT_EQ(with_content(""), "file.dat: empty file, " + accepted);
  EXPECT_EQ(with_content(" \r\n\t"), "file.dat: byte 4: nothing but white space, " + accepted);
  EXPECT_EQ(with_content(std::string(10000, '\n')),
            "file.dat: byte 10000: nothing but white space, " + accepted);
  EXPECT_EQ(with_content("\n0 0.5"),
            "file.dat: byte 1: not a .npy file nor JSON: found 30 20 30 2e 35, " + accepted);
  EXPECT_EQ(with_content("PK\3\4...."), "file.dat: not a whole zip archive: Not a zip archive");
  EXPECT_EQ(with_content("\xEF\xBB\xBF \n[]"), "no error");
  EXPECT_EQ(with_content(std::string(5000, ' ') + "[]"), "no error");
  EXPECT_EQ(with_content("\x93NUMPY"), "file.dat: byte 6: the file ends in the first bytes of a .npy header");
}

// ---- the same 651 pairs in ten layouts

struct Layout {
  std::string name;
  BoxFormat format;
};

const std::vector<Layout> kF32Layouts = {{"cxcywh_4xN_f32", BoxFormat::cxcywh},
                                         {"cxcywh_4xN_f32_bigendian", BoxFormat::cxcywh},
                                         {"cxcywh_4xN_f32_header_v3", BoxFormat::cxcywh},
                                         {"cxcywh_Nx4_f32", BoxFormat::cxcywh},
                                         {"cxcywh_Nx4_f32_fortran", BoxFormat::cxcywh}};

Boxes pair_file(const std::string& side, const std::string& layout, BoxFormat format = BoxFormat::cxcywh) {
  return read_boxes(sample("pairs/" + side + "_" + layout + ".npy"), {format}).boxes;
}

TEST(PairLayouts, SinglePrecisionFilesHoldTheSameBits) {
  for (const std::string side : {"pred", "target"}) {
    const Boxes exact = pair_file(side, "cxcywh_4xN_f64_header_v2");
    const Boxes first = pair_file(side, kF32Layouts[0].name);
    ASSERT_EQ(first.size(), 651u);
    for (const Layout& layout : kF32Layouts) {
      const Boxes boxes = pair_file(side, layout.name, layout.format);
      ASSERT_EQ(boxes.size(), first.size());
      EXPECT_EQ(std::memcmp(boxes.data(), first.data(), boxes.size() * sizeof(Box)), 0) << layout.name;
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
      for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(first[i][c], round_to(Dtype::f32, exact[i][c]));
    }
  }
}

TEST(PairLayouts, DoublePrecisionFilesHoldTheSameBoxes) {
  for (const std::string side : {"pred", "target"}) {
    EXPECT_EQ(pair_file(side, "xywh_Nx4_f64", BoxFormat::xywh), pair_file(side, "cxcywh_4xN_f64_header_v2"));
  }
}

TEST(PairLayouts, HalfPrecisionCornersAreRoundedCorners) {
  for (const std::string side : {"pred", "target"}) {
    const Boxes exact = pair_file(side, "cxcywh_4xN_f64_header_v2");
    const Boxes half = pair_file(side, "xyxy_Nx4_f16", BoxFormat::xyxy);
    ASSERT_EQ(half.size(), exact.size());
    for (std::size_t i = 0; i < half.size(); ++i) {
      for (std::size_t axis = 0; axis < 2; ++axis) {
        for (const double side_sign : {-0.5, 0.5}) {
          const double corner = half[i][axis] + side_sign * half[i][axis + 2];
          EXPECT_EQ(corner, round_to(Dtype::f16, corner));
          const double unrounded = exact[i][axis] + side_sign * exact[i][axis + 2];
          // Half an ulp, and the roundoff of a corner that is made from centre and size.
          EXPECT_LE(std::abs(corner - unrounded), ulp(Dtype::f16, unrounded) / 2 + 1e-12);
        }
      }
    }
  }
}

// ---- pairing

TEST(PairBoxes, RowByRow) {
  BoxList pred;
  pred.source = "a.npy";
  pred.boxes = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  BoxList target = pred;
  target.source = "b.npy";
  target.crowd = {true, false};
  const BoxPairs pairs = pair_boxes(pred, target, MatchRule::row);
  EXPECT_EQ(pairs.pred, pred.boxes);
  EXPECT_EQ(pairs.target, target.boxes);
  EXPECT_EQ(pairs.unmatched_pred + pairs.unmatched_target + pairs.crowd, 0);
  target.boxes.pop_back();
  EXPECT_EQ(data_error([&] { pair_boxes(pred, target, MatchRule::row); }),
            "a.npy has 2 boxes and b.npy has 1, expected equal counts to pair them row by row");
}

BoxList labelled(Boxes boxes, std::vector<std::int64_t> images, std::vector<std::int64_t> classes) {
  BoxList list;
  list.source = "list.json";
  list.boxes = std::move(boxes);
  list.image_ids = std::move(images);
  list.category_ids = std::move(classes);
  return list;
}

TEST(PairBoxes, BestScoreChoosesFirst) {
  BoxList pred = labelled({{10, 10, 4, 4}, {10, 10, 4, 5}}, {1, 1}, {7, 7});
  const BoxList target = labelled({{10, 10, 4, 5}, {10, 10, 4, 6}, {10, 10, 4, 4}}, {1, 1, 2}, {7, 7, 7});
  pred.scores = {0.1, 0.9};
  const BoxPairs pairs = pair_boxes(pred, target, MatchRule::iou);
  EXPECT_EQ(pairs.pred, (Boxes{{10, 10, 4, 5}, {10, 10, 4, 4}}));
  EXPECT_EQ(pairs.target, (Boxes{{10, 10, 4, 5}, {10, 10, 4, 6}}));
  EXPECT_EQ(pairs.unmatched_target, 1);
  // Without scores, and with equal ones, the order of the file decides.
  for (const std::vector<double>& scores : {std::vector<double>{}, {0.5, 0.5}}) {
    pred.scores = scores;
    EXPECT_EQ(pair_boxes(pred, target, MatchRule::iou).pred, pred.boxes);
  }
}

TEST(PairBoxes, ClassCrowdAndLeastIou) {
  const BoxList pred =
      labelled({{10, 10, 4, 4}, {30, 10, 4, 4}, {50, 10, 4, 4}, {70, 10, kNan, 4}, {90, 10, 0, 0}},
               {1, 1, 1, 1, 1}, {7, 7, 7, 7, 7});
  BoxList target = labelled({{10, 10, 4, 4}, {30, 10, 4, 4}, {52, 10, 4, 4}, {70, 10, 4, 4}, {90, 10, 0, 0}},
                            {1, 1, 1, 1, 1}, {8, 7, 7, 7, 7});
  target.crowd = {false, true, false, false, false};
  BoxPairs pairs = pair_boxes(pred, target, MatchRule::iou);  // 1: other class, 2: crowd, 3: IoU 1/3
  EXPECT_EQ(pairs.pred, (Boxes{{50, 10, 4, 4}}));
  EXPECT_EQ(pairs.unmatched_pred, 4);
  EXPECT_EQ(pairs.unmatched_target, 3);
  EXPECT_EQ(pairs.crowd, 1);
  EXPECT_EQ(pair_boxes(pred, target, MatchRule::iou, 1.0 / 3).pred.size(), 1u);
  EXPECT_EQ(pair_boxes(pred, target, MatchRule::iou, 0.34).pred.size(), 0u);
  // The first of equally good targets.
  pairs = pair_boxes(labelled({{10, 10, 4, 4}}, {1}, {1}),
                     labelled({{9, 10, 4, 4}, {11, 10, 4, 4}}, {1, 1}, {1, 1}), MatchRule::iou);
  EXPECT_EQ(pairs.target, (Boxes{{9, 10, 4, 4}}));
}

TEST(PairBoxes, IouNeedsImageAndClass) {
  BoxList pred = labelled({{1, 1, 1, 1}}, {1}, {1});
  BoxList target = pred;
  target.image_ids.clear();
  target.source = "t.npy";
  EXPECT_EQ(data_error([&] { pair_boxes(pred, target, MatchRule::iou); }),
            "t.npy: the boxes have no image_id, expected one for each (COCO JSON) to pair them by IoU");
  pred.category_ids.clear();
  EXPECT_THAT(data_error([&] { pair_boxes(pred, target, MatchRule::iou); }),
              HasSubstr("list.json: the boxes have no category_id"));
  EXPECT_EQ(pair_boxes(BoxList{}, BoxList{}, MatchRule::iou).pred.size(), 0u);
}

// The same answer as the plain double loop over all boxes, on dense random lists.
TEST(PairBoxes, AgreesWithThePlainLoop) {
  std::mt19937 random(7);
  const auto upto = [&random](unsigned n) { return static_cast<std::int64_t>(random() % n); };
  BoxList lists[2];
  for (BoxList& list : lists) {
    for (int i = 0; i < 600; ++i) {
      list.boxes.push_back({static_cast<double>(upto(40)), static_cast<double>(upto(40)),
                            1.0 + static_cast<double>(upto(20)), 1.0 + static_cast<double>(upto(20))});
      list.image_ids.push_back(upto(5) - 2);
      list.category_ids.push_back(upto(3));
      list.scores.push_back(static_cast<double>(upto(50)));
      list.crowd.push_back(upto(10) == 0);
    }
  }
  const auto iou = [](const Box& a, const Box& b) {
    double both = 1;
    for (std::size_t c = 0; c < 2; ++c) {
      both *= std::max(0.0, std::min(a[c] + a[c + 2] / 2, b[c] + b[c + 2] / 2) -
                                std::max(a[c] - a[c + 2] / 2, b[c] - b[c + 2] / 2));
    }
    return both / (a[2] * a[3] + b[2] * b[3] - both);
  };
  const auto& [pred, target] = lists;
  std::multimap<double, std::size_t, std::greater<>> order;
  for (std::size_t i = 0; i < 600; ++i) order.emplace(pred.scores[i], i);
  std::vector<bool> used = target.crowd;
  Boxes from_pred;
  Boxes from_target;
  for (const auto& [score, i] : order) {
    std::size_t best = 600;
    for (std::size_t j = 0; j < 600; ++j) {
      if (used[j] || target.image_ids[j] != pred.image_ids[i] ||
          target.category_ids[j] != pred.category_ids[i])
        continue;
      if (iou(pred.boxes[i], target.boxes[j]) < 0.3) continue;
      if (best == 600 || iou(pred.boxes[i], target.boxes[j]) > iou(pred.boxes[i], target.boxes[best]))
        best = j;
    }
    if (best == 600) continue;
    used[best] = true;
    from_pred.push_back(pred.boxes[i]);
    from_target.push_back(target.boxes[best]);
  }
  const BoxPairs pairs = pair_boxes(pred, target, MatchRule::iou);
  EXPECT_GT(pairs.pred.size(), 100u);
  EXPECT_EQ(pairs.pred, from_pred);
  EXPECT_EQ(pairs.target, from_target);
}

TEST(PairBoxes, GivesThePublishedPairsOfTheCocoSample) {
  const BoxList pred = read_boxes(sample("coco/instances_val2014_fakebbox100_results.json"), {});
  const BoxList target = read_boxes(sample("coco/instances_val2014_100.json"), {});
  const BoxPairs pairs = pair_boxes(pred, target, MatchRule::iou);
  ASSERT_EQ(pairs.pred.size(), 651u);
  EXPECT_EQ(pairs.unmatched_pred, 734 - 651);
  EXPECT_EQ(pairs.unmatched_target, 830 - 651);
  EXPECT_EQ(pairs.crowd, 9);
  // Same rows in the same order; the arrays were made by the same conversion in double.
  EXPECT_EQ(pairs.pred, pair_file("pred", "cxcywh_4xN_f64_header_v2"));
  EXPECT_EQ(pairs.target, pair_file("target", "cxcywh_4xN_f64_header_v2"));
  std::size_t identical = 0;
  for (std::size_t i = 0; i < 651; ++i) identical += pairs.pred[i] == pairs.target[i] ? 1 : 0;
  EXPECT_EQ(identical, 93u);
}

}  // namespace
}  // namespace lossgrad
