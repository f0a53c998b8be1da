// What every attention head of a model looks at while the model answers a text.
//
//   const Report report = explain(*model, *tokenizer, "The cat sat on the mat.");
//   report.answer;   to_text(report);   to_svg(report.maps());          // "Die Katze …", a line and a picture for each head
//
// Rows and columns are the model's own tokens, so that each row sums to 1. In a decoder a row is named by the token that is
// being written, and the columns of its self-attention by those that are read: the start and what was written before.
#pragma once

#include <string>
#include <vector>

#include "fovea/explain/heat_map.h"
#include "fovea/explain/recording.h"

namespace fovea {

struct HeadReport {
  std::string place;  // "encoder.0.self", "decoder.2.cross", "pooling" …
  int64_t head = 0;
  std::vector<std::string> rows, columns;
  std::vector<double> weights;  // row by row
  Place::Kind kind = Place::Kind::self;
  bool causal = false;

  double at(size_t row, size_t column) const { return weights[row * columns.size() + column]; }
};

// One token that was written, or read by a language model, and what might have stood there.
struct WrittenToken {
  std::string piece;
  double probability = 0;  // NaN: nobody knows
  std::vector<Alternative> alternatives;
};

struct Report {
  std::string text, answer;  // the translation; the text with its entities; the label and its probability
  std::vector<HeadReport> heads;
  std::vector<WrittenToken> written = {};  // of models that write

  std::vector<HeatMap> maps() const;
};

using ExplainOptions = RecordOptions;

// Of a model that generates, labels or encodes; an Error for other models, for places that the model does not have, and for
// texts of more than most_explained_tokens tokens.
inline constexpr size_t most_explained_tokens = 512;
Report report_of(const Recording&);
Report explain(const Model&, const Tokenizer&, const std::string& text, const ExplainOptions& = {});

// The answer, and of each head: its focus (the mean of its rows' largest weights), where these lie beside the row's own place
// (self-attention; the most frequent), and its strongest links.
std::string to_text(const Report&);

}  // namespace fovea
