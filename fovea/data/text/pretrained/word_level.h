// Whole words only.
//
//   WordLevel model(Vocabulary({"[UNK]", "the", "cat"}, "here"), "[UNK]");
#pragma once

#include "fovea/data/text/pretrained/subword_model.h"

namespace fovea {

class WordLevel final : public SubwordModel {
 public:
  WordLevel(Vocabulary vocabulary, std::string_view unknown);

  std::string_view kind() const override { return "words"; }
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  int64_t unknown() const override { return unknown_; }
  void cut(std::string_view word, std::vector<Cut>& cuts) const override;
  bool worth_keeping() const override { return false; }

 private:
  Vocabulary vocabulary_;
  int64_t unknown_;
};

}  // namespace fovea
