#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "fovea/data/datasets/conll.h"
#include "fovea/train/evaluation.h"
#include "fovea/train/evaluation_text.h"
#include "fovea/train/metrics/entities.h"

namespace fovea {
namespace {

// Those in which every entity is found, and nothing else.
int64_t sentences_right(const std::vector<std::vector<std::string>>& references,
                        const std::vector<std::vector<std::string>>& hypotheses) {
  int64_t right = 0;
  for (size_t i = 0; i < references.size(); ++i)
    right += find_entities(references[i]) == find_entities(hypotheses[i]) ? 1 : 0;
  return right;
}

class Tagging final : public Evaluation {
 public:
  void fields(Fields& f) override { f("column", column_, "the column with the tags, from 1; 0: the last"); }

  Outcome run(const Outputs& in) const override {
    require(column_ >= 0, "--column: found {}, expected 0 or more", column_);
    const TagColumns references = parsed(in.reference()), hypotheses = parsed(in.hypotheses);
    require_same_words(references, hypotheses, in.hypotheses.name);
    const EntityScores scores = score_entities(references.tags, hypotheses.tags);
    nlohmann::ordered_json json = class_json(scores, scores.accuracy, "types");
    const int64_t right = sentences_right(references.tags, hypotheses.tags);
    const size_t sentences = references.tags.size();
    json["sentences"] = sentences, json["sentences_right"] = right;
    return {
        fmt::format("{}\naccuracy of tags = {:.4f}\nsentences wholly right = {:.4f} ({} of {})\n"
                    "F1|seqeval:1.2.2|mode:default = {:.2f} (precision = {:.2f} recall = {:.2f})\n",
                    scores.report(4), scores.accuracy, static_cast<double>(right) / static_cast<double>(sentences),
                    right, sentences, 100 * scores.micro.f1, 100 * scores.micro.precision, 100 * scores.micro.recall),
        json.dump()};
  }

 private:
  TagColumns parsed(const LineFile& file) const {
    return parse_tag_columns(fmt::format("{}", fmt::join(file.lines, "\n")),
                             {.where = file.name, .column = static_cast<size_t>(column_)});
  }

  int64_t column_ = 0;
};

}  // namespace

namespace evaluations {
extern const EvaluationKind tagging = {"tagging", "F1 of entities, as seqeval has it", make_evaluation<Tagging>};
}

}  // namespace fovea
