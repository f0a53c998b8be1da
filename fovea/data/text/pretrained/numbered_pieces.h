// SentencePiece models of others, whose ids are not always the model's own: fairseq's are one higher with other special ones
// (XLM-R, mBART), Marian's stand in a vocab.json, T5 adds <extra_id_…>.
//
//   std::unique_ptr<Tokenizer> t = load_sentencepiece_model("t5/spiece.model");
//   std::unique_ptr<Tokenizer> m = load_marian("opus-mt-en-fr");   // source.spm, target.spm, vocab.json
#pragma once

#include <map>

#include "fovea/base/file.h"
#include "fovea/data/text/pretrained/added_tokens.h"
#include "fovea/data/text/pretrained/post_processor.h"
#include "fovea/data/text/pretrained/sentencepiece_unigram.h"
#include "fovea/data/text/sentencepiece.h"

namespace fovea {

// What a tokenizer_config.json beside the model says of special tokens and ids is honoured.
std::unique_ptr<Tokenizer> load_sentencepiece_model(const std::filesystem::path& file);
std::unique_ptr<Tokenizer> load_marian(const std::filesystem::path& folder);

class NumberedPieces final : public Tokenizer {
 public:
  struct Parts {
    std::shared_ptr<const SentencePiece> source, target;         // what cuts, and what joins
    std::shared_ptr<const SentencePieceUnigram> fast = nullptr;  // cuts as the source does, if there is one
    std::vector<std::string> pieces;                             // by id; empty: as the source has them
    std::vector<AddedToken> added = {};
    PostProcessor post_processor = {};
    SpecialIds special = {-1, -1, -1, -1, -1};
    bool language_codes = false;  // ">>fr<<" before a text is a piece
    std::map<std::string, MappedFile> files = {};
    std::string where;
  };
  explicit NumberedPieces(Parts parts);

  std::string_view kind() const override { return parts_.source->kind(); }
  int64_t size() const override { return vocabulary_.size(); }
  const SpecialIds& special() const override { return parts_.special; }
  std::string piece(int64_t id) const override;
  int64_t id_of(std::string_view piece) const override;
  Tokens encode(std::string_view text) const override;
  std::string decode(std::span<const int64_t> ids) const override;
  void save(const std::filesystem::path& folder) const override;
  Tokens frame(const Tokens& text, const Tokens* second = nullptr) const override;
  bool frames() const override { return parts_.post_processor.adds(); }

 private:
  Parts parts_;
  Vocabulary vocabulary_;
  AddedTokens added_;
  std::vector<int64_t> ids_;  // of the source's pieces
  std::vector<bool> left_out_;
};

}  // namespace fovea
