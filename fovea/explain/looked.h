// What a model's attentions did while it gave an answer, row by row: weights, what they brought, and the answer's gradient by them.
//
//   const Looked looked(question, {.gradient = true});
//   looked.weights("pooling", head, row);   looked.gradient("pooling", head, row);
//
// Attentions are kept as they ran, so that memory grows with the number of tokens alone.
#pragma once

#include <string>
#include <vector>

#include "fovea/explain/question.h"
#include "fovea/nn/trace.h"

namespace fovea {

class Looked final {
 public:
  struct Options {
    std::vector<std::string> places = {};  // only these; empty: all
    bool gradient = false;                 // of the answer's probability
  };
  Looked(const Question&, const Options&);

  int64_t heads(const std::string& place) const;
  // [columns] each, of one row. An Error of kind unsupported where the model does not keep its values, or no gradient came back.
  std::vector<double> weights(const std::string& place, int64_t head, int64_t row) const;
  std::vector<double> gradient(const std::string& place, int64_t head, int64_t row) const;
  Tensor brought(const std::string& place, int64_t head, int64_t row) const;  // [columns, width]
  // weights of rows [begin, end) of one head, [rows, columns]
  Tensor rows(const std::string& place, int64_t head, Range) const;

 private:
  // A place runs once, or once for each step of a recurrent decoder.
  struct Run {
    const ProbeResult& result;
    int64_t row;
  };
  Run run_of(const std::string& place, int64_t row) const;
  static int64_t rows_in(const ProbeResult& r) { return r.kept ? r.kept->queries() : r.weights.size(2); }

  Trace trace_;
};

}  // namespace fovea
