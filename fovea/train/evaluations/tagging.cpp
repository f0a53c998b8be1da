#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "fovea/data/datasets/conll.h"
#include "fovea/train/evaluation.h"
#include "fovea/train/evaluation_text.h"
#include "fovea/train/metrics/entities.h"

namespace fovea {
namespace {

class Tagging final : public Evaluation {
 public:
  void fields(Fields& f) override { f("column", column_, "the column with the tags, from 1; 0: the last"); }

  Outcome run(const Outputs& in) const override {
    require(column_ >= 0, "--column: found {}, expected 0 or more", column_);
    const TagColumns references = parsed(in.reference()), hypotheses = parsed(in.hypotheses);
    require_same_words(references, hypotheses, in.hypotheses.name);
    const EntityScores scores = score_entities(references.tags, hypotheses.tags);
    nlohmann::ordered_json json = class_json(scores, scores.accuracy, "types");
    json["sentences"] = references.tags.size();
    return {fmt::format(
                "{}\naccuracy of tags = {:.4f}\nF1|seqeval:1.2.2|mode:default = {:.2f} (precision = {:.2f} recall = "
                "{:.2f})\n",
                scores.report(4), scores.accuracy, 100 * scores.micro.f1, 100 * scores.micro.precision,
                100 * scores.micro.recall),
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
