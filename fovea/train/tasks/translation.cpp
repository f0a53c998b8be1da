#include "fovea/train/metrics/bleu.h"
#include "fovea/train/pairs_task.h"

namespace fovea {
namespace {

std::vector<Score> score(const Predictions& p) {
  return {{"bleu", corpus_bleu(p.hypotheses, {p.references}).score, Score::higher}};
}

}  // namespace

extern const TaskKind translation = {
    .name = "translation",
    .help = "a sentence from its translation, learned from pairs",
    .make = [] { return pairs_task({.score = score, .piece_tokens = 40}); },
};

}  // namespace fovea
