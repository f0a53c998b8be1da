// What stands around a text: the special tokens that a model was trained to see there, and which spaces belong to a token.
//
//   PostProcessor p = bert_processor({.cls = 101, .sep = 102});
//   Tokens framed = p.frame(tokens, nullptr);          // [CLS] tokens [SEP]
#pragma once

#include "fovea/data/text/tokenizer.h"

namespace fovea {

struct PostProcessor {
  struct Item {
    int text = 0;                   // 0: the first text, 1: the second, −1: the ids
    std::vector<int64_t> ids = {};  // special tokens
    int64_t type = 0;
  };
  std::vector<Item> single, pair;  // empty: the texts as they are
  bool trim_offsets = false;       // a token's bytes are those without the white space at its ends
  bool add_prefix_space = false;   // but a space that was added before the text is none of them

  bool adds() const { return !single.empty() || !pair.empty(); }
  Tokens frame(const Tokens& text, const Tokens* second) const;
};

struct FrameIds {
  int64_t cls = -1, sep = -1;
};
PostProcessor bert_processor(FrameIds ids);     // [CLS] A [SEP] B [SEP], types 0 0 0 1 1
PostProcessor roberta_processor(FrameIds ids);  // <s> A </s> </s> B </s>, all of type 0

}  // namespace fovea
