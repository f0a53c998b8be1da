// A vocabulary of whole words by frequency, and of the characters in them (as taggers want both: Ma and Hovy 2016).
//
//   Words t = Words::train(lines_of({"text.txt"}), {.vocabulary = 20000});
//   Tokens tokens = t.encode("Dr. Who's here.");       // Dr. | Who | 's | here | .
//   std::vector<int64_t> letters = t.characters("here");
//
// A text is cut at white space; punctuation at the ends of what lies between is cut off, a mark each ("..." and "--" stay
// whole); so are the endings 's 'm 'd 're 've 'll n't, as in the Penn Treebank. A full stop stays on an abbreviation: after
// a single letter, where another one stands inside ("U.S."), or after a title ("Dr."). @name and #topic are one word.
// The vocabularies hold NFKC: a ligature or a full-width letter is the letters it stands for.
#pragma once

#include <unordered_map>

#include "fovea/data/text/tokenizer.h"

namespace fovea {

std::vector<Span> split_words(std::string_view text);

class Words final : public Tokenizer {
 public:
  struct Options {
    int64_t vocabulary = 20000;  // words, with the special ones
    int64_t at_least = 1;        // words seen less often are unknown
    bool lower_case = false;     // "The" and "the" are one word; characters keep their case
    bool zero_digits = false;    // "1996" and "2014" are "0000"; characters keep their digits
  };

  static Words train(const TextSource& texts, const Options& options);
  // From texts that are cut into words already, as in CoNLL files.
  static Words train(const std::function<bool(std::vector<std::string>&)>& sentences, const Options& options);
  explicit Words(const std::filesystem::path& file);

  std::string_view kind() const override { return "words"; }
  int64_t size() const override { return static_cast<int64_t>(words_.size()); }
  const SpecialIds& special() const override { return special_; }
  std::string piece(int64_t id) const override;
  int64_t id_of(std::string_view word) const override;
  Tokens encode(std::string_view text) const override;
  std::string decode(std::span<const int64_t> ids) const override;  // with single spaces between
  void save(const std::filesystem::path& folder) const override;

  // The ids of a word's characters; they have a vocabulary of their own, with the same special ids.
  std::vector<int64_t> characters(std::string_view word) const;
  int64_t characters_size() const { return static_cast<int64_t>(letters_.size()); }

 private:
  struct Counts;
  Words(const Counts& counts, const Options& options);
  std::string normal(std::string_view word) const;
  void index(std::string_view where);

  Options options_;
  SpecialIds special_;
  std::vector<std::string> words_, letters_;
  std::unordered_map<std::string, int64_t> word_ids_, letter_ids_;
};

}  // namespace fovea
