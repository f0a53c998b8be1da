#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fovea/train/evaluation.h"
#include "fovea/train/evaluation_text.h"
#include "fovea/train/metrics/python_text.h"
#include "fovea/train/metrics/rouge.h"

namespace fovea {
namespace {

class Summarization final : public Evaluation {
 public:
  void fields(Fields& f) override {
    f("stemmer", stemmer_, "compare Porter's stems instead of words");
    f("sentence_break", sentence_break_, "what stands between sentences of a line, for rougeLsum (\"<n>\")");
  }

  Outcome run(const Outputs& in) const override {
    in.require_same_lines();
    std::vector<std::vector<std::string>> references;
    for (const LineFile& file : in.references) references.push_back(with_breaks(file.lines));
    const RougeScores scores = corpus_rouge(with_breaks(in.hypotheses.lines), references, {.stemmer = stemmer_});
    const std::string signature =
        fmt::format("nrefs:{}|stemmer:{}|version:0.1.2", references.size(), stemmer_ ? "yes" : "no");
    std::vector<std::string> lines;
    nlohmann::ordered_json json;
    for (auto [name, s] : scores.named()) {
      lines.push_back(fmt::format("{}|{} = {:.2f} (precision = {:.2f} recall = {:.2f})", name, signature, 100 * s.f1,
                                  100 * s.precision, 100 * s.recall));
      json[std::string(name)] = {
          {"f1", s.f1}, {"precision", s.precision}, {"recall", s.recall}, {"signature", signature}};
    }
    return {aligned(lines), json.dump()};
  }

 private:
  std::vector<std::string> with_breaks(std::vector<std::string> lines) const {
    for (std::string& line : lines)
      if (!sentence_break_.empty()) line = python::replace(line, sentence_break_, "\n");
    return lines;
  }

  bool stemmer_ = false;
  std::string sentence_break_;
};

}  // namespace

namespace evaluations {
extern const EvaluationKind summarization = {"summarization", "ROUGE, as rouge-score has it",
                                             make_evaluation<Summarization>};
}

}  // namespace fovea
