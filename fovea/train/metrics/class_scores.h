// Precision, recall and F1 of classes, their averages, and the table that scikit-learn and seqeval print of them.
//
//   ClassScores scores = score_classes({{"PER", 3, 4, 5}}, F1::of_precision_and_recall);   // 3 right of 4 found of 5 there
//   scores.macro.f1;
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fovea {

struct ClassScore {
  double precision = 0, recall = 0, f1 = 0;
  int64_t support = 0;  // how many there are in the references
};

struct ClassCounts {
  std::string name;
  int64_t correct = 0, predicted = 0, actual = 0;
};

struct ClassScores {
  std::vector<std::pair<std::string, ClassScore>> classes;  // by name
  ClassScore micro, macro, weighted;                        // weighted by support
};

// 2 P R / (P + R) of seqeval and 2 correct / (actual + predicted) of scikit-learn differ in their last bit.
enum class F1 { of_precision_and_recall, of_counts };

// A quotient with nothing below it is 0, and so is a mean of no classes.
ClassScores score_classes(const std::vector<ClassCounts>& counts, F1 f1);

// classification_report: a row for each class, then `averages`.
struct ReportRow {
  std::string name;
  ClassScore score;
  bool f1_only = false;
};
std::string classification_report(const ClassScores& scores, const std::vector<ReportRow>& averages, int digits);

}  // namespace fovea
