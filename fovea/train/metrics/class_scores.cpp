#include "fovea/train/metrics/class_scores.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "fovea/train/metrics/python_text.h"

namespace fovea {
namespace {

double divide(double numerator, double denominator) { return denominator == 0 ? 0 : numerator / denominator; }

// In the order in which NumPy adds, so that means end in the same bits.
double numpy_sum(std::span<const double> x) {
  if (x.size() > 128) {
    const size_t half = x.size() / 2 / 8 * 8;
    return numpy_sum(x.first(half)) + numpy_sum(x.subspan(half));
  }
  double sum = 0;
  size_t i = 0;
  if (x.size() >= 8) {
    double lane[8];
    std::copy_n(x.begin(), 8, lane);
    for (i = 8; i + 8 <= x.size(); i += 8) {
      for (size_t k = 0; k < 8; ++k) lane[k] += x[i + k];
    }
    sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
  }
  for (; i < x.size(); ++i) sum += x[i];
  return sum;
}

ClassScore score(const ClassCounts& c, F1 f1) {
  const double correct = static_cast<double>(c.correct), predicted = static_cast<double>(c.predicted),
               actual = static_cast<double>(c.actual);
  ClassScore s = {divide(correct, predicted), divide(correct, actual), 0, c.actual};
  s.f1 = f1 == F1::of_counts ? divide(2 * correct, actual + predicted)
                             : divide(2 * s.precision * s.recall, s.precision + s.recall);
  return s;
}

double mean(const ClassScores& scores, double ClassScore::*field, bool weighted) {
  std::vector<double> values, weights;
  for (const auto& [name, s] : scores.classes) {
    weights.push_back(weighted ? static_cast<double>(s.support) : 1);
    values.push_back(weights.back() * (s.*field));
  }
  return divide(numpy_sum(values), numpy_sum(weights));
}

}  // namespace

ClassScores score_classes(const std::vector<ClassCounts>& counts, F1 f1) {
  ClassScores scores;
  ClassCounts all;
  for (const ClassCounts& c : counts) {
    scores.classes.emplace_back(c.name, score(c, f1));
    all.correct += c.correct;
    all.predicted += c.predicted;
    all.actual += c.actual;
  }
  scores.micro = score(all, f1);
  scores.macro.support = scores.weighted.support = all.actual;
  for (double ClassScore::*field : {&ClassScore::precision, &ClassScore::recall, &ClassScore::f1}) {
    scores.macro.*field = mean(scores, field, false);
    scores.weighted.*field = mean(scores, field, true);
  }
  return scores;
}

std::string classification_report(const ClassScores& scores, const std::vector<ReportRow>& averages, int digits) {
  size_t width = std::max<size_t>(std::string("weighted avg").size(), static_cast<size_t>(digits));
  for (const auto& [name, s] : scores.classes) width = std::max(width, python::length(name));
  std::string text =
      fmt::format("{:>{}}  {:>9} {:>9} {:>9} {:>9}\n\n", "", width, "precision", "recall", "f1-score", "support");
  auto number = [&](double value) { return fmt::format(" {:>9.{}f}", value, digits); };
  auto row = [&](const std::string& name, const ClassScore& s, bool f1_only) {
    const std::string blank(10, ' ');
    text += python::pad_left(name, width) + " " + (f1_only ? blank : number(s.precision)) +
            (f1_only ? blank : number(s.recall)) + number(s.f1) + fmt::format(" {:>9}\n", s.support);
  };
  for (const auto& [name, s] : scores.classes) row(name, s, false);
  text += "\n";
  for (const ReportRow& average : averages) row(average.name, average.score, average.f1_only);
  return text;
}

}  // namespace fovea
