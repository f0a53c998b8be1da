#include "fovea/generate/translate.h"

#include <gtest/gtest.h>

#include "fovea/data/text/bytes.h"
#include "fovea/data/text/sentencepiece.h"
#include "fovea/data/text/words.h"
#include "fovea/generate/known_letters.h"
#include "fovea/models/families/transformer.h"

namespace fovea {
namespace {

class TranslatePieces : public testing::Test {
 protected:
  TranslatePieces() {
    std::vector<std::string> texts = {"One two three . Four five six ."};
    words_ = std::make_unique<Words>(Words::train(
        [&](std::string& text) {
          if (texts.empty()) return false;
          text = texts.back(), texts.pop_back();
          return true;
        },
        Words::Options{}));
    model_ = std::make_unique<Transformer>(Transformer::Config{.vocabulary = words_->size(),
                                                               .encoder_layers = 1,
                                                               .decoder_layers = 1,
                                                               .stack = {.width = 16, .heads = 2, .hidden = 32}});
    initialise(*model_, Random(3));
  }

  std::unique_ptr<Words> words_;
  std::unique_ptr<Transformer> model_;
};

TEST_F(TranslatePieces, AreThoseOfTheSentencesAlone) {
  const GenerationConfig whole = {.beam_size = 2, .n_best = 2, .min_length = 3, .max_length = 6};
  GenerationConfig cut = whole;
  cut.piece_tokens = 5;
  const std::string both = "One two three. Four five six.";
  const auto apart = translate(*model_, *words_, {"One two three.", "Four five six."}, whole, {.attention = true});
  const Translations joined = translate(*model_, *words_, {both, ""}, cut, {.attention = true})[0];
  ASSERT_EQ(joined.found.size(), 2u);
  EXPECT_EQ(joined.source.size(), 9u);
  for (size_t k = 0; k < 2; ++k) {
    const Translation &a = apart[0].found[k], &b = apart[1].found[k], &t = joined.found[k];
    EXPECT_EQ(t.text, a.text + " " + b.text);
    ASSERT_EQ(t.tokens.size(), a.tokens.size() + b.tokens.size());
    ASSERT_EQ(t.log_probabilities.size(), a.log_probabilities.size() + b.log_probabilities.size());
    for (size_t i = 0; i < b.tokens.size(); ++i)
      EXPECT_EQ(piece_of(t.text, t.tokens[a.tokens.size() + i]), piece_of(b.text, b.tokens[i]));
    const int64_t rows = static_cast<int64_t>(a.log_probabilities.size());
    ASSERT_EQ(t.attention.shape(), (Shape{rows + static_cast<int64_t>(b.log_probabilities.size()), 9}));
    for (int64_t i = 0; i < t.attention.size(0); ++i) {
      const Tensor& part = i < rows ? a.attention : b.attention;
      for (int64_t j = 0; j < 9; ++j) {
        const int64_t column = j == 8 ? 4 : i < rows ? j : j - 4;  // its own four tokens, and the end
        const bool own = j == 8 || (i < rows ? j < 4 : j >= 4);
        const float expected = own ? part.contiguous().data<float>()[(i < rows ? i : i - rows) * 5 + column] : 0;
        EXPECT_EQ(t.attention.data<float>()[i * 9 + j], expected);
      }
    }
  }
}

// A tokenizer that puts a start before each text, as BART's does, and the end behind it.
class Framing final : public Tokenizer {
 public:
  explicit Framing(const Tokenizer& words) : words_(words) {}
  std::string_view kind() const override { return words_.kind(); }
  int64_t size() const override { return words_.size(); }
  const SpecialIds& special() const override { return words_.special(); }
  std::string piece(int64_t id) const override { return words_.piece(id); }
  int64_t id_of(std::string_view piece) const override { return words_.id_of(piece); }
  Tokens encode(std::string_view text) const override { return words_.encode(text); }
  std::string decode(std::span<const int64_t> ids) const override { return words_.decode(ids); }
  void save(const std::filesystem::path&) const override {}
  bool frames() const override { return true; }
  Tokens frame(const Tokens& text, const Tokens*) const override {
    Tokens all = text;
    all.ids.insert(all.ids.begin(), special().bos), all.spans.insert(all.spans.begin(), Span{0, 0});
    all.ids.push_back(special().eos), all.spans.push_back({all.spans.back().end, all.spans.back().end});
    return all;
  }

 private:
  const Tokenizer& words_;
};

TEST_F(TranslatePieces, AreReadAsTheTokenizerFramesThemBehindTheirTask) {
  const Framing framing(*words_);
  const std::string text = "One two three.";
  const Tokens tokens = words_->encode(text), task = words_->encode("Four five");
  std::vector<int64_t> ids = {1};
  ids.insert(ids.end(), task.ids.begin(), task.ids.end());
  ids.insert(ids.end(), tokens.ids.begin(), tokens.ids.end());
  ids.push_back(2);
  EXPECT_EQ(source_tokens(framing, tokens, task.ids).ids, ids);
  const GenerationConfig config = {.max_length = 6};
  const Hypothesis expected =
      generate(*model_, {{.source = ids}}, config, {.attention = true, .unknown = words_->special().unk})[0][0];
  const Translations found = translate(*model_, framing, {text}, config, {.attention = true, .task = "Four five"})[0];
  EXPECT_EQ(found.found[0].text, words_->decode(expected.ids));
  ASSERT_EQ(found.source.size(), 5u);  // four tokens and the end
  const Tensor seen = found.found[0].attention;
  ASSERT_EQ(seen.shape(), (Shape{expected.attention.size(0), 5}));
  for (int64_t row = 0; row < seen.size(0); ++row) {
    const float *all = expected.attention.data<float>() + row * 8, *part = seen.data<float>() + row * 5;
    for (int64_t j = 0; j < 4; ++j) EXPECT_EQ(part[j], all[3 + j]);
    EXPECT_NEAR(part[4], all[0] + all[1] + all[2] + all[7], 1e-6);
  }
}

TEST_F(TranslatePieces, KeepTheWhiteSpaceBetweenSentences) {
  const GenerationConfig config = {.max_length = 6, .piece_tokens = 40};
  const auto apart = translate(*model_, *words_, {"One two three.", "Four five six."}, config);
  const std::string a = apart[0].found[0].text, b = apart[1].found[0].text;
  const auto found = translate(*model_, *words_,
                               {"One two three.   Four five six.", "One two three.\n\nFour five six.\nOne two three.",
                                " One two three.😀 Four five six. "},
                               config);
  EXPECT_EQ(found[0].found[0].text, a + "   " + b);
  EXPECT_EQ(found[1].found[0].text, a + "\n\n" + b + "\n" + a);
  EXPECT_EQ(found[2].found[0].text, a + "😀 " + b);
}

TEST_F(TranslatePieces, AreOneWhereTheModelReadsTextsAsAWhole) {
  const GenerationConfig config = {.max_length = 6};
  const std::string both = "One two three. Four five six.";
  const Tokens tokens = words_->encode(both);
  const Hypothesis whole =
      generate(*model_, {{.source = source_ids(*words_, tokens)}}, config, {.unknown = words_->special().unk})[0][0];
  EXPECT_EQ(translate(*model_, *words_, {both}, config)[0].found[0].text, words_->decode(whole.ids));
}

// Each sentence's mean log-probability, from the search itself, is what is compared.
TEST_F(TranslatePieces, ThatAreNotToBeTrustedAreNamed) {
  GenerationConfig config = {.max_length = 6, .piece_tokens = 40};
  const std::vector<std::string> texts = {"One two three.", "Four five six."};
  std::vector<double> means;
  for (const std::string& text : texts) {
    const Hypothesis h = generate(*model_, {{.source = source_ids(*words_, words_->encode(text))}}, config,
                                  {.unknown = words_->special().unk})[0][0];
    double sum = 0;
    for (double p : h.log_probabilities) sum += p;
    means.push_back(sum / static_cast<double>(h.log_probabilities.size()));
  }
  ASSERT_NE(means[0], means[1]);
  const size_t worse = means[0] < means[1] ? 0 : 1;
  const auto unsure = [&](double below) {
    config.unsure_below = below;
    return translate(*model_, *words_, {texts[0] + " " + texts[1]}, config)[0].found[0].unsure;
  };
  EXPECT_EQ(unsure((means[0] + means[1]) / 2), (std::vector<Span>{worse == 0 ? Span{0, 14} : Span{15, 29}}));
  EXPECT_TRUE(unsure(means[worse] - 1e-6).empty());
  EXPECT_EQ(unsure(-1e-9).size(), 2u);
  EXPECT_TRUE(unsure(0).empty());
}

TEST_F(TranslatePieces, WithTooManyWeightsAreRefused) {
  std::string text;
  for (int i = 0; i < 9000; ++i) text += "One. ";
  const GenerationConfig config = {.min_length = 1, .max_length = 1, .piece_tokens = 40, .batch_size = 512};
  EXPECT_THROW(translate(*model_, *words_, {text}, config, {.attention = true}), Error);
  EXPECT_EQ(translate(*model_, *words_, {text}, config)[0].source.size(), 18001u);
}

TEST_F(TranslatePieces, NothingUnknownIsEverSaid) {
  // Weights are drawn, so that all tokens are about as likely.
  GenerationConfig config = {.n_best = 50, .sample = true};
  config.max_length = 20;
  const Translations all = translate(*model_, *words_, {"😀 zzz"}, config)[0];
  ASSERT_EQ(all.found.size(), 50u);
  for (const Translation& t : all.found)
    EXPECT_EQ(t.text.find(words_->piece(words_->special().unk)), std::string::npos) << t.text;
}

TEST(KnownLetters, AreNoBytes) {
  const auto trained = [](bool bytes) {
    return SentencePiece::train(
        [given = false](std::string& text) mutable {
          text = "One two three four five six seven eight nine ten.";
          return !std::exchange(given, true);
        },
        {.vocabulary = bytes ? 290 : 35, .byte_fallback = bytes});
  };
  for (const bool bytes : {false, true}) {
    const SentencePiece pieces = trained(bytes);
    const auto knows = [&](const std::string& text) { return knows_a_letter(pieces, text, pieces.encode(text)); };
    EXPECT_FALSE(knows("これは 12 日."));
    EXPECT_FALSE(knows("12 ?!"));
    EXPECT_TRUE(knows("これは t 12."));
  }
  const Bytes bytes;
  EXPECT_TRUE(knows_a_letter(bytes, "これ", bytes.encode("これ"))) << "of a model that reads nothing else";
}

TEST_F(TranslatePieces, WithoutAKnownLetterStayAsTheyAreIfWanted) {
  GenerationConfig config = {.beam_size = 2, .n_best = 2, .min_length = 3, .max_length = 6};
  const auto usual = translate(*model_, *words_, {"One two three.", "Four five six."}, config);
  config.keep_wordless = true;
  config.piece_tokens = 5;
  const std::vector<std::string> texts = {"😀 👍 ...", "One two three.", " 日本語  12 . ",
                                          "One two three. 😀 😀 😀 😀 . Four five six."};
  std::vector<size_t> order;
  const auto found =
      translate(*model_, *words_, texts, config,
                {.attention = true, .on_result = [&](size_t i, const Translations&) { order.push_back(i); }});
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(found[0].found[0].text, texts[0]);
  EXPECT_EQ(found[1].found[0].text, usual[0].found[0].text);
  EXPECT_EQ(found[2].found[0].text, "日本語  12 .");
  EXPECT_EQ(found[3].found.at(1).text, usual[0].found[1].text + " 😀 😀 😀 😀 . " + usual[1].found[1].text);
  // Each token is made from itself.
  const Translation& kept = found[2].found[0];
  ASSERT_EQ(kept.tokens.size(), found[2].source.size());
  for (size_t i = 0; i < kept.tokens.size(); ++i)
    EXPECT_EQ(piece_of(kept.text, kept.tokens[i]), piece_of(texts[2], found[2].source[i]));
  EXPECT_EQ(kept.attention.values<double>(), (std::vector<double>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}));
  // A prefix has to be gone on from.
  EXPECT_NE(translate(*model_, *words_, {"😀"}, config, {.prefix = "One"})[0].found[0].text, "😀");
}

}  // namespace
}  // namespace fovea
