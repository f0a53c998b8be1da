#include "fovea/explain/shown_pieces.h"

#include <gtest/gtest.h>

#include "fovea/base/text.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"

namespace fovea {
namespace {

TEST(ShownPieces, AreWhatAByteLevelVocabularyMeansNotHowItSpellsIt) {
  const Pretrained plays = load_pretrained(find_model("plays")), en_de = load_pretrained(find_model("en-de"));
  const Tokenizer& bytes = *plays.tokenizer;
  EXPECT_EQ(shown_piece(bytes, bytes.encode("\n").ids.at(0)), "⏎");
  EXPECT_EQ(shown_piece(bytes, bytes.encode(" the").ids.at(0)), "the");
  for (int64_t id = 0; id < bytes.size(); ++id)
    EXPECT_EQ(invalid_utf8(shown_piece(bytes, id)), std::string_view::npos) << id;
  const Tokenizer& pieces = *en_de.tokenizer;
  for (const char* word : {"für", "the"}) {
    const std::vector<int64_t> ids = pieces.encode(word).ids;
    if (ids.size() == 1) {
      EXPECT_EQ(shown_piece(pieces, ids[0]), word);
    }
  }
}

}  // namespace
}  // namespace fovea
