// Models that can copy tokens of their source into what they write, also words that the vocabulary lacks.
//
//   p = σ(gate)      P(v) = p · vocabulary(v) + (1 − p) · Σ a[j] over the source's tokens j that are v     (See, Liu and Manning 2017)
//
// A source of such a model may have ids from the vocabulary's size on: words that the vocabulary lacks, numbered one after another in
// each row (data/text/unknown_words.h). They are read as the unknown one, and written, and given back, as themselves.
#pragma once

#include "fovea/models/abilities.h"

namespace fovea {

class Copier {
 public:
  virtual bool copies() const = 0;

 protected:
  ~Copier() = default;
};

bool copies(const Generator&);

// An Error if a config with a pointer has two vocabularies, or no id for what is unknown.
struct CopyingIds {
  int64_t vocabulary = 0, source_vocabulary = 0, unknown = 0;
};
void check_copying(std::string_view model, bool pointer, const CopyingIds&);

// Where a trace that names it finds (1 − p) a, [batch, 1, queries, tokens], of a model that copies.
inline constexpr const char* copied_place = "decoder.copied";

Tensor readable_ids(const Tensor& ids, int64_t vocabulary, int64_t unknown);  // those behind the vocabulary are unknown
Tensor ids_to_copy(const Source&);                                            // −1 beyond a row's length
Tensor joined_ids(const Tensor& ids, const Tensor& behind);                   // rows of ids_to_copy() behind others

// log P, with the ids of rows that may be longer than the weights; the context is the decoder's.
Tensor with_copies(const Tensor& logits, const Tensor& gate, const Tensor& weights, const Tensor& ids, const Context&);

}  // namespace fovea
