// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/box_reader.hpp"
#include "test_files.hpp"

namespace lossgrad {
namespace {

using test::bytes_of;
using test::sample;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

using Box = std::array<double, 4>;

BoxList read_text(const std::string& text) { return read_boxes(*view_memory(bytes_of(text), "x.json"), {}); }

std::string text_error(const std::string& text) {
  return test::data_error([&] { read_text(text); });
}

TEST(Coco, ReadsDetectionResults) {
  const BoxList list = read_text(
      R"([{"image_id": 42, "category_id": 18, "bbox": [10, 20.5, 30, 1e1], "score": 0.5},
          {"score": 1, "bbox": [-1, 0, 0, -4], "category_id": -1, "image_id": "0043", "area": 3}])");
  EXPECT_EQ(list.source, "x.json");
  EXPECT_EQ(list.stored_type, "json");
  EXPECT_THAT(list.boxes, ElementsAre(Box{25, 25.5, 30, 10}, Box{-1, -2, 0, -4}));
  EXPECT_THAT(list.image_ids, ElementsAre(42, 43));
  EXPECT_THAT(list.category_ids, ElementsAre(18, -1));
  EXPECT_THAT(list.scores, ElementsAre(0.5, 1));
  EXPECT_TRUE(list.crowd.empty());
  EXPECT_EQ(list.zero_size, 1);
  EXPECT_EQ(list.negative_size, 1);
}

TEST(Coco, ReadsAnnotationsBetweenOtherKeys) {
  const BoxList list = read_text(
      R"({"info": {"annotations": [1, [2], {"bbox": []}], "a": null}, "images": [{"id": 1, "bbox": 3}],
          "annotations": [{"segmentation": {"counts": [1, 2], "size": [3, 4]}, "bbox": [0, 0, 2, 2], "iscrowd": 1},
                          {"segmentation": [[1, 2], [3]], "bbox": [0, 0, 4, 4], "x": {"bbox": [1]}, "y": true}],
          "categories": [], "more": "annotations"})");
  EXPECT_THAT(list.boxes, ElementsAre(Box{1, 1, 2, 2}, Box{2, 2, 4, 4}));
  EXPECT_THAT(list.crowd, ElementsAre(true, false));
  EXPECT_TRUE(list.image_ids.empty() && list.category_ids.empty() && list.scores.empty());
}

TEST(Coco, ReadsEmptyListsAndByteOrderMarks) {
  EXPECT_TRUE(read_text("[]").boxes.empty());
  EXPECT_TRUE(read_text(R"({"annotations": []})").boxes.empty());
  EXPECT_EQ(read_text("\xEF\xBB\xBF"
                      R"([{"bbox": [1, 2, 3, 4]}])")
                .boxes.size(),
            1u);
  EXPECT_EQ(read_text("\r\n\t [{\"bbox\": [1, 2, 3, 4]}]\n\n").boxes.size(), 1u);
}

TEST(Coco, ReadsTextLongerThanItsBlocks) {
  std::string text = "[";
  for (int i = 0; i < 20000; ++i) {
    if (i > 0) text += ',';
    text.append(R"({"bbox":[)").append(std::to_string(i)).append(",2.25,4,8],\"score\":0.125}\n");
  }
  const BoxList list = read_text(text + "]");
  ASSERT_EQ(list.boxes.size(), 20000u);
  for (int i = 0; i < 20000; ++i)
    ASSERT_EQ(list.boxes[static_cast<std::size_t>(i)], (Box{i + 2.0, 6.25, 4, 8}));
}

struct Bad {
  std::string text;
  std::string message;
};

TEST(Coco, RejectsWithThePathOfTheEntry) {
  const std::string good = R"({"bbox": [1, 2, 3, 4]})";
  const std::vector<Bad> cases = {
      {R"([{"bbox": [1, 2, 3], "id": 7}])", "[0].bbox has 3 numbers, 4 expected (id 7)"},
      {R"([{"bbox": []}])", "[0].bbox has 0 numbers, 4 expected"},
      {R"([{"bbox": [1]}])", "[0].bbox has 1 number, 4 expected"},
      {R"([{"id": "12", "bbox": [1, 2, 3, 4, 5]}])", "[0].bbox has 5 numbers, 4 expected (id 12)"},
      {R"([{"bbox": [1, "2", null, 4]}])", "[0].bbox[1] is a string, a number is expected"},
      {R"([{"bbox": [1, 2, null, 4]}])", "[0].bbox[2] is null, a number is expected"},
      {R"([{"bbox": [1, 2, 3, true]}])", "[0].bbox[3] is a boolean, a number is expected"},
      {R"([{"bbox": [[1, 2, 3, 4]]}])", "[0].bbox[0] is an array, a number is expected"},
      {R"([{"bbox": [1, 2, 3, {"bbox": [1, 2]}]}])", "[0].bbox[3] is an object, a number is expected"},
      {R"([{"bbox": {"x": 1}}])", "[0].bbox is an object, an array of 4 numbers is expected"},
      {R"([{"bbox": "1 2 3 4"}])", "[0].bbox is the string '1 2 3 4', an array of 4 numbers is expected"},
      {R"([{"bbox": 5}])", "[0].bbox is 5, an array of 4 numbers is expected"},
      {R"([{"id": 5}])", "[0] has no bbox, expected 4 numbers: left, top, width, height (id 5)"},
      {R"([{}])", "[0] has no bbox, expected 4 numbers: left, top, width, height"},
      {"[" + good + R"(, {"keypoints": [1, 2]}])", "[1] has no bbox (it has keypoints), expected 4 numbers"},
      {"[" + good + R"(, {"segmentation": [[1]]}])",
       "[1] has no bbox (it has a segmentation), expected 4 numbers"},
      {R"([{"bbox": [1, 2, 3, 4], "bbox": [1, 2, 3, 4]}])", "[0] has the key `bbox` twice, once is expected"},
      {R"([{"bbox": [1, 2, 3, 4], "score": 1, "score": 2}])",
       "[0] has the key `score` twice, once is expected"},
      {R"([{"bbox": [1, 2, 3, 4], "image_id": 1.5}])",
       "[0].image_id is a number, a whole number or a string of digits is expected"},
      {R"([{"bbox": [1, 2, 3, 4], "image_id": 9223372036854775808}])",
       "[0].image_id is too large, a whole number of 64 bits is expected"},
      {R"([{"bbox": [1, 2, 3, 4], "image_id": 1, "category_id": -1e30}])",
       "[0].category_id is too large, a whole number of 64 bits is expected"},
      {R"([{"bbox": [1, 2, 3, 4], "image_id": "a\n1"}])",
       "[0].image_id is the string 'a?1', a whole number or a string of digits is expected"},
      {R"([{"bbox": [1, 2, 3, 4], "image_id": ""}])", "[0].image_id is the string ''"},
      {R"([{"bbox": [1, 2, 3, 4], "image_id": "99999999999999999999"}])",
       "[0].image_id is the string '99999999999999999999'"},
      {R"([{"bbox": [1, 2, 3, 4], "image_id": 18446744073709551615}])", "[0].image_id is too large"},
      {R"([{"bbox": [1, 2, 3, 4], "category_id": "1"}])",
       "[0].category_id is the string '1', a whole number is expected"},
      {R"([{"bbox": [1, 2, 3, 4], "category_id": null}])",
       "[0].category_id is null, a whole number is expected"},
      {R"([{"bbox": [1, 2, 3, 4], "category_id": true}])",
       "[0].category_id is a boolean, a whole number is expected"},
      {R"([{"bbox": [1, 2, 3, 4], "score": "high"}])",
       "[0].score is the string 'high', a number is expected"},
      {R"([{"bbox": [1, 2, 3, 4], "score": [1]}])", "[0].score is an array, a number is expected"},
      {R"([{"bbox": [1, 2, 3, 4], "iscrowd": 2}])", "[0].iscrowd is 2, 0 or 1 is expected"},
      {"[" + good + R"(, {"bbox": [1, 2, 3, 4], "score": 1}])",
       "[1] has the key score, the entries before it have none"},
      {R"([{"bbox": [1, 2, 3, 4], "image_id": 1}, )" + good + "]",
       "[1] has no image_id, the entries before it have one"},
      {"[" + good + ", 3]", "[1] is a number, an object is expected"},
      {"[null]", "[0] is null, an object is expected"},
      {"[[1, 2, 3, 4]]", "[0] is an array, an object is expected"},
      {R"({"annotations": {"0": 1}})", "annotations is an object, an array is expected"},
      {R"({"annotations": null})", "annotations is null, an array is expected"},
      {R"({"annotations": [7]})", "annotations[0] is a number, an object is expected"},
      {R"({"annotations": [], "annotations": []})", "the key `annotations` is there twice, once is expected"},
      {R"({"images": []})",
       "the document has no key `annotations`, expected COCO annotations or a list of results"},
      {"{}", "the document has no key `annotations`, expected COCO annotations or a list of results"},
  };
  for (const Bad& bad : cases)
    EXPECT_THAT(text_error(bad.text), StartsWith("x.json: " + bad.message)) << bad.text;
}

TEST(Coco, RejectsWhatIsNotJsonWithLineAndColumn) {
  const std::vector<Bad> cases = {
      {"[{\"bbox\": [1, 2,\n 3",
       "line 2, column 3: syntax error while parsing array - unexpected end of file"},
      {"[{\"bbox\": [1, 2,\n NaN, 4]}]", "line 2, column 2: syntax error while parsing value"},
      {"[{\"bbox\": [1, 2, 3, 4]}] []",
       "line 1, column 26: syntax error while parsing value - unexpected '['; expected end of file"},
      {"[{\"bbox\": [1, 2, 3, 4]},]", "line 1, column 25: syntax error"},
      {"[{\"bbox\": [1, 2, 03, 4]}]", "line 1, column 19: syntax error"},
      {"[{'bbox': [1, 2, 3, 4]}]", "line 1, column 3: syntax error"},
      {"[\"\xff\"]",
       "line 1, column 3: syntax error while parsing value - invalid string: ill-formed UTF-8 byte"},
      {"[\"a\nb\"]",
       "line 2, column 0: syntax error while parsing value - invalid string: control character"},
      {"[{\"bbox\": [1, 2, 1e999, 4]}]",
       "byte 22: number overflow parsing '1e999', expected a number within the range of double"},
      {"[{\"bbox\": [1, 2, -1e999, 4]}]", "byte 23: number overflow parsing '-1e999'"},
      {"\xEF\xBB [", "byte 0: not a .npy file nor JSON: found ef bb 20 5b"},
      {"[// comment\n]", "line 1, column 2: syntax error"},
  };
  for (const Bad& bad : cases)
    EXPECT_THAT(text_error(bad.text), StartsWith("x.json: " + bad.message)) << bad.text;
  for (const std::string word : {"NaN", "nan", "-NaN", "Infinity", "-Infinity", "inf", "-inf"}) {
    EXPECT_THAT(text_error(std::string("[{\"bbox\": [1, 2, ").append(word).append(", 4]}]")),
                HasSubstr("(JSON has no NaN and no Infinity)"))
        << word;
  }
  EXPECT_LT(text_error("[\"" + std::string(100000, 'a')).size(), 400u);
}

TEST(Coco, RejectsDeepNestingAnywhere) {
  const std::string deep(1000000, '[');
  EXPECT_EQ(text_error(deep), "x.json: [0] is an array, an object is expected");
  for (const std::string start :
       {R"({"info": )", R"([{"segmentation": )", R"([{"bbox": )", R"({"annotations": [{"x": )"}) {
    EXPECT_THAT(text_error(start + deep), HasSubstr("nested deeper than 100 levels, not a COCO document"))
        << start;
  }
  std::string objects = R"({"info": )";
  for (int i = 0; i < 100000; ++i) objects += R"({"a":)";
  EXPECT_THAT(text_error(objects), HasSubstr("nested deeper than 100 levels"));
  const std::string deepest =
      "[{\"bbox\": [1, 2, 3, 4], \"x\": " + std::string(98, '[') + std::string(98, ']') + "}]";
  EXPECT_EQ(read_text(deepest).boxes.size(), 1u);
}

TEST(Coco, RejectsEveryTruncation) {
  const std::string text =
      R"({"annotations": [{"id": 1, "bbox": [1, 2.5, 3, 4e0], "image_id": "3"}], "x": [true, null]})";
  ASSERT_EQ(text_error(text), "no error");
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THAT(text_error(text.substr(0, size)), StartsWith("x.json: ")) << size;
  }
}

TEST(Coco, ReadsTheSampleFiles) {
  const auto read = [](const std::string& file) { return read_boxes(sample("coco/" + file), {}); };
  const BoxList results = read("instances_val2014_fakebbox100_results.json");
  EXPECT_EQ(results.boxes.size(), 734u);
  EXPECT_EQ(results.scores.size(), 734u);
  EXPECT_EQ(results.image_ids[0], 42);
  EXPECT_EQ(results.category_ids[0], 18);
  const BoxList truth = read("instances_val2014_100.json");
  EXPECT_EQ(truth.boxes.size(), 839u);
  EXPECT_EQ(truth.image_ids.size(), 839u);
  EXPECT_TRUE(truth.scores.empty());
  EXPECT_EQ(std::count(truth.crowd.begin(), truth.crowd.end(), true), 9);
  EXPECT_EQ(read("small_gt.json").boxes.size(), 9u);
  EXPECT_EQ(read("small_dt.json").scores.size(), 9u);
  const BoxList mixed_ids = read("voc_ignore_gt.json");
  EXPECT_EQ(mixed_ids.image_ids, std::vector<std::int64_t>(14, 2299));
  EXPECT_EQ(std::count(mixed_ids.crowd.begin(), mixed_ids.crowd.end(), true), 1);
  EXPECT_EQ(read("voc_ignore_dt.json").boxes.size(), 63u);
  EXPECT_EQ(read("crowdpose_gt.json").boxes.size(), 10u);
  EXPECT_THAT(test::data_error([&] { read("crowdpose_dt_without_bbox.json"); }),
              HasSubstr("[0] has no bbox (it has keypoints), expected 4 numbers: left, top, width, height"));
  const BoxList flat = read("train2017_zero_height_box.json");
  EXPECT_EQ(flat.boxes.size(), 4u);
  EXPECT_EQ(flat.zero_size, 1);
  EXPECT_EQ(flat.boxes[2], (Box{296.65 + 1.03 / 2, 388.33, 1.03, 0}));
}

}  // namespace
}  // namespace lossgrad
