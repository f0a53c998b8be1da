#include <nlohmann/json.hpp>

#include "fovea/train/evaluation.h"
#include "fovea/train/metrics/perplexity.h"

namespace fovea {
namespace {

class LanguageModel final : public Evaluation {
 public:
  bool needs_references() const override { return false; }

  Outcome run(const Outputs& in) const override {
    std::vector<double> logs;
    for (size_t i = 0; i < in.hypotheses.lines.size(); ++i) {
      const std::vector<double> line = parse_log_probabilities(in.hypotheses.lines[i], in.hypotheses.line(i));
      logs.insert(logs.end(), line.begin(), line.end());
    }
    require(!logs.empty(), "{}: found no numbers, expected the log-probability of each token", in.hypotheses.name);
    const bool texts = !in.references.empty();
    if (texts) in.require_same_lines();
    const Perplexity score = texts ? perplexity(logs, in.reference().lines) : perplexity(logs);
    nlohmann::ordered_json json = {
        {"perplexity", score.of_tokens()}, {"tokens", score.tokens}, {"log_probability", score.log_probability}};
    if (texts)
      json.update({{"word_perplexity", score.of_words()},
                   {"words", score.words},
                   {"bits_per_byte", score.bits_per_byte()},
                   {"bytes", score.bytes}});
    return {score.text() + "\n", json.dump()};
  }
};

}  // namespace

namespace evaluations {
extern const EvaluationKind language_model = {
    "language-model", "perplexity from the log-probabilities of tokens; with the texts also of words and bytes",
    make_evaluation<LanguageModel>};
}

}  // namespace fovea
