#include "fovea/train/metrics/rouge.h"
#include "fovea/train/pairs_task.h"

namespace fovea {
namespace {

std::vector<Score> score(const Predictions& p) {
  const RougeScores scores = corpus_rouge(p.hypotheses, {p.references});
  return {{"rouge_l", 100 * scores.rouge_l.f1, Score::higher},
          {"rouge_1", 100 * scores.rouge_1.f1, Score::higher},
          {"rouge_2", 100 * scores.rouge_2.f1, Score::higher}};
}

}  // namespace

extern const TaskKind summarization = {
    .name = "summarization",
    .help = "a short text from a long one, learned from pairs",
    .make = [] { return pairs_task({.score = score, .max_tokens = 400, .max_length = 128}); },
};

}  // namespace fovea
