#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fovea/train/evaluation.h"
#include "fovea/train/metrics/perplexity.h"

namespace fovea {
namespace {

class Masked final : public Evaluation {
 public:
  bool needs_references() const override { return false; }

  Outcome run(const Outputs& in) const override {
    std::vector<double> logs;
    for (size_t i = 0; i < in.hypotheses.lines.size(); ++i)
      for (double log : parse_log_probabilities(in.hypotheses.lines[i], in.hypotheses.line(i))) logs.push_back(log);
    require(!logs.empty(), "{}: found no numbers, expected the log-probability of each hidden token",
            in.hypotheses.name);
    const Perplexity score = perplexity(logs);
    const nlohmann::ordered_json json = {{"loss", -score.log_probability / static_cast<double>(score.tokens)},
                                         {"perplexity", score.of_tokens()},
                                         {"tokens", score.tokens},
                                         {"log_probability", score.log_probability}};
    return {fmt::format("loss = {:.4f}\n{}\n", json["loss"].get<double>(), score.text()), json.dump()};
  }
};

}  // namespace

namespace evaluations {
extern const EvaluationKind masked = {"masked", "perplexity of hidden tokens from their log-probabilities",
                                      make_evaluation<Masked>};
}

}  // namespace fovea
