// The calls of three lines against known answers, against the layers below them, and from several threads at once.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <thread>

#include "fovea/base/file.h"
#include "fovea/fovea.h"
#include "fovea/generate/classify.h"
#include "fovea/generate/tag.h"
#include "fovea/generate/translate.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"
#include "test_paths.h"

namespace fovea {
namespace {

const std::vector<std::string> sentences = {"She reads a book.", "The cat sat on the mat.", "", "Good morning."};

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

TEST(Translator, ThreeLines) {
  Translator translate("en-de");
  auto r = translate("She reads a book.");
  EXPECT_EQ(r.text, "Sie liest ein Buch.");
  EXPECT_LT(r.score, 0);
  EXPECT_EQ(r.attention.rows, (std::vector<std::string>{"Sie", "liest", "ein", "Buch."}));
  EXPECT_EQ(r.attention.columns, (std::vector<std::string>{"She", "reads", "a", "book."}));
  EXPECT_EQ(r.alignment, (Alignment{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
  EXPECT_TRUE(r.others.empty());
}

// A row of words has the weights of its tokens, but for what lay on the end.
TEST(Translator, IsTheLayerBelowWithWordsForTokens) {
  const Pretrained model = load_pretrained(find_model("en-de-bahdanau"));
  GenerationConfig config = read_generation_config(model.folder);
  config.beam_size = 3, config.n_best = 2;
  const auto expected =
      fovea::translate(model.as<Generator>(), *model.tokenizer, sentences, config, {.attention = true});
  const auto found = Translator("en-de-bahdanau")(sentences, {.beam_size = 3, .n_best = 2});
  ASSERT_EQ(found.size(), sentences.size());
  for (size_t i = 0; i < sentences.size(); ++i) {
    const Translation& best = expected[i].found[0];
    EXPECT_EQ(found[i].text, best.text);
    EXPECT_EQ(found[i].score, best.score);
    EXPECT_EQ(found[i].others.size(), expected[i].found.size() - 1);
    if (!best.attention) continue;
    const WordWeights& weights = found[i].attention;
    const auto first_word = static_cast<int64_t>(weights.rows.at(0).size());
    double on_the_end = 0, on_words = 0, looking = 0;
    for (size_t t = 0; t < best.tokens.size(); ++t) {
      if (best.tokens[t].size() == 0 || best.tokens[t].begin >= first_word) continue;
      on_the_end += best.attention.select(0, static_cast<int64_t>(t)).values<double>().back();
      ++looking;
    }
    for (size_t s = 0; s < weights.columns.size(); ++s) on_words += weights.at(0, s);
    EXPECT_NEAR(on_words, 1 - on_the_end / looking, 1e-5) << sentences[i];
  }
}

TEST(Translator, TakesListsAndOptions) {
  const Translator translate("en-de-bahdanau");
  const auto both = translate({"Good morning.", "She reads a book."}, {.beam_size = 1, .attention = false});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_TRUE(both[0].attention.weights.empty());
  EXPECT_TRUE(both[0].alignment.empty());
  EXPECT_TRUE(translate("Good morning.", {.prefix = "Hallo"}).text.starts_with("Hallo"));
  EXPECT_NE(error_of([&] { translate("Good morning.", {.beam_size = 0}); }), "");
  EXPECT_TRUE(translate(std::vector<std::string>{}).empty());
  const Translator copy = translate;
  EXPECT_EQ(copy("Good morning.").text, translate("Good morning.").text);
}

TEST(Translator, AnUnknownNameListsTheZoo) {
  const std::string error = error_of([] { Translator("en-xx"); });
  EXPECT_NE(error.find("'en-xx'"), std::string::npos) << error;
  EXPECT_NE(error.find("de-en, en-de, en-de-bahdanau, entities, fashion, plays, scenes, sentiment"), std::string::npos)
      << error;
  EXPECT_NE(error_of([] { Translator("en-xx", {.zoo = "/nowhere"}); }).find("no models that ship"), std::string::npos);
  EXPECT_NE(error_of([] { Translator("entities"); }).find("does not do this: it labels words (tag)"),
            std::string::npos);
  EXPECT_NE(error_of([] { Tagger("en-de"); }).find("does not do this: it writes a text from another (translate"),
            std::string::npos);
  EXPECT_NE(error_of([] { Classifier("plays"); }).find("does not do this: it goes on with a text (generate"),
            std::string::npos);
}

TEST(Tagger, FindsEntitiesWithTheirBytes) {
  const std::string text = "Ada Lovelace worked with Charles Babbage in London.";
  const Tagger tag;
  const Tagger::Answer r = tag(text, {.attention = true});
  ASSERT_EQ(r.entities.size(), 3u);
  EXPECT_EQ(r.entities[0].type, "PER");
  EXPECT_EQ(r.entities[0].text, "Ada Lovelace");
  EXPECT_EQ(r.entities[0].span, (Span{0, 12}));
  EXPECT_EQ(r.entities[2].type, "LOC");
  EXPECT_EQ(piece_of(text, r.entities[2].span), "London");

  const Pretrained model = load_pretrained(find_model("entities"));
  const TaggedText below = tag_texts(model.as<WordLabeller>(), words_of(model), {text})[0];
  ASSERT_EQ(r.words.size(), below.words.size());
  for (size_t i = 0; i < r.words.size(); ++i) {
    EXPECT_EQ(r.words[i].text, piece_of(text, r.words[i].span));
    EXPECT_EQ(r.words[i].label, below.tagged.labels[i]);
    EXPECT_EQ(r.words[i].probability, below.tagged.probabilities[i]);
  }
  EXPECT_EQ(r.entities[0].probability, std::min(r.words[0].probability, r.words[1].probability));
  for (size_t i = 0; i < r.attention.rows.size(); ++i) {
    double row = 0;
    for (size_t j = 0; j < r.attention.columns.size(); ++j) row += r.attention.at(i, j);
    EXPECT_NEAR(row, 1, 1e-5);
  }
}

TEST(Classifier, SaysWhatDecided) {
  const std::string text = "A waste of money and time.";
  const Classifier classify;
  const Classifier::Answer r = classify(text);
  EXPECT_EQ(r.label, "negative");
  EXPECT_EQ(r.labels, (std::vector<std::string>{"negative"}));
  EXPECT_EQ(r.probability, r.probabilities.at("negative"));
  double all = 0, weights = 0;
  for (const auto& [label, probability] : r.probabilities) all += probability;
  EXPECT_NEAR(all, 1, 1e-5);
  ASSERT_EQ(r.words.size(), 6u);
  for (const Classifier::Word& word : r.words) {
    EXPECT_EQ(word.text, piece_of(text, word.span));
    weights += word.weight;
  }
  EXPECT_NEAR(weights, 1, 1e-5);
  EXPECT_TRUE(classify(text, {.words = false}).words.empty());

  const Pretrained model = load_pretrained(find_model("sentiment"));
  const Classified below = fovea::classify(model.as<TextLabeller>(), *model.tokenizer, {text})[0];
  EXPECT_EQ(r.probability, below.probabilities[below.best]);
}

TEST(EveryAnswer, IsTheSameFromFourThreadsAtOnce) {
  const Translator translate("en-de-bahdanau");
  const Tagger tag;
  const Classifier classify;
  const auto answer = [&] {
    std::string text;
    for (const auto& t : translate(sentences)) text += t.text + std::to_string(t.score);
    for (const std::string& sentence : sentences) {
      for (const auto& word : tag(sentence).words) text += word.label + std::to_string(word.probability);
      text += classify(sentence).label + std::to_string(classify(sentence).probability);
    }
    return text;
  };
  const std::string expected = answer();
  std::vector<std::string> found(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& text : found) threads.emplace_back([&] { text = answer(); });
  }
  for (const std::string& text : found) EXPECT_EQ(text, expected);
}

TEST(Attention, KnownNumbers) {
  const std::vector<float> query = {2}, keys = {1, 2, 3}, values = {2, 4, 6};
  const Attention attend({.form = "dot"});
  const auto r = attend({query, 1}, {keys, 3}, {values, 3});
  EXPECT_EQ(r.scores, (std::vector<float>{2, 4, 6}));
  EXPECT_NEAR(r.weight(0, 0, 0), 0.0159, 5e-5);
  EXPECT_NEAR(r.weight(0, 0, 2), 0.8668, 5e-5);
  EXPECT_NEAR(r.context.at(0), 5.70187, 5e-6);
}

// Two heads of width 2, causal:  softmax(q kᵀ / √2) v  in double precision.
TEST(Attention, IsItsFormulaInEachHead) {
  std::vector<float> q(12), k(12), v(12);
  for (size_t i = 0; i < 12; ++i) q[i] = std::sin(1.0f + 3 * i), k[i] = std::cos(2.0f * i), v[i] = std::sin(0.5f * i);
  const auto r = Attention({.heads = 2, .causal = true})({q, 3}, {k, 3}, {v, 3});
  ASSERT_EQ(r.context.size(), 12u);
  for (size_t h = 0; h < 2; ++h)
    for (size_t i = 0; i < 3; ++i) {
      double e[3] = {}, total = 0, context[2] = {};
      for (size_t j = 0; j <= i; ++j) {
        for (size_t d = 2 * h; d < 2 * h + 2; ++d) e[j] += double{q[i * 4 + d]} * k[j * 4 + d] / std::sqrt(2.0);
        EXPECT_NEAR(r.score(h, i, j), e[j], 1e-5);
        total += std::exp(e[j]);
      }
      for (size_t j = 0; j < 3; ++j) {
        const double weight = j <= i ? std::exp(e[j]) / total : 0;
        EXPECT_NEAR(r.weight(h, i, j), weight, 1e-5);
        for (size_t d = 0; d < 2; ++d) context[d] += weight * v[j * 4 + 2 * h + d];
      }
      for (size_t d = 0; d < 2; ++d) EXPECT_NEAR(r.context[i * 4 + 2 * h + d], context[d], 1e-5);
    }
}

// e = v tanh(W q + U k) with one hidden unit.
TEST(Attention, TakesTheWeightsOfAForm) {
  const std::vector<float> q = {0.5f}, k = {1, -1}, v = {10, 20};
  const Attention attend({.form = "additive", .query_weight = {2}, .key_weight = {3}, .vector = {1.5f}});
  const auto r = attend({q, 1}, {k, 2}, {v, 2});
  const double a = 1.5 * std::tanh(1.0 + 3.0), b = 1.5 * std::tanh(1.0 - 3.0);
  EXPECT_NEAR(r.weight(0, 0, 0), std::exp(a) / (std::exp(a) + std::exp(b)), 1e-5);
  EXPECT_NE(error_of([&] { Attention({.form = "additive"})({q, 1}, {k, 2}, {v, 2}); }), "");
  EXPECT_NE(error_of([&] { Attention({.form = "dot"})({q, 1}, {k, 0}, {v, 2}); }), "");
  EXPECT_NE(error_of([&] { Attention({.form = "dot"})({q, 1}, {k, 2}, {v, 1}); }), "");
  EXPECT_NE(error_of([&] { Attention({.heads = 0}); }), "");
  EXPECT_NE(error_of([&] { Attention({.form = "dott"}); }).find("dot"), std::string::npos);
}

TEST(CppPage, ShowsTheExamplesAsTheyAre) {
  const std::filesystem::path root = std::filesystem::path(test_data) / "..";
  const std::string page = read_text(root / "docs/cpp.md");
  for (const char* example : {"attend", "training_loop", "translate", "weights"}) {
    const std::string code = read_text(root / "examples" / example / "main.cpp");
    EXPECT_NE(page.find("```cpp\n" + code + "```\n"), std::string::npos) << example;
  }
  EXPECT_NE(page.find("```cmake\n" + read_text(root / "examples/translate/CMakeLists.txt") + "```\n"),
            std::string::npos);
}

}  // namespace
}  // namespace fovea
