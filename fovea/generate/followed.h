// What a search saw, along the hypothesis that won: steps of all beams come in, the rows of one come out.
//
//   FollowedTrace followed(&trace);   model.start(source, followed.reading());   model.steps(…, {.trace = followed.next_step()});
//   followed.best_of(hypotheses);   followed.finish();   trace["decoder.0.cross"].weights;       // [1, heads, tokens written, keys]
#pragma once

#include <deque>

#include "fovea/generate/search.h"

namespace fovea {

// Where a trace has what was most probable at each step that the winner went through, whatever was excluded or sampled: top_weights,
// falling, and top_keys, the ids, [1, 1, tokens written, likely_tokens]; −1 where there are fewer.
inline constexpr const char* likely_place = "likely";
inline constexpr int64_t likely_tokens = 6;

class FollowedTrace final {
 public:
  explicit FollowedTrace(Trace* into) : into_(into) {}  // nullptr: nothing is looked at

  Context reading() { return {.trace = next(false)}; }
  Trace* next_step() { return next(true); }
  // The logits of the latest step, [rows, vocabulary], and the log Σ exp of each row.
  void saw(const Tensor& logits, const std::vector<float>& sums);
  Hypotheses best_of(Hypotheses found) {
    if (!found.empty()) along(found[0].rows);
    return found;
  }
  void along(std::vector<int64_t> rows) { rows_ = std::move(rows); }  // of each step that writes: the winner's
  void finish();

 private:
  struct Step {
    Trace trace;
    bool writes;         // or reads what is given
    Tensor likely, ids;  // [rows, likely_tokens]
  };
  Trace* next(bool writes);
  void add_likely();

  Trace* into_;
  std::deque<Step> steps_ = {};
  std::vector<int64_t> rows_ = {};
};

}  // namespace fovea
