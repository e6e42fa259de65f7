// SPDX-License-Identifier: Apache-2.0
#include "results/run_json.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "sample_run.hpp"

namespace lossgrad {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;

std::string read_error(const std::string& text) {
  try {
    (void)run_from_json(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "";
}

// The error after one change of a right document.
std::string error_after(const std::string& pointer, const ordered_json& value) {
  ordered_json document = ordered_json::parse(to_json(test::sample_run()));
  document[ordered_json::json_pointer(pointer)] = value;
  return read_error(document.dump());
}

TEST(RunJson, ReadsWhatItWrote) {
  const lossgrad::Run run = test::sample_run();
  const std::string text = to_json(run);
  const lossgrad::Run again = run_from_json(text);
  EXPECT_EQ(to_json(again), text);
  EXPECT_TRUE(again.complete);
  ASSERT_EQ(again.checks.size(), run.checks.size());
  EXPECT_EQ(again.checks[2].case_id.files, run.checks[2].case_id.files);
  EXPECT_EQ(again.checks[2].case_id.sizes, run.checks[2].case_id.sizes);
  EXPECT_EQ(again.checks[2].case_id.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(again.checks[2].data_notes, run.checks[2].data_notes);
  EXPECT_FALSE(again.checks[2].bound_usage.has_value());
  EXPECT_TRUE(std::isnan(again.checks[1].worst[1].got));
  EXPECT_TRUE(std::signbit(again.checks[1].worst[1].inputs[0].second[3]));
  EXPECT_EQ(again.checks[1].bound_usage->max, std::numeric_limits<double>::infinity());
  EXPECT_EQ(again.checks[1].ulp_error->q50, 5e-324);
  EXPECT_EQ(again.context.devices[0].memory_bytes, 8589934592);
  EXPECT_EQ(again.checks[1].diagnosis.at(1).rank, 2);
  EXPECT_EQ(again.faults.at(0).diagnosed_as, 1);
  EXPECT_EQ(again.faults.at(1).outcome, FaultOutcome::slipped);
  EXPECT_FALSE(again.faults.at(2).diagnosed_as.has_value());
}

TEST(RunJson, EveryFiniteDoubleKeepsItsBits) {
  std::mt19937_64 random(7);
  lossgrad::Run run = test::sample_run();
  std::vector<double>& values = run.checks[1].worst[0].inputs[0].second;
  values.clear();
  while (values.size() < 20000) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) values.push_back(value);
  }
  const lossgrad::Run again = run_from_json(to_json(run));
  const std::vector<double>& read = again.checks[1].worst[0].inputs[0].second;
  ASSERT_EQ(read.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(read[i]), std::bit_cast<std::uint64_t>(values[i]));
  }
}

TEST(RunJson, CaseIsPlainFields) {
  const ordered_json document = ordered_json::parse(to_json(test::sample_run()));
  const ordered_json& check = document["checks"][0];
  EXPECT_EQ(check["loss"], "ciou");
  EXPECT_EQ(check["pass"], "backward");
  EXPECT_EQ(check["dtype"], "f32");
  EXPECT_EQ(check["n"], 1048576);
  EXPECT_FALSE(check.contains("rows"));
  EXPECT_EQ(document["checks"][2]["rows"], 3);
  EXPECT_EQ(document["checks"][2]["dim"], 512);
  EXPECT_EQ(document["checks"][1]["bound_usage"]["max"], "Infinity");
  EXPECT_EQ(document["checks"][1]["worst"][1]["got"], "NaN");
  EXPECT_EQ(document["summary"]["failed"], 1);
  EXPECT_EQ(document["summary"]["skipped"], 1);
  EXPECT_TRUE(document["benchmarks"].empty());
}

TEST(RunJson, EmptyRun) {
  const lossgrad::Run run = run_from_json(to_json(lossgrad::Run{}));
  EXPECT_TRUE(run.checks.empty());
  EXPECT_FALSE(run.complete);
}

TEST(RunJson, BytesThatAreNoUtf8DoNotLoseTheDocument) {
  lossgrad::Run run = test::sample_run();
  run.checks[0].case_id.files = {{"pred", "bad\xff.npy"}};
  EXPECT_EQ(run_from_json(to_json(run)).checks[0].case_id.files[0].second, "bad\xEF\xBF\xBD.npy");
}

TEST(RunJson, ErrorsNameThePath) {
  EXPECT_EQ(error_after("/checks/1/kinks", "many"),
            "checks[1].kinks: found \"many\", expected a whole number of at least 0");
  EXPECT_EQ(error_after("/checks/1/kinks", -1),
            "checks[1].kinks: found -1, expected a whole number of at least 0");
  EXPECT_EQ(error_after("/checks/1/kinks", 1.5),
            "checks[1].kinks: found 1.5, expected a whole number of at least 0");
  EXPECT_THAT(error_after("/checks/0/verdict", "fine"),
              HasSubstr("checks[0].verdict: found \"fine\", expected passed"));
  EXPECT_THAT(error_after("/checks/0/dtype", "fp32"), HasSubstr("checks[0].dtype"));
  EXPECT_THAT(error_after("/checks/0/pass", "sideways"), HasSubstr("checks[0].pass"));
  EXPECT_THAT(error_after("/checks/0/seed", -1), HasSubstr("checks[0].seed"));
  EXPECT_THAT(error_after("/checks/0/n", 1e30), HasSubstr("checks[0].n"));
  EXPECT_THAT(error_after("/checks/0/n", std::numeric_limits<std::uint64_t>::max()), HasSubstr("below 2^63"));
  EXPECT_EQ(error_after("/checks/1/worst/0/inputs/pred/2", "nan"),
            "checks[1].worst[0].inputs.pred[2]: found \"nan\", expected a number, \"NaN\", \"Infinity\" or "
            "\"-Infinity\"");
  EXPECT_EQ(error_after("/checks/0/kinkz", 1), "checks[0].kinkz: unknown field");
  EXPECT_EQ(error_after("/checks", 1), "checks: found 1, expected an array");
  EXPECT_EQ(error_after("/schema_version", 2), "schema_version: found 2, expected 1");
  EXPECT_EQ(error_after("/benchmarks/0", 1), "benchmarks: found an array of 1, expected an empty array");
  EXPECT_EQ(error_after("/summary/failed", 0), "summary.failed: found 0, expected 1, as the checks give");
  EXPECT_EQ(error_after("/context/num_cpus", 5e9),
            "context.num_cpus: found 5000000000.0, expected a whole number of "
            "at least 0");
  EXPECT_EQ(read_error("[]"), "document: found an array of 0, expected an object");
  EXPECT_EQ(read_error("{}"), "schema_version: the field is missing");
}

TEST(RunJson, TextThatIsNotJson) {
  EXPECT_THAT(read_error(""), HasSubstr("not a JSON document: parse error at line 1, column 1"));
  const std::string text = to_json(test::sample_run());
  EXPECT_THAT(read_error(text.substr(0, text.size() / 2)),
              HasSubstr("not a JSON document: parse error at line "));
  EXPECT_THAT(read_error(R"({"schema_version": 1e999})"), HasSubstr("not a JSON document"));
  EXPECT_NE(read_error(std::string(200000, '[')), "");
}

// Any damage to a document gives an error of the right kind or a readable run, never anything else.
TEST(RunJson, DamagedDocuments) {
  const std::string text = to_json(test::sample_run());
  std::mt19937 random(11);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    const int changes = 1 + static_cast<int>(random() % 3);
    for (int change = 0; change < changes; ++change) {
      const std::size_t at = random() % damaged.size();
      switch (random() % 3) {
        case 0:
          damaged[at] = static_cast<char>(random());
          break;
        case 1:
          damaged.erase(at, 1 + random() % 9);
          break;
        default:
          damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 9));
      }
    }
    try {
      (void)run_from_json(damaged);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::data);
    }
  }
}

}  // namespace
}  // namespace lossgrad
