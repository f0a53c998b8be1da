#include "fovea/explain/faithfulness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"

namespace fovea {
namespace {

// p = Σ of what each word that is left says, so that everything can be counted by hand.
class Sum final : public Question {
 public:
  Sum(const Pretrained& p, std::vector<double> says) : Question(*p.model, *p.tokenizer), says_(std::move(says)) {
    is_number_ = true;
    for (size_t i = 0; i < says_.size(); ++i) {
      const auto at = static_cast<int64_t>(2 * i);
      text_.text += "a ", text_.ids.push_back(5), text_.pieces.push_back("a");
      text_.spans.push_back({at, at + 1}), text_.words.push_back({at, at + 1});
      text_.word_of.push_back(static_cast<int64_t>(i));
      probability_ += says_[i];
    }
  }
  using Question::odds;
  Tensor odds(const std::vector<Erased>& variants, Erasing, const Context&) const override {
    std::vector<double> sums;
    for (const Erased& erased : variants) {
      double sum = 0;
      for (size_t i = 0; i < says_.size(); ++i) sum += erased.empty() || !erased[i] ? says_[i] : 0;
      sums.push_back(sum);
    }
    return tensor({static_cast<int64_t>(sums.size())}, sums);
  }

 private:
  std::vector<double> says_;
};

class Checked : public testing::Test {
 protected:
  const Pretrained model_ = load_pretrained(find_model("sentiment"));
};

TEST_F(Checked, IsCountedByHandForAnAnswerThatIsASum) {
  // 20 words, of which 1, 5, 10, 20 and 50 % are 1, 1, 2, 4 and 10.
  std::vector<double> says(20);
  for (size_t i = 0; i < 20; ++i) says[i] = static_cast<double>(i) / 190;
  const Sum question(model_, says);
  const Faithfulness f = check(question, std::vector<const Method*>{&find<Method>("leave-one-out")});
  const Faithful& m = f.methods[0];
  auto top = [&](int count) {  // Σ of the largest
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += says[static_cast<size_t>(19 - i)];
    return sum;
  };
  const int counts[] = {1, 1, 2, 4, 10};
  double comprehensive = 0, sufficient = 0, lowest = 0;
  for (size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(m.without[k], top(counts[k]), 1e-9);
    EXPECT_NEAR(m.alone[k], 1 - top(counts[k]), 1e-9);
    double least = 0;
    for (int i = 0; i < counts[k]; ++i) least += says[static_cast<size_t>(i)];
    EXPECT_NEAR(m.without_lowest[k], least, 1e-9);
    comprehensive += top(counts[k]) / 5, sufficient += (1 - top(counts[k])) / 5, lowest += least / 5;
  }
  EXPECT_NEAR(m.comprehensiveness, comprehensive, 1e-9);
  EXPECT_NEAR(m.sufficiency, sufficient, 1e-9);
  EXPECT_NEAR(m.lowest, lowest, 1e-9);
  const Faithful& random = f.methods.back();
  EXPECT_EQ(random.method, "random");
  EXPECT_LT(random.comprehensiveness, m.comprehensiveness);
  EXPECT_GT(random.sufficiency, m.sufficiency);
}

TEST_F(Checked, MeansOverTextsAreMeans) {
  const Sum a(model_, {1, 0}), b(model_, {0, 3});
  const std::vector<const Method*> methods = {&find<Method>("leave-one-out")};
  FaithfulnessMean mean;
  const Faithfulness first = check(a, methods), second = check(b, methods);
  mean.add(first), mean.add(second);
  const Faithfulness both = mean.mean();
  EXPECT_EQ(both.texts, 2u);
  EXPECT_EQ(both.words, 4u);
  EXPECT_NEAR(both.methods[0].comprehensiveness,
              (first.methods[0].comprehensiveness + second.methods[0].comprehensiveness) / 2, 1e-12);
  EXPECT_NEAR(both.methods[0].comprehensiveness, 2, 1e-9);
}

TEST_F(Checked, MethodsThatDoNotFitSaySoInTableAndJson) {
  const auto question = ask(*model_.model, *model_.tokenizer, "Not a good film.");
  const Faithfulness f = check(*question, methods_named({"attention", "rollout"}));
  EXPECT_NE(to_text(f).find("rollout: does not fit"), std::string::npos);
  const auto json = nlohmann::ordered_json::parse(to_json(f));
  EXPECT_TRUE(json["methods"][1].contains("unfit"));
  EXPECT_EQ(json["methods"][0]["without"].size(), erased_steps);
  EXPECT_EQ(json["erased"], "replaced by <unk>");
}

TEST_F(Checked, TheSameOrdersAreDrawnAgain) {
  const auto question = ask(*model_.model, *model_.tokenizer, "The food was cold, but the staff were wonderful.");
  const std::vector<const Method*> methods = {&find<Method>("attention")};
  EXPECT_EQ(check(*question, methods).methods.back().without, check(*question, methods).methods.back().without);
  EXPECT_NE(check(*question, methods).methods.back().without,
            check(*question, methods, {.seed = 1}).methods.back().without);
}

}  // namespace
}  // namespace fovea
