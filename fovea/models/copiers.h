// For tests: small models that copy, those that PyTorch computed (tests/golden/make_pointer.py), and sources with words outside of
// the vocabulary.
#pragma once

#include "fovea/formats/safetensors.h"
#include "fovea/models/copying.h"
#include "fovea/models/families/seq2seq.h"
#include "fovea/models/families/transformer.h"
#include "fovea/models/sentences.h"
#include "fovea/models/variants.h"
#include "test_paths.h"

namespace fovea {

inline const SafeTensors& pointer_file() {
  static const SafeTensors file(std::filesystem::path(test_data) / "golden" / "pointer.safetensors");
  return file;
}

inline Transformer::Config golden_transformer(const std::string& norm) {
  return {.vocabulary = 11,
          .encoder_layers = 2,
          .decoder_layers = 2,
          .pointer = true,
          .stack = {.width = 8, .heads = 2, .hidden = 12, .norm = norm, .dropout = 0}};
}

inline Seq2Seq::Config golden_recurrent(const std::string& order, bool coverage) {
  const bool bahdanau = order == "bahdanau";
  const int64_t layers = bahdanau || coverage ? 1 : 2;
  return {.vocabulary = 11,
          .cell = bahdanau ? "lstm" : "gru",
          .embedding = 4,
          .encoder_width = 3,
          .encoder_layers = layers,
          .decoder_width = 5,
          .decoder_layers = layers,
          .attention = bahdanau ? "additive" : "general",
          .attention_width = 7,
          .order = order,
          .coverage = coverage,
          .coverage_loss = coverage ? 0.7 : 0,
          .pointer = true};
}

inline std::vector<Variant> copiers() {
  std::vector<Variant> all = writers();
  std::erase_if(all, [](const Variant& v) { return !copies(as<Generator>(*v.shaped())); });
  return all;
}

// Row 0 has two words outside of the vocabulary of 11, row 2 four, the others none.
struct StrangeSentences : Sentences {
  StrangeSentences() {
    int64_t* ids = source.ids.data<int64_t>();
    ids[1] = ids[4] = 11, ids[5] = 12;
    for (int64_t i = 0; i < 4; ++i) ids[2 * 17 + 3 * i] = 11 + i;
    ids[17 + 3] = 1000;  // beyond the length of row 1: never looked at
    inputs.data<int64_t>()[3] = 12, inputs.data<int64_t>()[2 * 19 + 2] = 14;
  }
  static int64_t width(int64_t row) { return row == 0 ? 13 : row == 2 ? 15 : 11; }
};

}  // namespace fovea
