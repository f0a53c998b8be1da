// WordPiece (Schuster and Nakajima 2012), as BERT cuts words: the longest piece of the vocabulary that begins the word, then
// the longest that goes on, written with "##" before it; a word that cannot be cut so to its end is unknown as a whole.
//
//   WordPiece model(Vocabulary(pieces, "vocab.txt"), {.unknown = "[UNK]"});
#pragma once

#include "fovea/data/text/pretrained/subword_model.h"

namespace fovea {

class WordPiece final : public SubwordModel {
 public:
  struct Options {
    std::string unknown = "[UNK]", prefix = "##";
    int64_t longest_word = 100;  // characters; longer ones are unknown
  };
  WordPiece(Vocabulary vocabulary, const Options& options);

  std::string_view kind() const override { return "wordpiece"; }
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  int64_t unknown() const override { return unknown_; }
  void cut(std::string_view word, std::vector<Cut>& cuts) const override;
  bool worth_keeping() const override { return false; }

 private:
  bool cut_all(std::string_view word, std::vector<Cut>& cuts) const;

  Vocabulary vocabulary_;
  Trie beginnings_, rests_;
  int64_t unknown_, longest_word_;
};

}  // namespace fovea
