#include "fovea/nn/embedding.h"

#include <cmath>

namespace fovea {

// Vectors of length about 1, so that the tied output begins with logits of variance 1.
Embedding::Embedding(const Config& c) : padding_(c.padding) {
  require(c.entries > 0 && c.width > 0, "Embedding: found {} entries of width {}, expected at least 1 of each",
          c.entries, c.width);
  require(-1 <= c.padding && c.padding < c.entries, "Embedding: found padding {}, expected −1 to {}", c.padding,
          c.entries - 1);
  init_ = {.kind = Init::normal, .scale = 1 / std::sqrt(static_cast<double>(c.width)), .zero_row = c.padding};
  weight_ = Weight({c.entries, c.width}, c.output ? Weight::Use::product : Weight::Use::table);
}

Tensor Embedding::operator()(const Tensor& ids) const { return rows(weight_, ids, padding_); }

Tensor Embedding::as_output(const Tensor& x) const { return linear(x, weight_); }

}  // namespace fovea
