#include "fovea/train/metrics/alignment.h"

#include <nlohmann/json.hpp>

#include "fovea/train/evaluation.h"

namespace fovea {
namespace {

class Alignments final : public Evaluation {
 public:
  Outcome run(const Outputs& in) const override {
    const LineFile& gold = in.reference();
    in.require_same_lines();
    std::vector<GoldAlignment> references;
    std::vector<Alignment> hypotheses;
    for (size_t i = 0; i < gold.lines.size(); ++i) {
      references.push_back(parse_gold_alignment(gold.lines[i], gold.line(i)));
      hypotheses.push_back(parse_alignment(in.hypotheses.lines[i], in.hypotheses.line(i)));
    }
    const AlignmentScores scores = score_alignments(references, hypotheses);
    const nlohmann::ordered_json json = {{"error_rate", scores.error_rate()},
                                         {"precision", scores.precision()},
                                         {"recall", scores.recall()},
                                         {"links", scores.links},
                                         {"sure", scores.sure}};
    return {scores.text() + "\n", json.dump()};
  }
};

}  // namespace

namespace evaluations {
extern const EvaluationKind alignment = {"alignment", "the error rate of word alignments, in Pharaoh's form",
                                         make_evaluation<Alignments>};
}

}  // namespace fovea
