// BLEU and CIDEr of captions against the COCO caption evaluation (tests/golden/make_coco.py).
#include "fovea/train/metrics/coco.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/train/metrics/captions.h"
#include "test_paths.h"

namespace fovea {
namespace {

TEST(Coco, ScoresAreThoseOfTheCaptionEvaluation) {
  const auto cases = nlohmann::json::parse(read_text(std::filesystem::path(test_data) / "golden" / "coco.json"));
  ASSERT_GT(cases.size(), 2u);
  for (const auto& c : cases) {
    const CocoScores found = coco_scores(c["captions"], c["references"]);
    for (size_t n = 0; n < 4; ++n) EXPECT_NEAR(found.bleu[n], c["bleu"][n].get<double>(), 1e-12);
    EXPECT_NEAR(found.cider, c["cider"].get<double>(), 1e-12);
  }
  EXPECT_THROW(coco_scores({}, {}), Error);
  EXPECT_THROW(coco_scores({"a"}, {{}}), Error);
}

TEST(Coco, WordsAreLowerCaseWithoutPunctuation) {
  EXPECT_EQ(coco_words("A man's dog doesn't run , it sits ."), "a man 's dog does n't run it sits");
  EXPECT_EQ(coco_words("\"Two (2) T-shirts\"!"), "two 2 t-shirts");
  EXPECT_EQ(coco_words(" . - "), "");
  EXPECT_EQ(coco_words("the boy 's hat"), "the boy 's hat");
}

TEST(Captions, PointingCountsWordsWithABoxUpToTheFirstWrongOne) {
  const WantedCaption wanted = parse_wanted_caption(
      R"({"image": "1.png", "caption": "a red circle above a star", "boxes": [null, [0,0,8,8], [0,0,8,8], null, null, [8,8,16,16]]})",
      "data");
  const auto given = [](const std::string& caption) {
    nlohmann::json words = nlohmann::json::array();
    for (double x : {4, 4, 12, 4, 4, 12}) words.push_back({{"text", "?"}, {"x", x}, {"y", x}});
    return parse_given_caption(nlohmann::json({{"caption", caption}, {"words", words}}).dump(), "output");
  };
  const CaptionScores right = score_captions({wanted}, {given("a red circle above a star")});
  EXPECT_EQ(right.exact(), 1);
  EXPECT_EQ(right.pointed, 3);
  EXPECT_EQ(right.inside, 2);  // not "circle"
  const CaptionScores wrong = score_captions({wanted}, {given("a red square above a star")});
  EXPECT_EQ(wrong.exact(), 0);
  EXPECT_EQ(wrong.pointing(), 1);  // "red" alone
  EXPECT_EQ(score_captions({{{"a star", "one star"}}}, {{"one star"}}).exact(), 1);
  EXPECT_FALSE(score_captions({{{"a star"}}}, {{"a star"}}).pointing().has_value());
}

TEST(Captions, WhatIsNoCaptionIsAnErrorThatSaysWhere) {
  for (const char* line :
       {"{", "{}", R"({"caption": 3})", R"({"caption": "a", "boxes": 3})", R"({"caption": "a", "boxes": [[1,2,3]]})",
        R"({"caption": "a", "boxes": [[1,2,3,"4"]]})", R"({"captions": 3})", R"({"captions": [3]})"}) {
    try {
      parse_wanted_caption(line, "test.jsonl:7");
      ADD_FAILURE() << line;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("test.jsonl:7"), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW(parse_given_caption(R"({"caption": "a", "words": 3})", "x"), Error);
  EXPECT_THROW(parse_given_caption(R"({"caption": "a", "words": [{"x": "1", "y": 2}]})", "x"), Error);
  EXPECT_EQ(parse_wanted_caption("a red circle", "x").captions[0], "a red circle");
}

}  // namespace
}  // namespace fovea
