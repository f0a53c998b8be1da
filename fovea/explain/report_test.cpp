#include "fovea/explain/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "fovea/data/text/sentencepiece.h"
#include "fovea/data/text/words.h"
#include "fovea/generate/search.h"
#include "fovea/models/families/bag_of_words.h"
#include "fovea/models/families/classifier.h"
#include "fovea/models/families/seq2seq.h"
#include "fovea/models/families/tagger.h"
#include "fovea/models/families/transformer.h"

namespace fovea {
namespace {

// Gives the same few sentences for ever smaller numbers.
TextSource sentences() {
  return [left = 60](std::string& text) mutable {
    text = left % 2 == 0 ? "The cat sat on the mat." : "A sailor sang about the sea.";
    return left-- > 0;
  };
}

const SentencePiece& pieces() {
  static const SentencePiece trained = SentencePiece::train(sentences(), {.vocabulary = 40, .byte_fallback = false});
  return trained;
}

double row_sum(const HeadReport& h, size_t row) {
  double sum = 0;
  for (size_t column = 0; column < h.columns.size(); ++column) sum += h.at(row, column);
  return sum;
}

std::vector<std::string> places_of(const Report& report) {
  std::vector<std::string> places;
  for (const HeadReport& h : report.heads) places.push_back(fmt::format("{}/{}", h.place, h.head));
  return places;
}

TEST(Report, HoldsEveryHeadOfATransformerOverItsOwnTokens) {
  Transformer model({.vocabulary = pieces().size(),
                     .encoder_layers = 1,
                     .decoder_layers = 1,
                     .stack = {.width = 16, .heads = 2, .hidden = 16}});
  initialise(model, Random(1));
  const std::string text = "The cat sang.";
  const Report report = explain(model, pieces(), text, {.generation = {.max_length = 5}});
  EXPECT_EQ(places_of(report),
            (std::vector<std::string>{"encoder.0.self/0", "encoder.0.self/1", "decoder.0.self/0", "decoder.0.self/1",
                                      "decoder.0.cross/0", "decoder.0.cross/1"}));
  const Tokens tokens = pieces().encode(text);
  for (const HeadReport& h : report.heads) {
    ASSERT_EQ(h.weights.size(), h.rows.size() * h.columns.size());
    for (size_t row = 0; row < h.rows.size(); ++row) EXPECT_NEAR(row_sum(h, row), 1, 1e-5) << h.place;
    const bool reads_source = h.place != "decoder.0.self";
    EXPECT_EQ(h.columns.size(), reads_source ? tokens.ids.size() + 1 : h.rows.size());
    EXPECT_EQ(h.columns.front(), reads_source ? pieces().piece(tokens.ids[0]) : "<s>");
    EXPECT_EQ(h.columns.back() == "</s>", reads_source);
    if (h.place != "encoder.0.self") EXPECT_EQ(h.rows.size(), 5u);  // as many as were written
  }
  // Causal: what is written first has seen the start alone.
  const HeadReport& self = report.heads[2];
  EXPECT_EQ(self.at(0, 0), 1);
  for (size_t row = 0; row < self.rows.size(); ++row)
    for (size_t column = row + 1; column < self.columns.size(); ++column) EXPECT_EQ(self.at(row, column), 0);
}

// The weights are those of the step-by-step search, which traces them itself.
TEST(Report, CrossAttentionIsThatOfTheSearch) {
  for (const char* attention : {"additive", "general"}) {
    Seq2Seq model({.vocabulary = pieces().size(),
                   .embedding = 8,
                   .encoder_width = 8,
                   .decoder_width = 8,
                   .attention = attention});
    initialise(model, Random(2));
    const std::string text = "The sailor sat.";
    const GenerationConfig generation = {.max_length = 4};
    const Report report = explain(model, pieces(), text, {.generation = generation});
    std::vector<int64_t> ids = pieces().encode(text).ids;
    ids.push_back(pieces().special().eos);
    const Hypothesis h =
        generate(model, {{.source = ids}}, generation, {.attention = true, .unknown = pieces().special().unk})[0][0];
    ASSERT_EQ(report.heads.size(), 1u);
    const std::vector<double> expected = h.attention.values<double>();
    ASSERT_GE(report.heads[0].weights.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(report.heads[0].weights[i], expected[i], 1e-6);
  }
}

TEST(Report, ChoosesPlacesAndHeads) {
  Transformer model({.vocabulary = pieces().size(),
                     .encoder_layers = 2,
                     .decoder_layers = 1,
                     .stack = {.width = 16, .heads = 4, .hidden = 16}});
  initialise(model, Random(1));
  ExplainOptions options = {.places = {"encoder.1"}, .heads = {1, 3}, .generation = {.max_length = 5}};
  const Report some = explain(model, pieces(), "The cat.", options);
  EXPECT_EQ(places_of(some), (std::vector<std::string>{"encoder.1.self/1", "encoder.1.self/3"}));
  options.places = {}, options.heads = {};
  const Report all = explain(model, pieces(), "The cat.", options);
  EXPECT_EQ(some.heads[1].weights, all.heads[7].weights);
  options.places = {"encoder.7"};
  EXPECT_THROW(explain(model, pieces(), "The cat.", options), Error);
  options.places = {}, options.heads = {4};
  EXPECT_THROW(explain(model, pieces(), "The cat.", options), Error);
}

TEST(Report, OfAClassifierIsWhatThePoolingLooksAt) {
  PooledClassifier model({.vocabulary = pieces().size(),
                          .labels = {"bad", "good"},
                          .encoder = "transformer",
                          .width = 8,
                          .heads = 2,
                          .hidden = 8});
  initialise(model, Random(1));
  const Report report = explain(model, pieces(), "The cat sang.");
  EXPECT_EQ(places_of(report), (std::vector<std::string>{"encoder.0.self/0", "encoder.0.self/1", "pooling/0"}));
  EXPECT_EQ(report.heads[2].rows, (std::vector<std::string>{report.answer.substr(0, report.answer.find('\t'))}));
  EXPECT_NEAR(row_sum(report.heads[2], 0), 1, 1e-5);
}

// Every token has its bytes in the text, and the model has run once for the tags and the weights.
TEST(Report, OfAModelThatLabelsTokensIsOverTokens) {
  const std::unique_ptr<ModelConfig> config = find<Family>("bert").config();
  from_json(fmt::format(R"({{"architectures": ["BertForTokenClassification"], "vocab_size": {}, "hidden_size": 16,
                            "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 32,
                            "max_position_embeddings": 128, "id2label": {{"0": "O", "1": "B-LOC"}}}})",
                        pieces().size()),
            *config, "config.json");
  const std::unique_ptr<Model> model = config->make();
  initialise(*model, Random(1));
  const std::string text = "The cat sang.";
  const Recording seen = record(*model, pieces(), text);
  const RecordedSequence& source = seen.sequences.at("source");
  ASSERT_EQ(seen.places.size(), 1u);
  EXPECT_EQ(seen.places[0].rows(), static_cast<int64_t>(source.size()));
  int64_t at = 0;
  for (const Span span : source.spans) {
    if (span.size() == 0) continue;
    EXPECT_GE(span.begin, at);
    EXPECT_EQ(text.substr(static_cast<size_t>(at), static_cast<size_t>(span.begin - at)).find_first_not_of(' '),
              std::string::npos);
    at = span.end;
  }
  EXPECT_EQ(at, static_cast<int64_t>(text.size()));
}

TEST(Report, OfATaggerIsOverWords) {
  const Words words = Words::train(sentences(), {.vocabulary = 40});
  WordTagger model({.vocabulary = words.size(),
                    .characters = words.characters_size(),
                    .labels = {"O", "B-LOC"},
                    .embedding = 8,
                    .width = 8,
                    .character_embedding = 4,
                    .character_width = 4});
  initialise(model, Random(1));
  const Report report = explain(model, words, "The cat sang.");
  ASSERT_EQ(report.heads.size(), 1u);
  EXPECT_EQ(report.heads[0].rows, (std::vector<std::string>{"The", "cat", "sang", "."}));
  EXPECT_EQ(report.heads[0].rows, report.heads[0].columns);
  EXPECT_THROW(explain(model, pieces(), "The cat sang."), Error);
}

TEST(Report, TellsFocusOffsetAndLinks) {
  const Report report = {
      "a b",
      "x y",
      {{"encoder.0.self", 1, {"a", "b", "c"}, {"a", "b", "c"}, {0.5, 0.3, 0.2, 0.9, 0.05, 0.05, 0.2, 0.7, 0.1}}}};
  const std::string text = to_text(report);
  EXPECT_TRUE(text.starts_with("x y\n")) << text;
  // (0.5 + 0.9 + 0.7) / 3; b and c look one back; the strongest row first.
  EXPECT_NE(text.find("encoder.0.self     1   0.70  -1 in 2 of 3    b → a 0.90   c → b 0.70   a → a 0.50"),
            std::string::npos)
      << text;
}

TEST(Report, EmptyAndEndlessTextsAndOtherModels) {
  Transformer model({.vocabulary = pieces().size(), .stack = {.width = 16, .heads = 2, .hidden = 16}});
  initialise(model, Random(1));
  EXPECT_TRUE(explain(model, pieces(), " ").heads.empty());
  std::string endless;
  for (int i = 0; i < 600; ++i) endless += "cat ";
  EXPECT_THROW(explain(model, pieces(), endless), Error);
}

}  // namespace
}  // namespace fovea
