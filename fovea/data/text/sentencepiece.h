// Subwords by SentencePiece (Kudo and Richardson 2018): a unigram language model (Kudo 2018) or byte pair encoding
// (Sennrich, Haddow and Birch 2016), saved as SentencePiece's own spiece.model.
//
//   SentencePiece t = SentencePiece::train(lines_of({"text.txt"}), {.vocabulary = 8000});
//   t.save("my-model");
#pragma once

#include "fovea/data/text/tokenizer.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace fovea {

class SentencePiece final : public Tokenizer {
 public:
  enum class Model { unigram, bpe };
  enum class Normalization { nfkc, nfkc_lower_case, none };
  struct Options {
    Model model = Model::unigram;
    int64_t vocabulary = 8000;  // pieces, with the special ones; fewer if the text does not have as many
    Normalization normalization = Normalization::nfkc;
    double coverage = 1;         // share of the text's characters that get a piece; the rarest others are unknown
    bool byte_fallback = false;  // an unknown character becomes the pieces of its bytes: decode gives back every text
    int64_t sentences = 2'000'000;  // at most so many are learned from, drawn evenly; bounds the memory
    uint64_t seed = 0;              // of that draw
  };

  // The same text and options give the same bytes on any machine and for any number of threads.
  static SentencePiece train(const TextSource& texts, const Options& options);
  explicit SentencePiece(const std::filesystem::path& file);
  SentencePiece(SentencePiece&&) noexcept;
  ~SentencePiece() override;

  std::string_view kind() const override;
  int64_t size() const override { return size_; }
  const SpecialIds& special() const override { return special_; }
  std::string piece(int64_t id) const override;
  int64_t id_of(std::string_view piece) const override;
  // The pieces of an unknown character's bytes all have the span of that character.
  Tokens encode(std::string_view text) const override;
  Tokens encode(std::string_view text,
                std::vector<std::string>& pieces) const;  // with what each one is spelled, known or not
  std::string decode(std::span<const int64_t> ids) const override;
  std::string decode_pieces(const std::vector<std::string>& pieces) const;  // be they in the vocabulary or not
  void save(const std::filesystem::path& folder) const override;

 private:
  SentencePiece(std::string model, std::string_view where);
  void encode_part(std::string_view text, Span part, bool joined, Tokens& into, std::vector<std::string>* pieces) const;

  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
  Model model_ = Model::unigram;
  bool space_begins_ = true;
  int64_t size_ = 0;
  SpecialIds special_;
};

}  // namespace fovea
