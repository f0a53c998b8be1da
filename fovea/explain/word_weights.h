// Weights between words: each row is a word that looks, each column one that is looked at.
//
//   for (size_t j = 0; j < w.columns.size(); ++j) fmt::print("{} {:.2f}\n", w.columns[j], w.at(0, j));
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fovea {

struct WordWeights {
  std::vector<std::string> rows, columns;
  std::vector<double> weights;  // row by row

  double at(size_t row, size_t column) const { return weights[row * columns.size() + column]; }
};

}  // namespace fovea
