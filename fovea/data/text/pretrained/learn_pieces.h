// Learns the pieces of a vocabulary by joining pairs (Sennrich, Haddow and Birch 2016): of all neighbours in the words the pair that
// stands there most often becomes a piece, again and again; of several the one whose parts came first.
//
//   LearnedPieces found = learn_pieces({{"low", 5}, {"lower", 2}}, {.pieces = 300});
//   found.merges[0];                                   // {"l", "o"}
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fovea/data/text/pretrained/vocabulary.h"

namespace fovea {

struct LearnPiecesOptions {
  int64_t pieces = 0;                   // at most so many, the first ones included
  std::vector<std::string> first = {};  // pieces that are there whatever the words hold
  int64_t at_least = 2;                 // a pair that stands there less often is not joined
};

struct LearnedPieces {
  std::vector<std::string> pieces;  // the first ones, the characters in their order, what was joined
  std::vector<std::pair<std::string, std::string>> merges;
};

// The same for any order of the words, whose characters are the beginning.
LearnedPieces learn_pieces(const TextIds& counts, const LearnPiecesOptions&);

}  // namespace fovea
