// Masked words (Devlin et al. 2019): of a row's tokens 15 % are to be guessed. Of these 80 % are read as the mask, 10 % as any other
// token, 10 % as they are.
//
//   const MaskingRules rules = {.mask = 4, .vocabulary = 8000, .kept = {0, 2, 3}};
//   const MaskedRow row = mask_tokens(ids, rules, random);        // row.ids[row.places[i]] stands for row.wanted[i]
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/base/random.h"

namespace fovea {

struct MaskingRules {
  int64_t mask = -1, vocabulary = 0;
  std::vector<int64_t> kept = {};  // tokens that are never to be guessed: those around a text, and padding
  double share = 0.15, masked = 0.8, replaced = 0.1;
};

struct MaskedRow {
  std::vector<int64_t> ids, places, wanted;
};

int64_t masked_count(std::span<const int64_t> ids, const MaskingRules&);  // at least 1 if there is a token to guess
MaskedRow mask_tokens(std::span<const int64_t> ids, const MaskingRules&, const Random&);

}  // namespace fovea
