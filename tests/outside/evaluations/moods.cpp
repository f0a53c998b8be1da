// How often a mood is right, added from outside.
#include <fmt/format.h>

#include "fovea/train/evaluation.h"

namespace fovea {
namespace {

class Moods final : public Evaluation {
 public:
  Outcome run(const Outputs& in) const override {
    in.require_same_lines();
    size_t right = 0;
    for (size_t i = 0; i < in.hypotheses.lines.size(); ++i) right += in.reference().lines[i] == in.hypotheses.lines[i];
    return {fmt::format("{} of {} moods are right\n", right, in.hypotheses.lines.size()),
            fmt::format("{{\"right\": {}}}", right)};
  }
};

}  // namespace

namespace evaluations {
extern const EvaluationKind moods = {"moods", "how many moods are right", make_evaluation<Moods>};
}

}  // namespace fovea
