// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.hpp"

#include <gtest/gtest.h>

namespace lossgrad {
namespace {

const std::vector<std::string> kScenarios = {"typical", "touching", "thin", "tiny", "near_identical"};

TEST(EditDistance, CountsSingleEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("typical", "typical"), 0u);
  EXPECT_EQ(edit_distance("typcal", "typical"), 1u);    // a letter left out
  EXPECT_EQ(edit_distance("typpical", "typical"), 1u);  // one too many
  EXPECT_EQ(edit_distance("typikal", "typical"), 1u);   // another one
  EXPECT_EQ(edit_distance("tpyical", "typical"), 1u);   // neighbours swapped
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(EditDistance, IgnoresLetterCaseAndTakesAnyByte) {
  EXPECT_EQ(edit_distance("CIoU", "ciou"), 0u);
  EXPECT_EQ(edit_distance("F32", "f16"), 2u);
  EXPECT_EQ(edit_distance("\xff\xfe", "\xff"), 1u);
}

TEST(EditDistance, IsSymmetric) {
  for (const std::string& a : kScenarios) {
    for (const std::string& b : kScenarios)
      EXPECT_EQ(edit_distance(a, b), edit_distance(b, a)) << a << ' ' << b;
  }
}

TEST(UnknownName, OffersTheNearestAndListsAll) {
  EXPECT_EQ(unknown_name_message("scenario", "typcal", kScenarios),
            "unknown scenario 'typcal': did you mean 'typical'? known: typical, touching, thin, tiny, "
            "near_identical");
}

TEST(UnknownName, OffersWhatGoesOnFromIt) {
  EXPECT_EQ(nearest_name("touch", kScenarios), "touching");
  EXPECT_EQ(nearest_name("Near_", kScenarios), "near_identical");
  EXPECT_EQ(nearest_name("abcd", std::vector<std::string>{"abcdefghijkl", "abcdefghij"}), "abcdefghij");
  EXPECT_EQ(nearest_name("", kScenarios), "");
}

TEST(UnknownName, OffersNothingFarAway) {
  EXPECT_EQ(unknown_name_message("scenario", "quaternion", kScenarios),
            "unknown scenario 'quaternion': known: typical, touching, thin, tiny, near_identical");
}

TEST(UnknownName, LongNamesMayDifferMore) {
  EXPECT_NE(
      unknown_name_message("scenario", "neer_idemtcal", kScenarios).find("did you mean 'near_identical'"),
      std::string::npos);
}

TEST(UnknownName, NothingKnown) { EXPECT_EQ(unknown_name_message("loss", "x", {}), "unknown loss 'x'"); }

TEST(UnknownName, EmptyNameHasTheList) {
  const std::string message = unknown_name_message("scenario", "", kScenarios);
  EXPECT_EQ(message.find("unknown scenario ''"), 0u);
  EXPECT_NE(message.find("known: typical, touching"), std::string::npos);
}

}  // namespace
}  // namespace lossgrad
