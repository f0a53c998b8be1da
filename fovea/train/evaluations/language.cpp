#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fovea/train/evaluation.h"
#include "fovea/train/metrics/perplexity.h"

namespace fovea {
namespace {

class Language final : public Evaluation {
 public:
  void fields(Fields& f) override {
    f("context", context_, "with --model: tokens that are read at once; 0: as many as the model can, at most 1,024");
    f("stride", stride_,
      "with --model: tokens from window to window, each predicted from what the window before has too; 0: the context");
  }
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
    nlohmann::ordered_json json = {{"loss", -score.log_probability / static_cast<double>(score.tokens)},
                                   {"perplexity", score.of_tokens()},
                                   {"tokens", score.tokens},
                                   {"log_probability", score.log_probability}};
    if (texts)
      json.update({{"word_perplexity", score.of_words()},
                   {"words", score.words},
                   {"bits_per_byte", score.bits_per_byte()},
                   {"bytes", score.bytes}});
    return {fmt::format("loss = {:.4f}\n{}\n", json["loss"].get<double>(), score.text()), json.dump()};
  }

 private:
  int64_t context_ = 0, stride_ = 0;  // the task's, which runs the model
};

}  // namespace

namespace evaluations {
extern const EvaluationKind language = {
    "language", "perplexity from the log-probabilities of tokens; with the texts also of words and bytes",
    make_evaluation<Language>};
}

}  // namespace fovea
