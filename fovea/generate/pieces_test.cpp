#include "fovea/generate/pieces.h"

#include <gtest/gtest.h>

#include "fovea/data/text/bytes.h"
#include "fovea/data/text/words.h"

namespace fovea {
namespace {

using Pieces = std::vector<std::pair<size_t, size_t>>;

Pieces cut(const std::string& text, int64_t most) { return pieces_of(text, split_words(text), {.most = most}); }

// The texts of the pieces, each sentence by itself.
std::vector<std::string> sentences(const std::string& text, int64_t most) {
  const std::vector<Span> words = split_words(text);
  std::vector<std::string> parts;
  for (auto [begin, end] : pieces_of(text, words, {.most = most, .sentences = true}))
    parts.emplace_back(piece_of(text, {words[begin].begin, words[end - 1].end}));
  return parts;
}

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

TEST(PiecesOf, AreSentencesHoweverShort) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(sentences("I went home. Then I cooked dinner.  After that I watched a film.", 40),
            (Texts{"I went home.", "Then I cooked dinner.", "After that I watched a film."}));
  EXPECT_EQ(sentences("Dr. Smith left.", 40), (Texts{"Dr. Smith left."}));
}

TEST(PiecesOf, ThePieceThatStandsForASpaceBelongsToTheWordBehindIt) {
  const std::string text = "No. Yes! ";  // "No" "." " " "Yes" "!" " "
  const std::vector<Span> tokens = {{0, 2}, {2, 3}, {3, 4}, {4, 7}, {7, 8}, {8, 9}};
  EXPECT_EQ(pieces_of(text, tokens, {.most = 40, .sentences = true}), (Pieces{{0, 2}, {2, 6}}));
  EXPECT_EQ(pieces_of(" ", {{0, 1}}, {.most = 40, .sentences = true}), (Pieces{{0, 1}}));
}

TEST(PiecesOf, OfALongSentenceAreClausesIfThatIsPossible) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(sentences("He bought bread, cheese and wine; she paid for it, because he had no money.", 10),
            (Texts{"He bought bread, cheese and wine;", "she paid for it,", "because he had no money."}));
  EXPECT_EQ(sentences("one two three four five and six seven eight nine ten", 7),
            (Texts{"one two three four five", "and six seven eight nine ten"}));
}

TEST(PiecesOf, AWordThatIsTooLongIsCutAnywhere) {
  const std::string text(10, 'x');
  const Bytes bytes;
  EXPECT_EQ(pieces_of(text, bytes.encode(text).spans, {.most = 4}), (Pieces{{0, 4}, {4, 8}, {8, 10}}));
}

TEST(PiecesOf, QuotesStayWithTheirSentence) { EXPECT_EQ(cut("“Aa bb!” Cc dd ee", 6), (Pieces{{0, 5}, {5, 8}})); }

}  // namespace
}  // namespace fovea
