#include "fovea/train/metrics/label_sets.h"

#include <algorithm>
#include <map>
#include <set>

#include "fovea/base/error.h"

namespace fovea {

LabelSetScores score_label_sets(const std::vector<std::vector<std::string>>& references,
                                const std::vector<std::vector<std::string>>& hypotheses) {
  require(references.size() == hypotheses.size(), "labels: found {} sets, expected {} as in the references",
          hypotheses.size(), references.size());
  std::map<std::string, ClassCounts> labels;
  std::vector<ClassCounts> texts;
  int64_t exact = 0;
  for (size_t i = 0; i < references.size(); ++i) {
    const std::set<std::string> wanted(references[i].begin(), references[i].end()),
        found(hypotheses[i].begin(), hypotheses[i].end());
    ClassCounts text;
    for (const std::string& label : wanted) ++labels[label].actual, ++text.actual;
    for (const std::string& label : found) {
      const int64_t right = wanted.contains(label) ? 1 : 0;
      ++labels[label].predicted, ++text.predicted;
      labels[label].correct += right, text.correct += right;
    }
    exact += wanted == found ? 1 : 0;
    texts.push_back(text);
  }
  std::vector<ClassCounts> counts;
  for (auto& [label, count] : labels) counts.push_back({label, count.correct, count.predicted, count.actual});
  LabelSetScores scores = {score_classes(counts, F1::of_counts), {}, 0};
  scores.samples = score_classes(texts, F1::of_counts).macro;
  if (!references.empty()) scores.exact_match = static_cast<double>(exact) / static_cast<double>(references.size());
  return scores;
}

std::string LabelSetScores::report(int digits) const {
  return classification_report(
      *this, {{"micro avg", micro}, {"macro avg", macro}, {"weighted avg", weighted}, {"samples avg", samples}},
      digits);
}

}  // namespace fovea
