// The part of a tokenizer that knows the vocabulary: it cuts what the pre-tokenizer left whole. The kinds, one file each:
// bpe.h, wordpiece.h, unigram.h, word_level.h.
//
//   std::vector<Cut> cuts;
//   model.cut("lower", cuts);                          // adds {id, [begin, end) of the word}
#pragma once

#include "fovea/data/text/pretrained/vocabulary.h"

namespace fovea {

struct Cut {
  int32_t id = 0;
  uint32_t begin = 0, end = 0;  // bytes of the word
};

class SubwordModel {
 public:
  virtual ~SubwordModel() = default;
  virtual std::string_view kind() const = 0;
  virtual const Vocabulary& vocabulary() const = 0;
  virtual int64_t unknown() const = 0;                                        // the id for what has none, or −1
  virtual void cut(std::string_view word, std::vector<Cut>& cuts) const = 0;  // of a valid text
  virtual bool worth_keeping() const { return true; }  // whether it takes longer than to look the word up
};

}  // namespace fovea
