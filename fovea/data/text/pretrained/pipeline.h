// The tokenizer of a pretrained model, put together from parts: added tokens are found first; what lies between is
// normalised, cut into words, and these into pieces by the model of the vocabulary.
//
//   Pipeline t({.pre_tokenizer = byte_level_pre_tokenizer({}), .model = std::make_shared<Bpe>(…),
//               .decoder = byte_level_decoder()});
//   Tokens tokens = t.encode("Hello world");
#pragma once

#include <map>

#include "fovea/base/file.h"
#include "fovea/data/text/pretrained/added_tokens.h"
#include "fovea/data/text/pretrained/bpe.h"
#include "fovea/data/text/pretrained/decoder.h"
#include "fovea/data/text/pretrained/normalizer.h"
#include "fovea/data/text/pretrained/post_processor.h"
#include "fovea/data/text/pretrained/pre_tokenizer.h"
#include "fovea/data/text/pretrained/word_cache.h"
#include "fovea/data/text/tokenizer.h"

namespace fovea {

struct PipelineParts {
  NormalizerPointer normalizer = nullptr;       // nullptr: the text as it is
  PreTokenizerPointer pre_tokenizer = nullptr;  // nullptr: the whole text is one word
  std::shared_ptr<const SubwordModel> model;
  std::vector<AddedToken> added = {};  // each with its id
  PostProcessor post_processor = {};
  DecoderPointer decoder = nullptr;  // nullptr: pieces with spaces between
  SpecialIds special = {-1, -1, -1, -1, -1};
  std::map<std::string, MappedFile> files = {};   // what save() writes: names and bytes
  std::map<std::string, std::string> texts = {};  // the same of a tokenizer that was learned here
  std::string where = "tokenizer";
};

class Pipeline final : public Tokenizer {
 public:
  explicit Pipeline(PipelineParts parts);

  std::string_view kind() const override { return parts_.model->kind(); }
  int64_t size() const override { return size_; }
  const SpecialIds& special() const override { return parts_.special; }
  std::string piece(int64_t id) const override;
  int64_t id_of(std::string_view piece) const override;
  Tokens encode(std::string_view text) const override;
  std::string decode(std::span<const int64_t> ids) const override;
  void save(const std::filesystem::path& folder) const override;
  Tokens frame(const Tokens& text, const Tokens* second = nullptr) const override;
  bool frames() const override { return parts_.post_processor.adds(); }

 private:
  struct Work;
  struct Blanks {
    uint8_t before = 0, behind = 0;  // white space at the ends of a piece, in characters
  };
  void number_added_tokens();
  void encode_part(std::string_view text, uint32_t begin, Work& work) const;
  void encode_words(AlignedText& text, Work& work) const;
  void trim(std::string_view text, size_t number, Blanks blanks, Span& span) const;
  static Blanks blanks_of(std::string_view piece);

  PipelineParts parts_;
  AddedTokens added_;
  std::map<int64_t, std::string> added_pieces_;  // by id
  std::map<int64_t, std::string> decoded_;       // the same, normalised where they are looked for so
  TextIds added_ids_;
  std::vector<bool> left_out_;  // of decoding
  std::vector<Blanks> blanks_;  // if they are trimmed
  const Bpe* bytes_ = nullptr;  // the model, if it takes the bytes of words as they are
  int64_t size_ = 0;
  WordCaches caches_;
};

}  // namespace fovea
