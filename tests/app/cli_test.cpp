// SPDX-License-Identifier: Apache-2.0
#include "app/cli.hpp"

#include <iterator>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "losses/loss.hpp"

namespace lossgrad::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

CommandLine parsed(const std::string& line) {
  std::istringstream words(line);
  return parse_command_line({std::istream_iterator<std::string>(words), {}});
}

CheckOptions check(const std::string& rest) {
  return std::get<CheckOptions>(parsed("check " + rest).command);
}

std::string usage_error(const std::string& line) {
  try {
    (void)parsed(line);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << line;
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "";
}

TEST(Cli, CheckDefaults) {
  const CheckOptions options = check("ciou");
  EXPECT_EQ(options.loss, "ciou");
  EXPECT_THAT(options.passes, ElementsAre(Pass::forward, Pass::backward));
  EXPECT_TRUE(options.dtypes.empty());
  EXPECT_TRUE(options.sizes.empty());
  EXPECT_TRUE(options.blocks.empty());
  EXPECT_EQ(options.seed, 1U);
  EXPECT_EQ(options.backend, BackendChoice::automatic);
  EXPECT_EQ(options.slack, 2);
  EXPECT_FALSE(options.allow_mistrusted);
}

TEST(Cli, EveryCheckOption) {
  const CheckOptions options = check(
      "ciou --pass backward --dtype f16,bf16 --n 1k:4k:x2 --block-n 32,64 --scenario typical,mixed --seed "
      "0x10 "
      "--convention all --backend host --device 3 --slack 1.5 --fd-samples 1k --skip guards,oracles "
      "--allow-mistrusted --save-failures out --json out.json");
  EXPECT_THAT(options.passes, ElementsAre(Pass::backward));
  EXPECT_THAT(options.dtypes, ElementsAre(Dtype::f16, Dtype::bf16));
  EXPECT_THAT(options.sizes, ElementsAre(Pair("N", ElementsAre(1000, 2000, 4000))));
  EXPECT_THAT(options.blocks, ElementsAre(Pair("block_n", ElementsAre(32, 64))));
  EXPECT_THAT(options.scenarios, ElementsAre("typical", "mixed"));
  EXPECT_EQ(options.seed, 16U);
  EXPECT_THAT(options.conventions, ElementsAre("all"));
  EXPECT_EQ(options.backend, BackendChoice::host);
  EXPECT_EQ(options.device, 3);
  EXPECT_EQ(options.slack, 1.5);
  EXPECT_EQ(options.fd_samples, 1000);
  EXPECT_THAT(options.skip, ElementsAre("guards", "oracles"));
  EXPECT_TRUE(options.allow_mistrusted);
  EXPECT_EQ(options.save_failures, "out");
  EXPECT_EQ(options.json, "out.json");
}

TEST(Cli, OptionsOfArgumentsAndSizesComeFromTheLosses) {
  const CheckOptions boxes =
      check("ciou --pred a.npy --target=b.json --dy c.npy --box-format xywh --match iou");
  EXPECT_THAT(boxes.files, ElementsAre(Pair("dy", "c.npy"), Pair("pred", "a.npy"), Pair("target", "b.json")));
  EXPECT_EQ(boxes.box_format, BoxFormat::xywh);
  EXPECT_EQ(boxes.match, MatchRule::iou);
  const CheckOptions rows = check("cosine --x1 a.npy --y b.npy --rows 3 --dim 1k,2k");
  EXPECT_THAT(rows.files, ElementsAre(Pair("x1", "a.npy"), Pair("y", "b.npy")));
  EXPECT_THAT(rows.sizes,
              ElementsAre(Pair("n_dim", ElementsAre(1000, 2000)), Pair("n_rows", ElementsAre(3))));
}

TEST(Cli, AllStandsForEveryone) {
  EXPECT_EQ(check("ciou --dtype all").dtypes.size(), 4U);
  EXPECT_EQ(check("ciou --pass all").passes.size(), 2U);
}

TEST(Cli, ToleranceNeedsBothParts) {
  const CheckOptions options = check("ciou --rtol 1e-5 --atol 0");
  EXPECT_EQ(options.rtol, 1e-5);
  EXPECT_EQ(options.atol, 0);
  EXPECT_EQ(usage_error("check ciou --rtol 1e-5"), "--rtol needs --atol too");
  EXPECT_EQ(usage_error("check ciou --atol 1e-5"), "--atol needs --rtol too");
  EXPECT_THAT(usage_error("check ciou --atol 1 --rtol 1 --slack 2"), HasSubstr("one or the other"));
}

TEST(Cli, CommonOptionsStandAnywhere) {
  EXPECT_EQ(parsed("-v check ciou").common.verbosity, Verbosity::verbose);
  EXPECT_EQ(parsed("check ciou -v").common.verbosity, Verbosity::verbose);
  EXPECT_EQ(parsed("check -q ciou").common.verbosity, Verbosity::quiet);
  EXPECT_EQ(parsed("kernels list --color never").common.color, ColorChoice::never);
  EXPECT_EQ(parsed("devices --color always").common.color, ColorChoice::always);
  EXPECT_THAT(usage_error("check ciou -q -v"), HasSubstr("exclude each other"));
}

TEST(Cli, OtherCommands) {
  EXPECT_TRUE(std::holds_alternative<DevicesOptions>(parsed("devices").command));
  EXPECT_TRUE(std::holds_alternative<KernelsListOptions>(parsed("kernels list").command));
  const auto show =
      std::get<KernelsShowOptions>(parsed("kernels show some_id --resources --arch sm_80,sm_90").command);
  EXPECT_EQ(show.id, "some_id");
  EXPECT_EQ(show.view, KernelView::resources);
  EXPECT_THAT(show.architectures, ElementsAre("sm_80", "sm_90"));
  const auto build = std::get<KernelsBuildOptions>(parsed("kernels build --backend host").command);
  EXPECT_EQ(build.backend, BackendChoice::host);
  EXPECT_TRUE(check("--list").list);
}

TEST(Cli, HelpAndVersion) {
  const std::string main_help = std::get<ShowText>(parsed("--help").command).text;
  EXPECT_THAT(main_help, HasSubstr("Examples:"));
  EXPECT_THAT(main_help, HasSubstr("devices"));
  const std::string check_help = std::get<ShowText>(parsed("check --help").command).text;
  for (const char* option : {"--pred", "--rows", "--n ", "--scenario", "--json", "Examples:"}) {
    EXPECT_THAT(check_help, HasSubstr(option));
  }
  EXPECT_NE(std::get<ShowText>(parsed("kernels show -h").command).text, main_help);
  EXPECT_THAT(std::get<ShowText>(parsed("--version").command).text,
              ::testing::MatchesRegex("lossgrad [0-9.]+\n"));
}

// Of every help text, and of the losses.
TEST(Cli, ExamplesAreCommandLines) {
  int examples = 0;
  for (const char* command : {"", "check ", "selftest ", "kernels show "}) {
    const std::string help = std::get<ShowText>(parsed(command + std::string("--help")).command).text;
    std::istringstream lines(help.substr(help.find("Examples:")));
    for (std::string line; std::getline(lines, line);) {
      constexpr std::string_view kStart = "  lossgrad ";
      if (!line.starts_with(kStart)) continue;
      ++examples;
      EXPECT_NO_THROW((void)parsed(line.substr(kStart.size()))) << line;
    }
  }
  std::size_t least = 0;
  for (const Loss* loss : all_losses()) least += 1 + loss->examples().size();
  EXPECT_GT(examples, static_cast<int>(least));
}

TEST(Cli, UnknownNamesGetTheNearest) {
  EXPECT_EQ(usage_error("chekc ciou"),
            "unknown command 'chekc': did you mean 'check'? known: check, selftest, devices, kernels");
  EXPECT_EQ(usage_error("check ciou --senario x"),
            "unknown option '--senario': did you mean '--scenario'? (see lossgrad check --help)");
  EXPECT_EQ(usage_error("check ciou --prd=x.npy"),
            "unknown option '--prd': did you mean '--pred'? (see lossgrad check --help)");
  EXPECT_THAT(usage_error("--vresion"), HasSubstr("did you mean '--version'?"));
  EXPECT_THAT(usage_error("kernels lst"), HasSubstr("unknown command 'lst': did you mean 'list'?"));
  EXPECT_THAT(usage_error("kernels show x --sorce"), HasSubstr("did you mean '--source'?"));
  EXPECT_THAT(usage_error("check ciou --dtype fp32"),
              HasSubstr("--dtype: unknown value 'fp32': did you mean 'f32'?"));
  EXPECT_THAT(usage_error("check ciou --pass bakward"), HasSubstr("did you mean 'backward'?"));
  EXPECT_THAT(usage_error("check ciou --backend gpu"), HasSubstr("known: auto, cuda, host"));
  EXPECT_THAT(usage_error("check ciou --match giou"), HasSubstr("did you mean 'iou'?"));
  EXPECT_THAT(usage_error("check ciou --box-format xyhw"), HasSubstr("did you mean 'xywh'?"));
}

TEST(Cli, IncompleteLines) {
  EXPECT_THAT(usage_error(""), HasSubstr("a command is expected"));
  EXPECT_THAT(usage_error("check"), HasSubstr("a loss is expected: ciou, cosine"));
  EXPECT_THAT(usage_error("kernels"), HasSubstr("list, show ID or build"));
  EXPECT_THAT(usage_error("kernels show"), HasSubstr("a kernel id is expected"));
  EXPECT_EQ(usage_error("check ciou --n"), "--n: a value is expected after it");
  EXPECT_EQ(usage_error("check ciou --n --dtype f32"),
            "--n: a value is expected after it, found the option '--dtype'");
  EXPECT_EQ(usage_error("check ciou --n 5 --n 6"), "--n: given more than once");
  EXPECT_THAT(usage_error("check ciou devices"), HasSubstr("unexpected argument 'devices'"));
  EXPECT_THAT(usage_error("devices ciou"), HasSubstr("unexpected argument 'ciou'"));
  EXPECT_THAT(usage_error("check ciou --seed -1"), HasSubstr("--seed: found '-1'"));
  EXPECT_THAT(usage_error("check ciou --slack -2"), HasSubstr("--slack: found '-2'"));
  EXPECT_THAT(usage_error("check ciou --device 99999999999"), HasSubstr("--device"));
  EXPECT_THAT(usage_error("kernels show x --ptx --source"), HasSubstr("one of --source"));
  EXPECT_EQ(usage_error("kernels show x --arch sm_90"), "--arch needs --ptx or --resources");
  EXPECT_EQ(usage_error("kernels build --backend host --arch sm_90"), "--arch is for --backend cuda");
}

TEST(Cli, DashIsAValue) { EXPECT_EQ(check("ciou --json -").json, "-"); }

}  // namespace
}  // namespace lossgrad::app
