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
    std::vector<bool> hidden = {};  // pieces that are never found in a text; none: all are found
  };
  Unigram(Vocabulary vocabulary, std::vector<double> scores, const Options& options);

  std::string_view kind() const override { return "unigram"; }
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  int64_t unknown() const override { return options_.unknown; }
  void cut(std::string_view word, std::vector<Cut>& cuts) const override;

  // The same on top of the sum of what stands before, in floats, as SentencePiece adds them.
  template <class Score>
  struct Sum {
    Score score = 0;     // behind the word
    bool close = false;  // another sum before could have given other pieces, or there are unknown ones
  };
  Sum<float> cut_in_floats(float before, std::string_view word, std::vector<Cut>& cuts) const;
  float score(int64_t id) const { return static_cast<float>(scores_[static_cast<size_t>(id)]); }

 private:
  template <class Score>
  Sum<Score> cut_behind(Score before, std::string_view word, std::vector<Cut>& cuts) const;
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
