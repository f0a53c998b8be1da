#include "fovea/train/metrics/accuracy.h"

#include <map>

#include "fovea/base/error.h"

namespace fovea {

LabelScores score_labels(const std::vector<std::string>& references, const std::vector<std::string>& hypotheses) {
  require(references.size() == hypotheses.size(), "labels: found {}, expected {} as in the references",
          hypotheses.size(), references.size());
  std::map<std::string, ClassCounts> labels;
  int64_t right = 0;
  for (size_t i = 0; i < references.size(); ++i) {
    ++labels[references[i]].actual;
    ++labels[hypotheses[i]].predicted;
    if (references[i] != hypotheses[i]) continue;
    ++labels[references[i]].correct;
    ++right;
  }
  std::vector<ClassCounts> counts;
  for (auto& [label, count] : labels) counts.push_back({label, count.correct, count.predicted, count.actual});
  return {score_classes(counts, F1::of_counts),
          references.empty() ? 0 : static_cast<double>(right) / static_cast<double>(references.size())};
}

std::string LabelScores::report(int digits) const {
  const ClassScore all = {accuracy, accuracy, accuracy, macro.support};
  return classification_report(*this, {{"accuracy", all, true}, {"macro avg", macro}, {"weighted avg", weighted}},
                               digits);
}

}  // namespace fovea
