#include "fovea/train/metrics/bleu.h"
#include "fovea/train/pairs.h"

namespace fovea {
namespace {

std::vector<Score> score(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references) {
  return {{"bleu", corpus_bleu(hypotheses, {references}).score, Score::higher}};
}

}  // namespace

extern const Task translation = {
    .name = "translation",
    .help = "a sentence from its translation, learned from pairs",
    .recipe =
        [] {
          return pairs_recipe({.name = "translation",
                               .score = score,
                               .source_key = "source",
                               .target_key = "target",
                               .piece_tokens = 40});
        },
};

}  // namespace fovea
