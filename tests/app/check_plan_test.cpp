// SPDX-License-Identifier: Apache-2.0
#include "app/check_plan.hpp"

#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "fakes.hpp"

namespace lossgrad::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CheckOptions ciou() {
  CheckOptions options;
  options.loss = "ciou";
  return options;
}

CheckOptions with_files(const std::string& pred, const std::string& target) {
  CheckOptions options = ciou();
  options.files = {{"pred", pred}, {"target", target}};
  return options;
}

CheckPlan plan_of(const CheckOptions& options) { return make_check_plan(options, test::fake_readers()); }

std::string error_of(const CheckOptions& options, ErrorKind kind = ErrorKind::usage) {
  try {
    (void)plan_of(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "";
}

TEST(CheckPlan, OneCaseByDefault) {
  const CheckPlan plan = plan_of(ciou());
  ASSERT_EQ(plan.requests.size(), 1U);
  const CheckRequest& request = plan.requests[0];
  EXPECT_EQ(request.convention, "yolo");
  EXPECT_EQ(request.scenario, "mixed");
  EXPECT_EQ(request.dtype, Dtype::f32);
  EXPECT_EQ(request.sizes, (Sizes{{"N", 1024}}));
  EXPECT_EQ(request.block, kOwnBlock);
  EXPECT_FALSE(plan.files.has_value());
}

TEST(CheckPlan, ListsMakeAProduct) {
  CheckOptions options = ciou();
  options.dtypes = {Dtype::f32, Dtype::f16, Dtype::f64};
  options.sizes["N"] = {0, 1000};
  options.scenarios = {"all"};
  options.conventions = {"all"};
  options.blocks["block_n"] = {32, 1024};
  const CheckPlan plan = plan_of(options);
  EXPECT_EQ(plan.requests.size(), 3U * 2 * 3 * 2 * 2);
  std::set<std::string> commands;
  for (const CheckRequest& request : plan.requests) commands.insert(repeat_command(options, request, "host"));
  EXPECT_EQ(commands.size(), plan.requests.size());
}

TEST(CheckPlan, SizesThatAreNotGivenKeepTheirDefaults) {
  CheckOptions options;
  options.loss = "cosine";
  options.sizes["n_rows"] = {3, 5};
  const CheckPlan plan = plan_of(options);
  ASSERT_EQ(plan.requests.size(), 2U);
  EXPECT_EQ(plan.requests[1].sizes, (Sizes{{"n_rows", 5}, {"n_dim", 512}}));
}

TEST(CheckPlan, UnknownNames) {
  CheckOptions options = ciou();
  options.loss = "cio";
  EXPECT_EQ(error_of(options), "unknown loss 'cio': did you mean 'ciou'? known: ciou, cosine");
  options = ciou();
  options.scenarios = {"typical", "tuching"};
  EXPECT_THAT(error_of(options), HasSubstr("unknown scenario 'tuching': did you mean 'touching'?"));
  options = ciou();
  options.conventions = {"tochvision"};
  EXPECT_THAT(error_of(options), HasSubstr("unknown convention 'tochvision': did you mean 'torchvision'?"));
  options = ciou();
  options.skip = {"guard"};
  EXPECT_THAT(error_of(options), HasSubstr("unknown check 'guard': did you mean 'guards'?"));
}

TEST(CheckPlan, NumbersOutOfRange) {
  CheckOptions options = ciou();
  options.sizes["N"] = {2147483648};
  EXPECT_EQ(error_of(options), "--n: found 2147483648, expected 0 to 2147483647");
  options.sizes["N"] = {2147483647};
  EXPECT_EQ(error_of(options), "");
  options.sizes = {{"n_rows", {5}}};
  EXPECT_EQ(error_of(options), "--rows: ciou has no such size, it has --n");
  for (const std::int64_t block : {0, 16, 33, 1056, 2048}) {
    options = ciou();
    options.blocks["block_n"] = {256, block};
    EXPECT_THAT(error_of(options), HasSubstr("expected a multiple of 32 from 32 to 1024"));
  }
}

TEST(CheckPlan, FilesDecideSizesTypeAndLayout) {
  const CheckPlan plan = plan_of(with_files("three.f64", "three.f32"));
  ASSERT_EQ(plan.requests.size(), 1U);
  EXPECT_EQ(plan.requests[0].dtype, Dtype::f64);
  EXPECT_EQ(plan.requests[0].scenario, "file");
  EXPECT_EQ(plan.requests[0].sizes, (Sizes{{"N", 3}}));
  EXPECT_THAT(plan.requests[0].files,
              ElementsAre(std::pair<std::string, std::string>("pred", "three.f64"),
                          std::pair<std::string, std::string>("target", "three.f32")));
  EXPECT_THAT(plan.files->values.at("pred"),
              ElementsAre(0, 1, 2, 0.1, 0.1, 0.1, 1e6, 1e6, 1e6, 0.5, 0.5, 0.5));
  EXPECT_EQ(plan_of(with_files("three.json", "three.f16")).requests[0].dtype, Dtype::f32);
  EXPECT_EQ(plan_of(with_files("three.f16", "three.f16")).requests[0].dtype, Dtype::f16);
  CheckOptions options = with_files("three.f64", "three.f64");
  options.dtypes = {Dtype::bf16};
  EXPECT_EQ(plan_of(options).requests[0].dtype, Dtype::bf16);
}

TEST(CheckPlan, FilesWithUpstreamGradient) {
  CheckOptions options = with_files("three.f32", "three.f32");
  options.files["dy"] = "vector.npy";
  EXPECT_THAT(plan_of(options).files->values.at("dy"), ElementsAre(0.25, 0.25, 0.25));
  options.files["dy"] = "two.npy";
  EXPECT_EQ(error_of(options, ErrorKind::data), "two.npy: found shape [2], expected [3] for --dy");
  options.files["dy"] = "matrix.npy";
  EXPECT_EQ(error_of(options, ErrorKind::data), "matrix.npy: found shape [2, 3], expected [3] for --dy");
  options.files["dy"] = "vector.npy";
  options.match = MatchRule::iou;
  EXPECT_THAT(error_of(options), HasSubstr("--dy cannot follow the order that --match iou gives"));
}

TEST(CheckPlan, ArraysBindSizes) {
  CheckOptions options;
  options.loss = "cosine";
  options.files = {{"x1", "matrix.npy"}, {"y", "labels.npy"}};
  EXPECT_EQ(plan_of(options).requests[0].sizes, (Sizes{{"n_rows", 2}, {"n_dim", 3}}));
  options.files["y"] = "vector.npy";
  EXPECT_EQ(error_of(options, ErrorKind::data), "vector.npy: found shape [3], expected [2] for --y");
  options.files["y"] = "two.npy";
  EXPECT_EQ(error_of(options, ErrorKind::data), "two.npy: row 0: found 0.25, expected 1 or -1 (--y)");
  options.box_format = BoxFormat::xyxy;
  EXPECT_EQ(error_of(options), "--box-format: cosine takes no boxes");
}

TEST(CheckPlan, ParametersAndBlocksBelongToTheirLoss) {
  CheckOptions options;
  options.loss = "cosine";
  EXPECT_EQ(plan_of(options).requests[0].parameters, (Parameters{{"margin", 0.25}}));
  options.parameters["margin"] = {-0.5, 0.3};
  options.blocks["block_size"] = {64};
  const CheckPlan plan = plan_of(options);
  ASSERT_EQ(plan.requests.size(), 2u);
  EXPECT_EQ(plan.requests[0].parameters.at("margin"), -0.5);
  EXPECT_EQ(plan.requests[1].parameters.at("margin"), static_cast<double>(0.3f));
  EXPECT_THAT(repeat_command(options, plan.requests[1], "host"), HasSubstr("--margin 0.3 --block-size 64"));
  options.parameters["margin"] = {1e39};
  EXPECT_EQ(error_of(options), "--margin: 1e+39 is too large for f32");
  options.parameters = {};
  options.blocks = {{"block_n", {64}}};
  EXPECT_EQ(error_of(options), "--block-n: cosine has no such option, --block-size is its own");
  options.blocks = {};
  options.sizes["n_dim"] = {0};
  EXPECT_EQ(error_of(options), "--dim: found 0, expected 1 to 65536");
  CheckOptions boxes = ciou();
  boxes.parameters["margin"] = {0};
  EXPECT_EQ(error_of(boxes), "--margin: ciou has no such parameter");
}

TEST(CheckPlan, FilesThatDoNotGoTogether) {
  CheckOptions options = ciou();
  options.files = {{"pred", "three.f32"}};
  EXPECT_EQ(error_of(options), "--pred needs --target too");
  options.files = {{"dy", "vector.npy"}};
  EXPECT_EQ(error_of(options), "--dy needs --pred too");
  options.files = {{"x1", "matrix.npy"}};
  EXPECT_EQ(error_of(options), "--x1: ciou has no such argument");
  options = with_files("three.f32", "three.f32");
  options.scenarios = {"mixed"};
  EXPECT_THAT(error_of(options), HasSubstr("--scenario"));
  options = with_files("three.f32", "three.f32");
  options.sizes["N"] = {5};
  EXPECT_THAT(error_of(options), HasSubstr("--n: the files of --pred decide the size"));
  options = ciou();
  options.match = MatchRule::iou;
  EXPECT_EQ(error_of(options), "--match is for boxes from files");
  options = ciou();
  options.box_format = BoxFormat::xyxy;
  EXPECT_EQ(error_of(options), "--box-format is for boxes from files");
  EXPECT_THAT(error_of(with_files("five.f32", "three.f32"), ErrorKind::data), HasSubstr("counts differ"));
  EXPECT_THAT(error_of(with_files("missing.f32", "three.f32"), ErrorKind::data), HasSubstr("no such file"));
}

TEST(CheckPlan, NamesAreCheckedBeforeFiles) {
  CheckOptions options = with_files("missing.f32", "three.f32");
  options.conventions = {"yol"};
  EXPECT_THAT(error_of(options), HasSubstr("did you mean 'yolo'?"));
}

TEST(CheckPlan, NotesSayWhatWasLeftOut) {
  CheckOptions options = with_files("five.f32", "three.f32");
  options.match = MatchRule::iou;
  EXPECT_THAT(plan_of(options).files->notes,
              ElementsAre("2 pred boxes of zero width or height", "2 pred boxes without a partner left out"));
}

TEST(CheckPlan, RoundingIsCounted) {
  const CheckPlan plan = plan_of(with_files("three.f64", "three.f64"));
  std::vector<std::string> notes;
  EXPECT_EQ(rounded_inputs(*plan.files, Dtype::f64, notes), plan.files->values);
  EXPECT_TRUE(notes.empty());
  const auto rounded = rounded_inputs(*plan.files, Dtype::f16, notes);
  EXPECT_THAT(notes, ElementsAre("6 of 24 values changed by rounding to f16",
                                 "6 of 24 values became infinite: too large for f16"));
  EXPECT_EQ(rounded.at("pred")[6], std::numeric_limits<double>::infinity());
}

TEST(RepeatCommand, NamesTheCase) {
  CheckOptions options = ciou();
  EXPECT_EQ(
      repeat_command(options, plan_of(options).requests[0], "host"),
      "lossgrad check ciou --dtype f32 --n 1024 --scenario mixed --seed 1 --convention yolo --backend host");
  options.passes = {Pass::backward};
  options.slack = 1.5;
  options.blocks["block_n"] = {64};
  options.device = 1;
  options.skip = {"guards"};
  options.fd_samples = 10;
  EXPECT_EQ(
      repeat_command(options, plan_of(options).requests[0], "cuda"),
      "lossgrad check ciou --pass backward --dtype f32 --n 1024 --scenario mixed --seed 1 --convention yolo "
      "--block-n 64 --backend cuda --device 1 --slack 1.5 --fd-samples 10 --skip guards");
  options = with_files("three.f32", "dir with 'quote'/three.f32");
  options.box_format = BoxFormat::xywh;
  options.rtol = 1e-5;
  options.atol = 0;
  EXPECT_EQ(repeat_command(options, plan_of(options).requests[0], "host"),
            "lossgrad check ciou --dtype f32 --pred three.f32 --target 'dir with '\\''quote'\\''/three.f32' "
            "--box-format xywh --seed 1 --convention yolo --backend host --rtol 1e-05 --atol 0");
}

TEST(ShellQuoted, Texts) {
  EXPECT_EQ(shell_quoted("a/b-c_1.npy"), "a/b-c_1.npy");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("$(rm)"), "'$(rm)'");
  EXPECT_EQ(shell_quoted("a\n'b\\.npy"), R"($'a\n\'b\\.npy')");
  EXPECT_EQ(shell_quoted("q\xff.npy"), R"($'q\xff.npy')");
}

}  // namespace
}  // namespace lossgrad::app
