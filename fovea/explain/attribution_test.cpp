// Explanations against captum, autograd and plain products of matrices (tests/golden/make_attribution.py), and against finite
// differences for the families that are trained here.
#include "fovea/explain/attribution.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "fovea/base/file.h"
#include "fovea/explain/entered.h"
#include "fovea/explain/recording.h"
#include "fovea/explain/svg_texts.h"
#include "fovea/kernels/unit.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"
#include "fovea/nn/golden.h"
#include "fovea/tensor/arithmetic.h"
#include "test_paths.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A text of numbers, which are the ids.
class Numbers final : public Tokenizer {
 public:
  std::string_view kind() const override { return "words"; }
  int64_t size() const override { return 40; }
  const SpecialIds& special() const override { return special_; }
  std::string piece(int64_t id) const override { return std::to_string(id); }
  int64_t id_of(std::string_view piece) const override {
    int64_t id = special_.unk;
    std::from_chars(piece.data(), piece.data() + piece.size(), id);
    return id;
  }
  Tokens encode(std::string_view text) const override {
    Tokens t;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(' ', begin), text.size());
      t.ids.push_back(id_of(text.substr(begin, end - begin)));
      t.spans.push_back({static_cast<int64_t>(begin), static_cast<int64_t>(end)});
      begin = end + 1;
    }
    return t;
  }
  std::string decode(std::span<const int64_t> ids) const override {
    std::string text;
    for (int64_t id : ids) text += (text.empty() ? "" : " ") + std::to_string(id);
    return text;
  }
  void save(const fs::path&) const override {}

 private:
  SpecialIds special_ = {.pad = 1, .bos = -1, .eos = 2, .unk = 3};
};

const Json& golden_file() {
  static const Json file = Json::parse(read_text(fs::path(test_data) / "golden" / "attribution.json"));
  return file;
}

std::unique_ptr<Model> model_of(const Json& c, const LoadOptions& options = {}) {
  const fs::path folder = fs::path(testing::TempDir()) / "attribution_golden";
  fs::remove_all(folder);
  fs::create_directories(folder);
  NamedTensors tensors;
  int64_t seed = 0;
  for (const auto& [name, sizes] : c["tensors"].items()) {
    Shape shape;
    for (const Json& size : sizes) shape.push_back(size.get<int64_t>());
    const Tensor numbers = golden_numbers(shape, seed++, golden_file()["scale"].get<double>());
    const bool scale =
        name.ends_with("weight") && (name.find("Norm") != std::string::npos || name.find("norm") != std::string::npos ||
                                     name.find(".ln_") != std::string::npos);
    tensors[name] = (scale ? numbers + 1 : numbers).to(DType::f32);
  }
  write_safetensors(folder / "model.safetensors", tensors, {{"format", "pt"}});
  write_text(folder / "config.json", c["config"].dump());
  return load_model(folder, options);
}

class GoldenAttribution : public testing::TestWithParam<std::string> {
 protected:
  const Json& case_ = golden_file()["cases"][GetParam()];
  const Numbers numbers_ = {};

  std::unique_ptr<Question> asked(const Model& model) const {
    return ask(model, numbers_, numbers_.decode(case_["ids"].get<std::vector<int64_t>>()),
               {.answer = case_["answer"].get<std::string>(), .generation = {.max_length = 4}});
  }
};
INSTANTIATE_TEST_SUITE_P(Families, GoldenAttribution, testing::Values("bert", "gpt2", "llama", "t5"),
                         [](const auto& info) { return info.param; });

TEST_P(GoldenAttribution, EveryMethodIsWhatCaptumAutogradAndTheFormulasGive) {
  const auto model = model_of(case_);
  const auto question = asked(*model);
  EXPECT_NEAR(question->probability(), case_["probability"].get<double>(), 1e-6);
  const Attributions all = attribute(*question, {"all"}, {.steps = golden_file()["steps"].get<int64_t>()});
  for (const Attribution& m : all.methods) {
    if (m.method->name == "leave-one-out") continue;
    SCOPED_TRACE(m.method->name);
    ASSERT_EQ(m.unfit, "");
    const auto wanted = case_[std::string(m.method->name)].get<std::vector<double>>();
    ASSERT_EQ(m.tokens.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(m.tokens[i], wanted[i], 2e-6) << i;
  }
}

// What int8 and bf16 lose is lost in the answer; the way back goes through the same numbers.
TEST_P(GoldenAttribution, PackedWeightsOfLowerPrecisionLeadBackToo) {
  const auto model = model_of(case_, {.precision = Precision::bf16});
  const auto question = asked(*model);
  const Attribution a = attributed_by(*question, find<Method>("integrated-gradients"));
  ASSERT_EQ(a.unfit, "");
  const auto whole = question->without({Erased(7, true)}, Erasing::replace);
  EXPECT_NEAR(
      std::accumulate(a.tokens.begin(), a.tokens.end(), 0.0), question->probability() - whole[0],
      kernels::unit_of(Precision::bf16) == kernels::Unit::vectors ? 1e-3 : 2e-2);  // units make steps of its way
}

TEST_P(GoldenAttribution, LeavingOneOutAsksTheModelWithoutIt) {
  const auto model = model_of(case_);
  const auto question = asked(*model);
  const std::vector<double> s = attributed_by(*question, find<Method>("leave-one-out")).words;
  auto ids = case_["ids"].get<std::vector<int64_t>>();
  ASSERT_EQ(s.size(), ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    Erased erased(ids.size());
    erased[i] = true;
    // The same by a way that computes all steps at once instead of the last one.
    Trace trace({.argmax = true});
    const double odds = question->odds({erased}, Erasing::replace, {.trace = &trace}).item();
    EXPECT_NEAR(s[i], question->probability() - 1 / (1 + std::exp(-odds)), 1e-6);
  }
}

struct Shipped {
  std::string model, text, answer;
};

class ShippedAttribution : public testing::TestWithParam<Shipped> {
 protected:
  // As it was learned: int8 moves in steps, of which there are no finite differences.
  const Pretrained model_ = load_pretrained(find_model(GetParam().model), {.precision = Precision::f32});
  const std::unique_ptr<Question> question_ =
      ask(*model_.model, *model_.tokenizer, GetParam().text, {.answer = GetParam().answer});
};
INSTANTIATE_TEST_SUITE_P(Models, ShippedAttribution,
                         testing::Values(Shipped{"sentiment", "The food was cold, but the staff were wonderful.", ""},
                                         Shipped{"sentiment", "Not good at all.", "positive"},
                                         Shipped{"entities", "Ada Lovelace worked in London.", "London"},
                                         Shipped{"en-de", "The bank approved the loan.", "1"},
                                         Shipped{"en-de-bahdanau", "The cat sat on the mat.", "1"},
                                         Shipped{"plays", "My lord, the king", ""}),
                         [](const auto& info) {
                           std::string name = info.param.model + std::to_string(info.index);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// s[j] = x[j] · ∂p/∂x[j] is how p changes as x[j] grows by a share of itself.
TEST_P(ShippedAttribution, GradientTimesInputIsTheFiniteDifference) {
  const std::vector<double> s = attributed_by(*question_, find<Method>("gradient-input")).tokens;
  const auto tokens = static_cast<int64_t>(s.size());
  ASSERT_EQ(s.size(), question_->text().ids.size());
  auto grown = [&](int64_t token, double by) {
    Entered entered(question_->sequence(), [&](const Tensor& x) {
      Tensor y = x.clone();
      y.reshape({tokens, x.size(-1)})
          .select(0, token)
          .copy_from(x.reshape({tokens, x.size(-1)}).select(0, token) * (1 + by));
      return y;
    });
    return question_->odds({.entrance = &entered}).item();
  };
  const double odds = question_->odds({}).item(), step = 2e-3;
  double largest = 0;
  for (double score : s) largest = std::max(largest, std::abs(score));
  for (int64_t j = 0; j < tokens; ++j) {
    const double slope = (grown(j, step) - grown(j, -step)) / (2 * step) * question_->slope_at(odds);
    EXPECT_NEAR(s[static_cast<size_t>(j)], slope, 0.02 * largest) << j;
  }
}

TEST_P(ShippedAttribution, IntegratedGradientsAddUp) {
  const Attribution a = attributed_by(*question_, find<Method>("integrated-gradients"));
  const double nothing = question_->without({Erased(question_->text().words.size(), true)}, Erasing::replace)[0];
  const double whole = question_->probability() - nothing;
  EXPECT_NEAR(std::accumulate(a.tokens.begin(), a.tokens.end(), 0.0), whole, 0.011 * std::max(0.01, std::abs(whole)));
  EXPECT_NE(a.note.find("steps"), std::string::npos);
}

TEST_P(ShippedAttribution, EveryMethodScoresEveryTokenOrSaysWhyNot) {
  const Attributions all = attribute(*question_, {"all"});
  ASSERT_EQ(all.methods.size(), 7u);
  for (const Attribution& m : all.methods) {
    SCOPED_TRACE(m.method->name);
    if (!m.unfit.empty()) {
      EXPECT_EQ(m.unfit.find('\n'), std::string::npos);
      EXPECT_EQ(m.method->name, "rollout");  // of recurrent models, and those without layers
      EXPECT_NE(GetParam().model, "en-de");
      continue;
    }
    EXPECT_EQ(m.tokens.size(), all.text.ids.size());
    EXPECT_EQ(m.words.size(), all.text.words.size());
    for (double score : m.tokens) {
      EXPECT_TRUE(std::isfinite(score));
      EXPECT_TRUE(m.method->has_sign || score >= 0);
    }
  }
}

// What the answer looks at is what the recording shows.
TEST_P(ShippedAttribution, AttentionIsTheRecordedOne) {
  const Question::Look& look = question_->look();
  const Recording seen = record(*model_.model, *model_.tokenizer, GetParam().text);
  const RecordedPlace& place = seen.at(look.place);
  const std::vector<double> s = attributed_by(*question_, find<Method>("attention")).tokens;
  for (size_t j = 0; j < s.size(); ++j) {
    double mean = 0;
    for (size_t h = 0; h < place.heads.size(); ++h)
      mean += place.part(h, {look.row, look.row + 1}, {}).values<double>()[j] / static_cast<double>(place.heads.size());
    EXPECT_NEAR(s[j], mean, 1e-5);
  }
}

using Matrix = std::vector<std::vector<double>>;

// ½ A + ½ I of a place.
Matrix layer_of(const RecordedPlace& p) {
  const auto n = static_cast<size_t>(p.rows());
  Matrix m(n, std::vector<double>(n));
  for (size_t h = 0; h < p.heads.size(); ++h) {
    const std::vector<double> w = p.part(h, {}, {}).values<double>();
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) m[i][j] += 0.5 * w[i * n + j] / static_cast<double>(p.heads.size());
  }
  for (size_t i = 0; i < n; ++i) m[i][i] += 0.5;
  return m;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.size(), std::vector<double>(b[0].size()));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t k = 0; k < b.size(); ++k)
      for (size_t j = 0; j < b[0].size(); ++j) c[i][j] += a[i][k] * b[k][j];
  return c;
}

TEST(Rollout, IsARowOfThePlainProductOfAllLayers) {
  const Pretrained plays = load_pretrained(find_model("plays"));
  std::string text;
  for (int i = 0; i < 12; ++i) text += "My lord, the king is here. ";
  const auto question = ask(*plays.model, *plays.tokenizer, text);
  const Attribution found = attributed_by(*question, find<Method>("rollout"));
  ASSERT_EQ(found.unfit, "");
  const std::vector<double>& s = found.tokens;
  const Recording seen = record(*plays.model, *plays.tokenizer, text);
  Matrix all = layer_of(seen.places[0]);
  for (size_t i = 1; i < seen.places.size(); ++i) all = product(layer_of(seen.places[i]), all);
  ASSERT_EQ(s.size(), all.size());
  double sum = 0;
  ASSERT_GT(s.size(), 50u);
  for (size_t j = 0; j < s.size(); ++j) {
    EXPECT_NEAR(s[j], all.back()[j], 1e-6);
    sum += s[j];
  }
  EXPECT_NEAR(sum, 1, 1e-5);
}

TEST(Attribution, ScoresOfWordsAreTheSumsOverTheirPieces) {
  const Pretrained p = load_pretrained(find_model("en-de"));
  const auto question = ask(*p.model, *p.tokenizer, "An unbelievable story.");
  const Attribution a = attributed_by(*question, find<Method>("value"));
  std::vector<double> sums(3);
  for (size_t i = 0; i < a.tokens.size(); ++i)
    if (question->text().word_of[i] >= 0) sums[static_cast<size_t>(question->text().word_of[i])] += a.tokens[i];
  ASSERT_EQ(a.words.size(), 3u);
  EXPECT_GT(question->text().ids.size(), 4u);
  for (size_t i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(a.words[i], sums[i]);
}

TEST(Attribution, WordsThatAreRemovedOrReplacedAreGone) {
  const Pretrained p = load_pretrained(find_model("sentiment"));
  const auto whole = ask(*p.model, *p.tokenizer, "A truly wonderful film.", {.answer = "positive"});
  const auto part = ask(*p.model, *p.tokenizer, "A film.", {.answer = "positive"});
  EXPECT_NEAR(whole->without({{false, true, true, false}}, Erasing::remove)[0], part->probability(), 1e-6);
  const auto unknown = ask(*p.model, *p.tokenizer, "A qqxqq qqxqq film.", {.answer = "positive"});
  EXPECT_NEAR(whole->without({{false, true, true, false}}, Erasing::replace)[0], unknown->probability(), 1e-6);
}

TEST(Attribution, ATagStaysWithItsWordWhenOthersAreRemoved) {
  const Pretrained p = load_pretrained(find_model("entities"));
  const auto whole = ask(*p.model, *p.tokenizer, "Yesterday Ada Lovelace worked in London .", {.answer = "London"});
  const auto part = ask(*p.model, *p.tokenizer, "Ada worked in London .", {.answer = "London"});
  EXPECT_EQ(whole->answer(), "London: B-LOC");
  const Erased gone = {true, false, true, false, false, false, false};
  EXPECT_NEAR(whole->without({gone}, Erasing::remove)[0], part->probability(), 1e-5);
}

TEST(Attribution, AnswersThatAModelCannotGiveAreErrors) {
  const Pretrained sentiment = load_pretrained(find_model("sentiment")),
                   entities = load_pretrained(find_model("entities")),
                   translator = load_pretrained(find_model("en-de"));
  auto error = [](const Pretrained& p, const std::string& answer) {
    try {
      ask(*p.model, *p.tokenizer, "Ada lives in London.", {.answer = answer});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(error(sentiment, "neutral").find("label"), std::string::npos);
  EXPECT_NE(error(entities, "Paris").find("word"), std::string::npos);
  EXPECT_NE(error(entities, "London:B-CAT").find("tag"), std::string::npos);
  EXPECT_NE(error(translator, "77").find("token 77"), std::string::npos);
  EXPECT_NE(error(translator, "x").find("number"), std::string::npos);
  EXPECT_EQ(error(entities, "3:B-ORG"), "");
}

TEST(Attribution, IsToldAsTableColoursJsonAndPicture) {
  const Pretrained p = load_pretrained(find_model("sentiment"));
  const auto question = ask(*p.model, *p.tokenizer, "Not a <good> film.");
  const Attributions all = attribute(*question, {"attention", "rollout", "leave-one-out"});
  const std::string text = to_text(all);
  EXPECT_NE(text.find("attention"), std::string::npos);
  EXPECT_NE(text.find("rollout: does not fit"), std::string::npos);
  EXPECT_NE(to_terminal(all, {.width = 80}).find("\x1b[48;2;"), std::string::npos);
  EXPECT_EQ(to_terminal(all, {.width = 80, .colour = false}), text);
  const Json json = Json::parse(to_json(all));
  EXPECT_EQ(json["words"].size(), 4u);
  EXPECT_EQ(json["methods"][0]["words"].size(), 4u);
  EXPECT_TRUE(json["methods"][1].contains("unfit"));
  const std::string svg = to_svg({all});
  for (const SvgText& t : svg_texts(svg)) EXPECT_TRUE(svg_size(svg).holds(t.box)) << t.text;
  EXPECT_EQ(svg.find("<good>"), std::string::npos);
}

}  // namespace
}  // namespace fovea
