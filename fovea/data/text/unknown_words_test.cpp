#include "fovea/data/text/unknown_words.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/data/text/sentencepiece.h"
#include "fovea/data/text/words.h"

namespace fovea {
namespace {

TextSource once(std::vector<std::string> lines) {
  return [lines = std::move(lines), at = size_t{0}](std::string& text) mutable {
    if (at == lines.size()) return false;
    text = lines[at++];
    return true;
  };
}

TEST(UnknownWords, AreNumberedBehindTheVocabularyAndComeOutAsTheSourceSpellsThem) {
  const Words t = Words::train(once({"a met b in c ."}), {});
  UnknownWords words(t);
  const std::string source = "Zoë met Xu in Zoë .", target = "Xu met Zoë in Paris .";
  const int64_t n = t.size(), met = t.id_of("met"), in = t.id_of("in"), stop = t.id_of(".");
  EXPECT_EQ(words.add(source, t.encode(source)), (std::vector<int64_t>{n, met, n + 1, in, n, stop}));
  EXPECT_EQ(words.size(), 2u);
  const std::vector<int64_t> found = words.find(target, t.encode(target));
  EXPECT_EQ(found, (std::vector<int64_t>{n + 1, met, n, in, t.special().unk, stop}));
  const DecodedText d = words.decode({n + 1, met, n, stop});
  EXPECT_EQ(d.text, "Xu met Zoë .");
  EXPECT_EQ(piece_of(d.text, d.spans[2]), "Zoë");
  EXPECT_EQ(words.decode({met, in}).text, "met in");
  EXPECT_THROW(words.decode({n + 2}), Error);
}

TEST(UnknownWords, CharactersThatSubwordsLackKeepTheBlanksAroundThem) {
  const SentencePiece t = SentencePiece::train(once({"see you at home", "the home team", "you see the cat"}),
                                               {.vocabulary = 30, .byte_fallback = false});
  UnknownWords words(t);
  const std::string source = "see 漢字 at home☂ the ☂cat";
  const std::vector<int64_t> ids = words.add(source, t.encode(source));
  EXPECT_EQ(words.size(), 2u);
  EXPECT_EQ(words.decode(ids).text, source);
}

}  // namespace
}  // namespace fovea
