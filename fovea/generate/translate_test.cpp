#include "fovea/generate/translate.h"

#include <gtest/gtest.h>

#include "fovea/data/text/bytes.h"
#include "fovea/data/text/words.h"
#include "fovea/models/families/transformer.h"

namespace fovea {
namespace {

using Pieces = std::vector<std::pair<size_t, size_t>>;

Pieces cut(const std::string& text, int64_t most) { return pieces_of(text, split_words(text), most); }

TEST(PiecesOf, CutBehindSentencesThenBetweenWords) {
  EXPECT_EQ(cut("Aa bb cc.", 0), (Pieces{{0, 4}}));
  EXPECT_EQ(cut("Aa bb cc.", 4), (Pieces{{0, 4}}));
  // "Aa bb ." | "Cc dd !" | "Ee": three tokens a sentence.
  EXPECT_EQ(cut("Aa bb. Cc dd! Ee", 4), (Pieces{{0, 3}, {3, 7}}));
  EXPECT_EQ(cut("Aa bb. Cc dd! Ee", 3), (Pieces{{0, 3}, {3, 6}, {6, 7}}));
  EXPECT_EQ(cut("Aa bb. Cc dd! Ee", 6), (Pieces{{0, 6}, {6, 7}}));
  // A sentence that is too long by itself is cut between words, a full stop stays with its word.
  EXPECT_EQ(cut("Aa bb cc dd ee ff.", 3), (Pieces{{0, 3}, {3, 5}, {5, 7}}));
  EXPECT_EQ(cut("", 3), (Pieces{{0, 0}}));
}

TEST(PiecesOf, AWordThatIsTooLongIsCutAnywhere) {
  const std::string text(10, 'x');
  const Bytes bytes;
  EXPECT_EQ(pieces_of(text, bytes.encode(text).spans, 4), (Pieces{{0, 4}, {4, 8}, {8, 10}}));
}

TEST(PiecesOf, QuotesStayWithTheirSentence) { EXPECT_EQ(cut("“Aa bb!” Cc dd ee", 6), (Pieces{{0, 5}, {5, 8}})); }

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

TEST_F(TranslatePieces, NothingUnknownIsEverSaid) {
  // Weights are drawn, so that all tokens are about as likely.
  GenerationConfig config = {.n_best = 50, .sample = true};
  config.max_length = 20;
  const Translations all = translate(*model_, *words_, {"😀 zzz"}, config)[0];
  ASSERT_EQ(all.found.size(), 50u);
  for (const Translation& t : all.found)
    EXPECT_EQ(t.text.find(words_->piece(words_->special().unk)), std::string::npos) << t.text;
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
