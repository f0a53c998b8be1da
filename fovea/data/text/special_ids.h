// Ids with a meaning of their own, in vocabularies and in models.
#pragma once

#include <cstdint>

namespace fovea {

// −1: the vocabulary has none. Tokenizers that are trained here have these four as their first ids.
struct SpecialIds {
  int64_t pad = 0;
  int64_t bos = 1;  // stands before the first token of every target
  int64_t eos = 2;  // stands after the last
  int64_t unk = 3;
  int64_t mask = -1;  // stands for a word that is to be filled in
  static constexpr int64_t count = 4;
};

}  // namespace fovea
