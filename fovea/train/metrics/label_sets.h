// Several labels for a text: precision, recall and F1 over all decisions (micro), of each label (macro) and of each text
// (samples), and how many texts have exactly their labels; equal to scikit-learn 1.9.1.
//
//   LabelSetScores scores = score_label_sets({{"news", "sport"}, {}}, {{"sport"}, {}});   // references, hypotheses
//   scores.micro.f1;  scores.macro.f1;  scores.samples.f1;  scores.exact_match;
#pragma once

#include <string>
#include <vector>

#include "fovea/train/metrics/class_scores.h"

namespace fovea {

struct LabelSetScores : ClassScores {
  ClassScore samples;      // means over the texts; one that has no label and gets none counts as 0, as in scikit-learn
  double exact_match = 0;  // scikit-learn's accuracy_score
  std::string report(int digits = 2) const;
};

// A label that is given twice counts once.
LabelSetScores score_label_sets(const std::vector<std::vector<std::string>>& references,
                                const std::vector<std::vector<std::string>>& hypotheses);

}  // namespace fovea
