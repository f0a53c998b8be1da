#include "fovea/data/text/pretrained/learn_wordpiece.h"

#include <set>

#include "fovea/base/error.h"
#include "fovea/data/text/pretrained/normalizer.h"
#include "fovea/data/text/pretrained/pre_tokenizer.h"
#include "fovea/data/text/pretrained/vocabulary_files.h"
#include "fovea/data/text/sentencepiece.h"

namespace fovea {
namespace {

constexpr std::string_view space_mark = "\u2581";

// "Don't!" → "don ' t !"
std::string cut_as_bert_does(const std::string& text, const Normalizer& normalizer, const PreTokenizer& cutter) {
  AlignedText normal(text, 0);
  normalizer.apply(normal);
  PreTokens words(normal);
  cutter.apply(words);
  std::string spaced;
  for (const PreTokens::Piece& piece : words.pieces) {
    if (piece.begin == piece.end) continue;
    if (!spaced.empty()) spaced += ' ';
    spaced += normal.text().substr(piece.begin, piece.end - piece.begin);
  }
  return spaced;
}

// "\u2581the" begins a word, "ing" goes on.
std::string as_wordpiece(std::string_view piece) {
  if (piece.starts_with(space_mark)) return std::string(piece.substr(space_mark.size()));
  return "##" + std::string(piece);
}

}  // namespace

std::unique_ptr<Tokenizer> learn_wordpiece(const TextSource& texts, const WordPieceLearning& o) {
  const NormalizerPointer normalizer = bert_normalizer({.strip_accents = o.lower_case, .lower_case = o.lower_case});
  const PreTokenizerPointer cutter = bert_pre_tokenizer();
  std::set<std::string> characters;
  const auto cut = [&](std::string& text) {
    if (!texts(text)) return false;
    check_utf8(text, "training text");
    text = cut_as_bert_does(text, *normalizer, *cutter);
    for (const Character& c : AlignedText(text, 0).characters(0, text.size())) {
      std::string one;
      append_utf8(one, c.value);
      if (one != " ") characters.insert(one);
    }
    return true;
  };
  const SentencePiece learned = SentencePiece::train(cut, {.model = SentencePiece::Model::bpe,
                                                           .vocabulary = o.vocabulary,
                                                           .normalization = SentencePiece::Normalization::none});
  std::vector<std::string> pieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  std::set<std::string> known;
  const auto add = [&](const std::string& piece) {
    if (static_cast<int64_t>(pieces.size()) < o.vocabulary && known.insert(piece).second) pieces.push_back(piece);
  };
  for (const std::string& c : characters) add(c);
  for (const std::string& c : characters) add("##" + c);
  for (int64_t id = SpecialIds::count; id < learned.size(); ++id)
    if (learned.piece(id) != space_mark) add(as_wordpiece(learned.piece(id)));
  return wordpiece_tokenizer(pieces, o.lower_case);
}

}  // namespace fovea
