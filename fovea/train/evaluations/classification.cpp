#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/formats/matrix_text.h"
#include "fovea/models/family.h"
#include "fovea/train/evaluation.h"
#include "fovea/train/evaluation_text.h"
#include "fovea/train/metrics/accuracy.h"
#include "fovea/train/metrics/label_sets.h"
#include "fovea/train/metrics/regression.h"

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;

// A line may hold more than its label: `sentence<TAB>label` in a data set, `label<TAB>probability` from a classifier.
std::vector<std::string> labels_in(const LineFile& file, bool last) {
  std::vector<std::string> found;
  for (const std::string& line : file.lines) {
    const size_t tab = last ? line.rfind('\t') : line.find('\t');
    found.push_back(tab == std::string::npos ? line : last ? line.substr(tab + 1) : line.substr(0, tab));
    require(!found.back().empty(), "{}: found no label, expected one", file.line(found.size() - 1));
  }
  return found;
}

// All labels of a line, with tabs between.
using LabelSets = std::vector<std::vector<std::string>>;

LabelSets sets_in(const LineFile& file) {
  LabelSets sets;
  for (const std::string& line : file.lines)
    sets.push_back(line.empty() ? std::vector<std::string>() : split_text(line, '\t'));
  return sets;
}

// 0.0000 to 1.0000, as `fovea classify` prints it behind each label.
bool is_probability(const std::string& text) {
  return text.size() == 6 && text[1] == '.' && (text[0] == '0' || text[0] == '1') &&
         std::ranges::all_of(text.substr(2), [](char c) { return c >= '0' && c <= '9'; });
}

LabelSets without_probabilities(LabelSets sets) {
  for (const std::vector<std::string>& cells : sets) {
    if (cells.size() % 2 != 0) return sets;
    for (size_t i = 1; i < cells.size(); i += 2)
      if (!is_probability(cells[i])) return sets;
  }
  for (std::vector<std::string>& cells : sets) {
    for (size_t i = 1; 2 * i < cells.size(); ++i) cells[i] = std::move(cells[2 * i]);
    cells.resize(cells.size() / 2);
  }
  return sets;
}

std::vector<double> numbers_in(const LineFile& file) {
  std::vector<double> numbers;
  for (const std::string& text : labels_in(file, true))
    numbers.push_back(parse_number(text, file.line(numbers.size())));
  return numbers;
}

class Classification final : public Evaluation {
 public:
  void fields(Fields& f) override {
    f("labelling", labelling_, "one label a line; several: any number with tabs between; number: a value");
  }

  Outcome run(const Outputs& in) const override {
    check_choice("classification", "labelling", labelling_, {"one", "several", "number"});
    const LineFile& file = in.reference();
    in.require_same_lines();
    if (labelling_ == "several") return several(file, in.hypotheses);
    if (labelling_ == "number") return number(file, in.hypotheses);
    const LabelScores scores = score_labels(labels_in(file, true), labels_in(in.hypotheses, false));
    return {fmt::format("{}\naccuracy = {:.4f}\nmacro F1|scikit-learn:1.9.1 = {:.4f}\n", scores.report(4),
                        scores.accuracy, scores.macro.f1),
            class_json(scores, scores.accuracy, "labels").dump()};
  }

 private:
  static Outcome several(const LineFile& references, const LineFile& hypotheses) {
    const LabelSetScores scores = score_label_sets(sets_in(references), without_probabilities(sets_in(hypotheses)));
    Json json = class_json(scores, scores.exact_match, "labels");
    return {fmt::format("{}\nexact match = {:.4f}\nmicro F1|scikit-learn:1.9.1 = {:.4f}\n", scores.report(4),
                        scores.exact_match, scores.micro.f1),
            json.dump()};
  }

  static Outcome number(const LineFile& references, const LineFile& hypotheses) {
    const NumberScores scores = score_numbers(numbers_in(references), numbers_in(hypotheses));
    const Json json = {{"pearson", scores.pearson},
                       {"spearman", scores.spearman},
                       {"mean_squared_error", scores.mean_squared_error},
                       {"mean_absolute_error", scores.mean_absolute_error}};
    return {scores.text(), json.dump()};
  }

  std::string labelling_ = "one";
};

}  // namespace

namespace evaluations {
extern const EvaluationKind classification = {
    "classification", "accuracy and F1 of labels, as scikit-learn has them; correlations of numbers",
    make_evaluation<Classification>};
}

}  // namespace fovea
