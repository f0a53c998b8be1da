#include "fovea/train/evaluation.h"

namespace fovea {
namespace {

// What is expected of a picture and what a model said are labels, whatever they were given to.
class Images final : public Evaluation {
 public:
  Outcome run(const Outputs& outputs) const override {
    return find<EvaluationKind>("classification").make()->run(outputs);
  }
};

}  // namespace

namespace evaluations {
extern const EvaluationKind images = {"images", "accuracy and F1 of pictures' labels, as scikit-learn has them",
                                      make_evaluation<Images>};
}

}  // namespace fovea
