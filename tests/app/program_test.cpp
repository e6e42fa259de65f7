// SPDX-License-Identifier: Apache-2.0
#include "app/program.hpp"

#include <csignal>
#include <filesystem>
#include <new>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files.hpp"
#include "fakes.hpp"
#include "results/run_json.hpp"
#include "temporary_folder.hpp"

namespace lossgrad::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() { test::engine() = {}; }

  int run(const std::string& line) {
    out_.str("");
    err_.str("");
    std::istringstream words(line);
    const Environment environment = {out_,  err_,       terminal_,          terminal_,
                                     false, "lossgrad", "lossgrad " + line, test::fake_readers()};
    return run_program({std::istream_iterator<std::string>(words), {}}, environment);
  }
  [[nodiscard]] std::string out() const { return out_.str(); }
  [[nodiscard]] std::string err() const { return err_.str(); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  bool terminal_ = false;
  const test::TemporaryFolder folder_;

 private:
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ProgramTest, PassedRun) {
  EXPECT_EQ(run("check ciou"), 0);
  EXPECT_THAT(out(), HasSubstr("ciou f32  n 1,024  scenario mixed  seed 1  convention yolo  backend host"));
  EXPECT_THAT(out(), HasSubstr("2 checks: 2 passed in "));
  EXPECT_THAT(out(), Not(HasSubstr("\x1b")));
  EXPECT_EQ(err(), "");
}

TEST_F(ProgramTest, ExitCodesFollowVerdicts) {
  const auto code_for = [&](Verdict verdict, const std::string& options) {
    test::engine() = {};
    test::engine().verdict = [verdict](std::size_t) { return verdict; };
    return run("check ciou " + options);
  };
  EXPECT_EQ(code_for(Verdict::passed, ""), 0);
  EXPECT_EQ(code_for(Verdict::failed, ""), 1);
  EXPECT_EQ(code_for(Verdict::failed, "--allow-mistrusted"), 1);
  EXPECT_EQ(code_for(Verdict::mistrusted, ""), 1);
  EXPECT_EQ(code_for(Verdict::mistrusted, "--allow-mistrusted"), 0);
  EXPECT_EQ(code_for(Verdict::skipped, ""), 1);
  EXPECT_EQ(code_for(Verdict::unsupported, ""), 1);
}

TEST(ExitCode, OneFailureAmongMany) {
  lossgrad::Run run;
  EXPECT_EQ(exit_code_of(run, true), 1);
  run.checks.resize(5);
  EXPECT_EQ(exit_code_of(run, false), 0);
  run.checks[1].verdict = Verdict::skipped;
  run.checks[2].verdict = Verdict::unsupported;
  EXPECT_EQ(exit_code_of(run, false), 0);
  run.checks[3].verdict = Verdict::mistrusted;
  EXPECT_EQ(exit_code_of(run, false), 1);
  EXPECT_EQ(exit_code_of(run, true), 0);
  run.checks[4].verdict = Verdict::failed;
  EXPECT_EQ(exit_code_of(run, true), 1);
}

TEST_F(ProgramTest, UsageErrorIsOneLineOnStandardError) {
  EXPECT_EQ(run("check ciou --n five"), 2);
  EXPECT_EQ(out(), "");
  EXPECT_EQ(
      err(),
      "lossgrad: --n: found 'five', expected a whole number of at least 0, for example 1000, 16k, 1M, 1e6 "
      "or 4Ki\n");
  EXPECT_TRUE(test::engine().opened.empty());
}

TEST_F(ProgramTest, ErrorsOfTheEngine) {
  test::engine().during = [](std::size_t) {
    throw Error(ErrorKind::compile, "k does not compile", "line 1: bad");
  };
  EXPECT_EQ(run("check ciou"), 4);
  EXPECT_EQ(err(), "lossgrad: k does not compile\nline 1: bad\n");
  test::engine().during = [](std::size_t) { throw Error(ErrorKind::device, "launch failed", "detail"); };
  EXPECT_EQ(run("check ciou"), 5);
  EXPECT_EQ(err(), "lossgrad: launch failed\n");
  EXPECT_EQ(run("check ciou -v"), 5);
  EXPECT_EQ(err(), "lossgrad: launch failed\ndetail\n");
  test::engine().during = [](std::size_t) { throw std::bad_alloc(); };
  EXPECT_EQ(run("check ciou"), 5);
  EXPECT_THAT(err(), HasSubstr("not enough memory"));
  test::engine().during = [](std::size_t) { throw std::logic_error("two\nlines"); };
  EXPECT_EQ(run("check ciou"), 70);
  EXPECT_EQ(err(), "lossgrad: internal error: two\\nlines\n");
}

TEST_F(ProgramTest, Backends) {
  EXPECT_EQ(run("check ciou --backend cuda"), 5);
  EXPECT_EQ(err(), "lossgrad: cuda: no driver\n");
  EXPECT_EQ(run("check ciou --device 4"), 5);
  EXPECT_EQ(run("check ciou"), 0);
  EXPECT_EQ(test::engine().opened.back(), "host");
  test::engine().cuda_available = true;
  EXPECT_EQ(run("check ciou"), 0);
  EXPECT_EQ(test::engine().opened.back(), "cuda");
  EXPECT_EQ(run("check ciou --backend host"), 0);
  EXPECT_EQ(test::engine().opened.back(), "host");
}

TEST_F(ProgramTest, JsonOnStandardOutputStandsAlone) {
  EXPECT_EQ(run("check ciou --json -"), 0);
  const lossgrad::Run document = run_from_json(out());
  EXPECT_TRUE(document.complete);
  EXPECT_EQ(document.checks.size(), 2U);
  EXPECT_EQ(document.context.command, "lossgrad check ciou --json -");
  EXPECT_THAT(document.context.date, ::testing::MatchesRegex("....-..-..T..:..:..[+-]..:.."));
  EXPECT_EQ(document.context.devices[0].name, "fake device");
}

TEST_F(ProgramTest, JsonFileIsWrittenAfterEachCase) {
  const std::string file = path("run.json");
  test::engine().during = [&](std::size_t index) {
    EXPECT_EQ(fs::exists(file), index > 0);
    if (index == 0) return;
    const lossgrad::Run so_far = run_from_json(read_file(file));
    EXPECT_EQ(so_far.checks.size(), 2 * index);
    EXPECT_FALSE(so_far.complete);
  };
  EXPECT_EQ(run("check ciou --dtype all --json " + file), 0);
  const lossgrad::Run document = run_from_json(read_file(file));
  EXPECT_EQ(document.checks.size(), 8U);
  EXPECT_TRUE(document.complete);
  EXPECT_THAT(out(), HasSubstr("8 checks: 8 passed"));
}

TEST_F(ProgramTest, ErrorKeepsEarlierResults) {
  test::engine().during = [](std::size_t index) {
    if (index == 1) throw Error(ErrorKind::device, "lost");
  };
  const std::string file = path("run.json");
  EXPECT_EQ(run("check ciou --dtype f32,f64 --json " + file), 5);
  EXPECT_FALSE(run_from_json(read_file(file)).complete);
  test::engine().requests.clear();
  EXPECT_EQ(run("check ciou --dtype f32,f64 --json -"), 5);
  EXPECT_EQ(run_from_json(out()).checks.size(), 2U);
}

TEST_F(ProgramTest, ErrorBeforeTheFirstResultWritesNothing) {
  test::engine().during = [](std::size_t) { throw Error(ErrorKind::device, "lost"); };
  EXPECT_EQ(run("check ciou --json " + path("run.json")), 5);
  EXPECT_FALSE(fs::exists(path("run.json")));
  EXPECT_EQ(run("check ciou --json -"), 5);
  EXPECT_EQ(out(), "");
}

TEST_F(ProgramTest, UnwritableOutputIsFoundBeforeTheRun) {
  EXPECT_EQ(run("check ciou --json " + path("no/run.json")), 3);
  EXPECT_THAT(err(), HasSubstr("there is no folder"));
  EXPECT_EQ(run("check ciou --json " + folder_.path().string()), 3);
  EXPECT_THAT(err(), HasSubstr("it is a folder"));
  EXPECT_TRUE(test::engine().requests.empty());
}

TEST_F(ProgramTest, DevicesAreWrittenToAndNotReplaced) {
  EXPECT_EQ(run("check ciou --json /dev/full"), 3);
  EXPECT_THAT(err(), HasSubstr("/dev/full: cannot be written: No space left on device"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_EQ(run("check ciou --json /dev/null"), 0);
}

TEST_F(ProgramTest, LinkStaysALink) {
  write_file_atomically(path("real.json"), "old");
  fs::create_symlink(path("real.json"), path("link.json"));
  EXPECT_EQ(run("check ciou --json " + path("link.json")), 0);
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_TRUE(run_from_json(read_file(path("real.json"))).complete);
}

TEST_F(ProgramTest, InterruptKeepsResults) {
  test::engine().during = [](std::size_t index) {
    if (index == 1) std::raise(SIGINT);
  };
  EXPECT_EQ(run("check ciou --dtype all --json " + path("run.json")), 130);
  const lossgrad::Run document = run_from_json(read_file(path("run.json")));
  EXPECT_EQ(document.checks.size(), 2U);
  EXPECT_FALSE(document.complete);
  EXPECT_THAT(out(), HasSubstr("stopped early; 2 checks"));
}

TEST_F(ProgramTest, InterruptedCompilerIsAnInterrupt) {
  test::engine().during = [](std::size_t) {
    std::raise(SIGINT);
    throw Error(ErrorKind::compile, "the compiler was interrupted");
  };
  EXPECT_EQ(run("check ciou"), 130);
  EXPECT_EQ(err(), "");
}

TEST_F(ProgramTest, FilesReachTheEngineRounded) {
  EXPECT_EQ(run("check ciou --pred three.f64 --target three.f64 --dtype f32,f64 --json -"), 0);
  const auto& requests = test::engine().requests;
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].inputs.at("pred")[3], static_cast<double>(0.1F));
  EXPECT_EQ(requests[1].inputs.at("pred")[3], 0.1);
  const lossgrad::Run document = run_from_json(out());
  EXPECT_THAT(document.checks[0].data_notes,
              ::testing::ElementsAre("6 of 24 values changed by rounding to f32"));
  EXPECT_TRUE(document.checks[2].data_notes.empty());
  EXPECT_EQ(document.checks[0].case_id.scenario, "file");
}

TEST_F(ProgramTest, QuietShowsProblemsOnly) {
  EXPECT_EQ(run("check ciou -q"), 0);
  EXPECT_THAT(out(), ::testing::StartsWith("2 checks: 2 passed"));
}

TEST_F(ProgramTest, Colours) {
  terminal_ = true;
  EXPECT_EQ(run("check ciou"), 0);
  EXPECT_THAT(out(), HasSubstr("\x1b[32mpassed"));
  EXPECT_EQ(run("check ciou --color never"), 0);
  EXPECT_THAT(out(), Not(HasSubstr("\x1b")));
  terminal_ = false;
  EXPECT_EQ(run("check ciou --color always"), 0);
  EXPECT_THAT(out(), HasSubstr("\x1b[32mpassed"));
}

TEST_F(ProgramTest, Lists) {
  EXPECT_EQ(run("check --list"), 0);
  for (const char* text : {"ciou: a stand-in", "torchvision", "touching", "guards", "cosine"}) {
    EXPECT_THAT(out(), HasSubstr(text));
  }
  EXPECT_EQ(run("check cosine --list"), 0);
  EXPECT_THAT(out(), Not(HasSubstr("ciou")));
  EXPECT_EQ(run("check coisne --list"), 2);
  EXPECT_EQ(run("devices"), 0);
  EXPECT_THAT(out(), HasSubstr("cuda: not available: no driver\nhost: available\n"));
  test::engine().cuda_available = true;
  EXPECT_EQ(run("devices"), 0);
  EXPECT_THAT(
      out(), HasSubstr("  0  fake device, sm_90, 132 multiprocessors, 141.0 GiB, driver 13.0, NVRTC 13.0\n"));
}

TEST_F(ProgramTest, Kernels) {
  EXPECT_EQ(run("kernels list"), 0);
  EXPECT_THAT(out(), HasSubstr("yolo_ciou_loss_backward__f32__256\n"));
  EXPECT_THAT(out(), HasSubstr("yolo_ciou_loss_backward__bf16__256__torchvision\n"));
  EXPECT_EQ(run("kernels show yolo_ciou_loss_backward__f16__64__torchvision"), 0);
  for (const char* text : {"pass         backward", "block_n      64", "yolo_ciou_loss_backward_entry_point",
                           "grid cdiv(N, 64), block 64", "[4, N]", "upstream"}) {
    EXPECT_THAT(out(), HasSubstr(text));
  }
  EXPECT_EQ(run("kernels show yolo_ciou_loss_forward__f32__256 --source"), 0);
  EXPECT_EQ(out(), "// body of yolo_ciou_loss_forward\n\n// entry point of yolo_ciou_loss_forward\n");
  EXPECT_EQ(run("kernels show yolo_ciou_loss_forward__f32__256 --entry-point"), 0);
  EXPECT_EQ(out(), "// entry point of yolo_ciou_loss_forward\n");
  EXPECT_EQ(run("kernels show yolo_ciou_loss_forward__f32__256 --ptx --arch sm_80"), 0);
  EXPECT_EQ(out(), "// PTX of yolo_ciou_loss_forward__f32__256 for sm_80\n");
  EXPECT_EQ(run("kernels show yolo_ciou_loss_forward__f32__256 --resources"), 0);
  EXPECT_THAT(out(), HasSubstr("sm_120         40"));
  EXPECT_EQ(run("kernels build --backend host"), 0);
  EXPECT_THAT(out(), HasSubstr("24 kernels ready for host"));
  EXPECT_EQ(run("kernels build --arch sm_80,sm_90"), 0);
  EXPECT_THAT(out(), HasSubstr("24 kernels ready for cuda (sm_80, sm_90)"));
  EXPECT_EQ(test::engine().built.size(), 48u);
  EXPECT_THAT(test::engine().built, ::testing::Contains("yolo_ciou_loss_forward__f32__256 sm_90"));
}

TEST_F(ProgramTest, UnknownKernels) {
  EXPECT_EQ(run("kernels show yolo_ciou_los_backward__f32__256"), 2);
  EXPECT_THAT(err(), HasSubstr("did you mean 'yolo_ciou_loss_backward__f32__256'?"));
  EXPECT_EQ(run("kernels show yolo_ciou_loss_backward__f32__100"), 2);
  EXPECT_THAT(err(), HasSubstr("--block-n: found 100"));
  for (const char* id : {"x", "__", "____", "yolo_ciou_loss_backward", "yolo_ciou_loss_backward__f32__256__",
                         "yolo_ciou_loss_backward__f32__99999999999", "a__b__c__d__e"}) {
    EXPECT_EQ(run(std::string("kernels show ") + id), 2) << id;
  }
}

}  // namespace
}  // namespace lossgrad::app
