#include "fovea/train/metrics/rouge.h"
#include "fovea/train/pairs.h"

namespace fovea {
namespace {

std::vector<Score> score(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references) {
  const RougeScores scores = corpus_rouge(hypotheses, {references});
  return {{"rouge_l", 100 * scores.rouge_l.f1, Score::higher},
          {"rouge_1", 100 * scores.rouge_1.f1, Score::higher},
          {"rouge_2", 100 * scores.rouge_2.f1, Score::higher}};
}

}  // namespace

extern const Task summarization = {
    .name = "summarization",
    .help = "a short text from a long one, learned from pairs",
    .recipe =
        [] {
          return pairs_recipe({.name = "summarization",
                               .score = score,
                               .source_key = "document",
                               .target_key = "summary",
                               .max_tokens = 400,
                               .max_length = 128});
        },
};

}  // namespace fovea
