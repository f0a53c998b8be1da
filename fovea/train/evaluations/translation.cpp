#include <nlohmann/json.hpp>

#include "fovea/train/evaluation.h"
#include "fovea/train/evaluation_text.h"
#include "fovea/train/metrics/bleu.h"
#include "fovea/train/metrics/chrf.h"

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;

class Translation final : public Evaluation {
 public:
  void fields(Fields& f) override {
    f("tokenizer", tokenizer_, "how BLEU cuts words: 13a, none (at white space) or char");
    f("smoothing", smoothing_, "BLEU's answer to no matches: exp, floor, add-k or none");
    f("smoothing_value", smoothing_value_, "of floor (0.1 if not given) and add-k (1)");
    f("lowercase", lowercase_, "upper and lower case are alike");
  }

  Outcome run(const Outputs& in) const override {
    in.require_same_lines();
    const BleuOptions bleu = options();
    std::vector<std::vector<std::string>> references;
    for (const LineFile& file : in.references) references.push_back(file.lines);
    const Bleu score = corpus_bleu(in.hypotheses.lines, references, bleu);
    const std::string signature = bleu_signature(bleu, references.size());
    std::vector<std::string> lines = {score.text(signature)};
    Json json = {{"BLEU",
                  {{"score", score.score},
                   {"signature", signature},
                   {"precisions", score.precisions},
                   {"brevity_penalty", score.brevity_penalty},
                   {"hypothesis_length", score.hypothesis_length},
                   {"reference_length", score.reference_length}}}};
    for (int words : {0, 2}) {
      const ChrfOptions chrf_options = {.word_order = words, .lowercase = lowercase_};
      const Chrf chrf = corpus_chrf(in.hypotheses.lines, references, chrf_options);
      lines.push_back(chrf.text(chrf_signature(chrf_options, references.size())));
      json[chrf.name] = {{"score", chrf.score}, {"signature", chrf_signature(chrf_options, references.size())}};
    }
    return {aligned(lines), json.dump()};
  }

 private:
  BleuOptions options() const {
    BleuOptions bleu = {.lowercase = lowercase_};
    bleu.tokenizer = static_cast<BleuOptions::Tokenizer>(number_of("--tokenizer", tokenizer_, {"13a", "none", "char"}));
    bleu.smoothing =
        static_cast<BleuOptions::Smoothing>(number_of("--smoothing", smoothing_, {"exp", "floor", "add-k", "none"}));
    require(smoothing_value_ >= 0, "--smoothing-value: found {}, expected at least 0", smoothing_value_);
    require(smoothing_value_ == 0 || smoothing_ == "floor" || smoothing_ == "add-k",
            "--smoothing-value: found it beside --smoothing {}, expected --smoothing floor or add-k", smoothing_);
    if (smoothing_value_ > 0) bleu.smoothing_value = smoothing_value_;
    return bleu;
  }
  static size_t number_of(const char* flag, const std::string& name, const std::vector<std::string>& known) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) throw_unknown(flag, name, known);
    return static_cast<size_t>(found - known.begin());
  }

  std::string tokenizer_ = "13a", smoothing_ = "exp";
  double smoothing_value_ = 0;
  bool lowercase_ = false;
};

}  // namespace

namespace evaluations {
extern const EvaluationKind translation = {"translation", "BLEU and chrF, as sacreBLEU has them",
                                           make_evaluation<Translation>};
}

}  // namespace fovea
