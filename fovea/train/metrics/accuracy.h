// Accuracy and the F1 of each label with its macro average, equal to scikit-learn 1.9.1.
//
//   LabelScores scores = score_labels({"good", "bad"}, {"good", "good"});   // references, hypotheses
//   scores.accuracy;  scores.macro.f1;  scores.report();                    // scikit-learn's classification_report
#pragma once

#include <string>
#include <vector>

#include "fovea/train/metrics/class_scores.h"

namespace fovea {

struct LabelScores : ClassScores {
  double accuracy = 0;
  std::string report(int digits = 2) const;
};

LabelScores score_labels(const std::vector<std::string>& references, const std::vector<std::string>& hypotheses);

}  // namespace fovea
