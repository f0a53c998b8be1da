// What is done to a text before it is cut: Unicode's normal forms, lower case, marks taken off, characters replaced. Each kind
// is one of tokenizer.json's normalizers, under its name there.
//
//   auto normalizer = sequence_of({nfc_normalizer(), lowercase_normalizer()});
//   AlignedText text("É", 0);
//   normalizer->apply(text);                           // "é", whose bytes came from bytes [0, 2)
#pragma once

#include <memory>

#include "fovea/data/text/pretrained/aligned_text.h"
#include "fovea/data/text/pretrained/regex.h"

namespace fovea {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(Characters& characters) const = 0;

  // A text of ASCII that stays as long as it was is changed byte by byte. False: it would not, or nobody knows.
  virtual bool apply_to_ascii(std::string&) const { return false; }

  void apply(AlignedText& text) const;
};
using NormalizerPointer = std::shared_ptr<const Normalizer>;

enum class NormalForm { nfc, nfd, nfkc, nfkd };

struct BertNormalizerOptions {
  bool clean_text = true, chinese_characters = true, strip_accents = true, lower_case = true;
};

NormalizerPointer sequence_of(std::vector<NormalizerPointer> normalizers);
NormalizerPointer bert_normalizer(const BertNormalizerOptions& options);
NormalizerPointer unicode_normalizer(NormalForm form);
NormalizerPointer lowercase_normalizer();
NormalizerPointer strip_accents_normalizer();
NormalizerPointer strip_normalizer(bool left, bool right);
NormalizerPointer replace_normalizer(Regex pattern, std::string_view content);
NormalizerPointer prepend_normalizer(std::string_view text);
NormalizerPointer nmt_normalizer();
NormalizerPointer byte_level_normalizer();
NormalizerPointer precompiled_normalizer(std::string table, std::string_view where);  // of SentencePiece's models

// A match of the pattern becomes `content`, whose origin is the last character of the match.
void replace_matches(Characters& characters, const Regex& pattern, const Characters& content);
void to_normal_form(Characters& characters, NormalForm form);
void to_lower_case(Characters& characters);
void to_byte_characters(Characters& characters);  // each byte's character_of_byte

}  // namespace fovea
