#include "fovea/train/metrics/demands.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "fovea/train/evaluation.h"

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const DemandScore& score) {
  return {{"met", score.met}, {"sentences", score.sentences}, {"share", score.share()}};
}

std::vector<std::string> texts_of(const DemandingSentence& sentence, const DemandFailure& failure) {
  std::vector<std::string> texts;
  for (size_t k : failure.not_met) texts.push_back(sentence.demands[k].text());
  return texts;
}

class Demands final : public Evaluation {
 public:
  void fields(Fields& f) override {
    f("failures", failures_, "list each sentence with a demand that is not met, and its answer");
  }

  std::optional<std::vector<std::string>> questions(const LineFile& file) const override {
    std::vector<std::string> sources;
    for (const DemandingSentence& s : parse_demands(file.lines, file.name)) sources.push_back(s.source);
    return sources;
  }

  Outcome run(const Outputs& in) const override {
    const LineFile& file = in.reference();
    const std::vector<DemandingSentence> sentences = parse_demands(file.lines, file.name);
    require(sentences.size() == in.hypotheses.lines.size(),
            "{}: found {} lines, expected {}, one for each sentence of {}", in.hypotheses.name,
            in.hypotheses.lines.size(), sentences.size(), file.name);
    const DemandScores scores = score_demands(sentences, in.hypotheses.lines);
    Json json = json_of(scores);
    for (const auto& [kind, score] : scores.kinds) json["kinds"][kind] = json_of(score);
    std::string text = fmt::format("{:<12} {:>9} {:>5} {:>7}\n", "kind", "sentences", "met", "share");
    for (const auto& [kind, score] : scores.kinds) text += row(kind, score);
    text += row("all", scores);
    if (!failures_) return {text, json.dump()};
    std::string list;
    for (const DemandFailure& failure : scores.failures) {
      const DemandingSentence& s = sentences[failure.sentence];
      const std::string& answer = in.hypotheses.lines[failure.sentence];
      json["failures"].push_back({{"line", s.line},
                                  {"kind", s.kind},
                                  {"source", s.source},
                                  {"answer", answer},
                                  {"not_met", texts_of(s, failure)}});
      list += fmt::format("{} ({})\n  source:  {}\n  answer:  {}\n  not met: {}\n", file.line(s.line - 1), s.kind,
                          s.source, answer, fmt::join(texts_of(s, failure), "  "));
    }
    return {list + text, json.dump()};
  }

 private:
  static std::string row(const std::string& kind, const DemandScore& score) {
    return fmt::format("{:<12} {:>9} {:>5} {:>7.4f}\n", kind, score.sentences, score.met, score.share());
  }

  bool failures_ = false;
};

}  // namespace

namespace evaluations {
extern const EvaluationKind demands = {"demands", "what must and must not stand in each answer, by kinds of sentences",
                                       make_evaluation<Demands>};
}

}  // namespace fovea
