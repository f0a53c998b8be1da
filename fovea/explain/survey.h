// A look at all heads of a model over a few texts: those of a file, or some that stand here.
//
//   const std::vector<TextPair> texts = read_text_pairs("pairs.tsv");             // or sample_texts("en")
//   const std::vector<HeadMeasure> heads = measure_heads(model, texts);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/explain/head_measures.h"
#include "fovea/models/pretrained.h"

namespace fovea {

struct TextPair {
  std::string source;
  std::string target = {};  // its translation; empty: whatever the model makes of it
};

// A text a line, with its translation behind a tab if there is one; empty lines and further columns are passed over.
std::vector<TextPair> read_text_pairs(const std::string& path);

// Sentences of everyday English, or German ("de").
std::vector<TextPair> sample_texts(std::string_view language);

// What the model does with it: told the target, if there is one and the model translates.
Recording record_text_pair(const Pretrained&, const TextPair&, const RecordOptions&);

// Over all texts, and over random tokens that come twice.
std::vector<HeadMeasure> measure_heads(const Pretrained&, const std::vector<TextPair>&,
                                       HeadMeasures::KnownLinks known = {}, const RecordOptions& = {});

}  // namespace fovea
