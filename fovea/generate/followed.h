// What a search saw, along the hypothesis that won: steps of all beams come in, the rows of one come out.
//
//   FollowedTrace followed(&trace);   model.start(source, followed.reading());   model.steps(…, {.trace = followed.next_step()});
//   followed.best_of(hypotheses);   followed.finish();   trace["decoder.0.cross"].weights;       // [1, heads, tokens written, keys]
#pragma once

#include <deque>

#include "fovea/generate/search.h"

namespace fovea {

class FollowedTrace final {
 public:
  explicit FollowedTrace(Trace* into) : into_(into) {}  // nullptr: nothing is looked at

  Context reading() { return {.trace = next(false)}; }
  Trace* next_step() { return next(true); }
  Hypotheses best_of(Hypotheses found) {
    if (into_ && !found.empty()) rows_ = found[0].rows;
    return found;
  }
  void finish();

 private:
  struct Step {
    Trace trace;
    bool writes;  // or reads what is given
  };
  Trace* next(bool writes);

  Trace* into_;
  std::deque<Step> steps_ = {};
  std::vector<int64_t> rows_ = {};
};

}  // namespace fovea
