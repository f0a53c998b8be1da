// The unigram language model (Kudo 2018): of all ways to cut a text into pieces, the one with the greatest sum of log
// probabilities (Viterbi). A character without a piece costs ten more than the least probable piece; neighbours of that kind
// are one unknown token, or the pieces of their bytes.
//
//   Unigram model(Vocabulary(pieces, "here"), scores, {.unknown = 0});
#pragma once

#include "fovea/data/text/pretrained/subword_model.h"

namespace fovea {

class Unigram final : public SubwordModel {
 public:
  struct Options {
    int64_t unknown = -1;
    bool byte_fallback = false;
  };
  Unigram(Vocabulary vocabulary, std::vector<double> scores, const Options& options);

  std::string_view kind() const override { return "unigram"; }
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  int64_t unknown() const override { return options_.unknown; }
  void cut(std::string_view word, std::vector<Cut>& cuts) const override;

 private:
  void add_unknown(std::string_view word, uint32_t begin, uint32_t end, std::vector<Cut>& cuts) const;

  Vocabulary vocabulary_;
  std::vector<double> scores_;
  Options options_;
  Trie trie_;
  std::vector<int64_t> bytes_;  // the ids of <0x00> … <0xFF>; −1: none
  double unknown_score_ = 0;
};

std::vector<int64_t> byte_pieces(const Vocabulary& vocabulary);  // the ids of <0x00> … <0xFF>; −1: none

}  // namespace fovea
