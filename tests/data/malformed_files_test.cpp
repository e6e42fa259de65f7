// SPDX-License-Identifier: Apache-2.0
// The files of data/samples/malformed: each is rejected with its place and reason, or accepted with its
// oddity counted.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "data/boxes.hpp"
#include "data/npy.hpp"
#include "test_files.hpp"

namespace lossgrad {
namespace {

using Box = std::array<double, 4>;

std::filesystem::path malformed(const std::string& file) { return test::sample("malformed/" + file); }

void expect_rejected(const std::string& file, const std::string& reason) {
  const std::string path = malformed(file).string();
  EXPECT_EQ(test::data_error([&] { read_boxes(path, {}); }), path + ": " + reason);
}

TEST(MalformedFiles, Npy) {
  const std::string accepted = "expected a .npy or .npz file or COCO JSON ('{' or '[')";
  expect_rejected("npy_data_truncated.npy",
                  "byte 128: the header promises 96 data bytes (f32 [6, 4]), 88 found");
  expect_rejected(
      "npy_object_dtype.npy",
      "byte 20: dtype '|O' (Python objects) is not supported; expected f2, f4, f8, i1 to i8, u1 to u8 or b1");
  expect_rejected("npy_wrong_magic.npy",
                  "byte 0: not a .npy file nor JSON: found 92 4e 55 4d 50 59 01 00, " + accepted);
  expect_rejected(
      "npy_huge_shape.npy",
      "byte 128: the header promises 17592186044416 data bytes (f32 [1099511627776, 4]), 96 found");
  expect_rejected("npy_negative_shape.npy", "byte 61: negative dimension -6 in the header");
  expect_rejected("npy_bytes_after_data.npy",
                  "byte 224: 16 bytes after the array (f32 [6, 4] has 96 bytes), none expected");
  expect_rejected("empty.npy", "empty file, " + accepted);
  expect_rejected("directory.npy", "is a directory, a file is expected");
}

TEST(MalformedFiles, EmptyAndForeignFilesAsArrays) {
  const auto error = [](const std::string& file) {
    return test::data_error([&] { read_npy(malformed(file)); });
  };
  EXPECT_EQ(error("empty.npy"), malformed("empty.npy").string() + ": empty file, not a .npy file");
  EXPECT_EQ(error("npy_wrong_magic.npy"), malformed("npy_wrong_magic.npy").string() +
                                              ": byte 0: not a .npy file, expected the bytes 93 'NUMPY'");
}

TEST(MalformedFiles, NanAndInfinityAreKeptAndCounted) {
  const BoxList list = read_boxes(malformed("npy_nan_inf_boxes_4x6.npy"), {});
  ASSERT_EQ(list.boxes.size(), 6u);
  EXPECT_EQ(list.non_finite, 3);
  EXPECT_TRUE(std::isnan(list.boxes[2][0]));
  EXPECT_EQ(list.boxes[4][2], HUGE_VAL);
  EXPECT_EQ(list.boxes[5][3], -HUGE_VAL);
  EXPECT_EQ(list.boxes[0], (Box{50, 40, 20, 10}));
  EXPECT_EQ(list.boxes[1], (Box{120.5, 80.25, 33, 44.5}));
  EXPECT_EQ(list.boxes[3], (Box{300, 200, 100, 150}));
}

TEST(MalformedFiles, NoBoxesAreZeroBoxes) {
  EXPECT_EQ(read_boxes(malformed("npy_zero_boxes.npy"), {}).boxes.size(), 0u);
}

TEST(MalformedFiles, Coco) {
  expect_rejected("coco_duplicate_keys.json",
                  "annotations[1] has the key `bbox` twice, once is expected (id 2)");
  expect_rejected("coco_deep_nesting.json", "[0] is an array, an object is expected");
  expect_rejected("coco_bbox_three_numbers.json", "annotations[1].bbox has 3 numbers, 4 expected (id 2)");
  expect_rejected("coco_bbox_strings.json",
                  "annotations[1].bbox[0] is a string, a number is expected (id 2)");
  const std::string truncated = test::data_error([] { read_boxes(malformed("coco_truncated.json"), {}); });
  EXPECT_NE(truncated.find("coco_truncated.json: line "), std::string::npos) << truncated;
  EXPECT_NE(truncated.find("unexpected end of file"), std::string::npos) << truncated;
}

TEST(MalformedFiles, BoxesWithoutAreaAreKeptAndCounted) {
  const BoxList list = read_boxes(malformed("coco_zero_and_negative_size.json"), {});
  EXPECT_EQ(list.boxes.size(), 5u);
  EXPECT_EQ(list.zero_size, 2);
  EXPECT_EQ(list.negative_size, 1);
  EXPECT_EQ(std::count(list.crowd.begin(), list.crowd.end(), true), 1);
  EXPECT_EQ(list.boxes[2], (Box{25, 40, -30, -40}));
}

}  // namespace
}  // namespace lossgrad
