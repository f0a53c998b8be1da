// A sentence as a model is to read it, and its translation as people are to read it: what is not to be translated comes through,
// numbers and places have the target's form, capitals stay capitals.
//
//   CarefulSentence s("Write to a@b.org!", {.tokenizer = tokenizer, .from = "en", .to = "de", .carriers = …});
//   s.text();                                          // "Write to Boston!"
//   s.restored(found, found_tokens)->text;             // "Schreibe an a@b.org!"; nothing if Boston was lost
//
// Addresses, codes and their like are carried: a word stands for each that the model is known to carry over. Numbers and places are
// first left to the model, and carried if it loses them; so are words that it began to copy and did not end. Emoji and marks of HTML
// and Markdown are taken out and put back behind or around the words that were made from those beside them. What is lost is tried
// again with other carriers.
#pragma once

#include <optional>

#include "fovea/data/text/edited_text.h"
#include "fovea/data/text/kept_text.h"
#include "fovea/generate/carriers.h"
#include "fovea/generate/tidy_words.h"
#include "fovea/generate/translate.h"

namespace fovea {

class CarefulSentence final {
 public:
  struct Manner {
    const Tokenizer& tokenizer;
    std::string_view from, to;  // languages
    const std::vector<Carrier>& carriers;
  };
  CarefulSentence(std::string_view sentence, const Manner&);

  const std::string& text() const { return edited_.text(); }
  bool needs_attention() const { return !asides_.empty() || !tidied_.emphasised.empty() || looks_closer_; }
  std::vector<Span> original(const std::vector<Span>& tokens) const { return edited_.original(tokens); }

  // `tokens` are those of text(), its end included.
  std::optional<Translation> restored(const Translation&, const std::vector<Span>& tokens) const;
  bool next_attempt();  // false: there is none
  // Whether it is to be translated once more, since a word of this translation may be the copy of one that broke off: with attention,
  // which tells; if it is, the whole word is carried.
  bool mends(const Translation&);
  std::vector<Span> pieces() const;  // what stands by itself if all attempts have failed, and what stands between

 private:
  struct Item {
    Carrier::Kind kind;
    Span span;
    std::string text;                   // what is to stand in the translation
    std::vector<std::string> accepted;  // or one of these
    std::string plain = {};             // in digits, for an attempt; "": no other
    bool broken = false;                // the model knows it so little that it does not even copy it
    const Carrier* carrier = nullptr;
    bool has_form() const { return kind >= Carrier::number; }  // its form in the target is known
  };
  struct Attempt {
    bool names, forms;   // carried
    size_t turn;         // which carriers come first
    bool anyhow;         // forms may be lost
    bool plain = false;  // words for numbers are digits
  };

  void find_items();
  bool prepare();  // of the present attempt; false: there are not enough carriers
  bool assign(Item&, std::vector<const Carrier*>& used, size_t& number) const;
  bool can_carry(Carrier::Kind) const;
  Edit without(const KeptText&) const;
  std::optional<std::vector<Edit>> carried_back(const std::string& found) const;
  bool put_back_asides(const Translation&, const std::vector<Span>& tokens, std::vector<Edit>& edits) const;
  void set_capitals(Translation&, const std::vector<Span>& tokens, const std::vector<Edit>& carried) const;

  std::string sentence_;
  Manner manner_;
  std::vector<Item> items_;        // in order
  std::vector<KeptText> asides_;   // in order
  std::vector<Attempt> attempts_;  // the last is the first to be made
  Tidied tidied_;
  EditedText edited_;
  bool looks_closer_ = false, mended_ = false;
};

}  // namespace fovea
