#include "fovea/train/metrics/captions.h"

#include <nlohmann/json.hpp>

#include "fovea/train/evaluation.h"
#include "fovea/train/evaluation_text.h"
#include "fovea/train/metrics/coco.h"

namespace fovea {
namespace {

// Several files of references are several captions of each picture.
class CaptionsEvaluation final : public Evaluation {
 public:
  Outcome run(const Outputs& in) const override {
    in.require_same_lines();
    std::vector<WantedCaption> wanted(in.hypotheses.lines.size());
    std::vector<GivenCaption> given;
    for (size_t i = 0; i < wanted.size(); ++i) {
      given.push_back(parse_given_caption(in.hypotheses.lines[i], in.hypotheses.line(i)));
      for (const LineFile& file : in.references) {
        WantedCaption more = parse_wanted_caption(file.lines[i], file.line(i));
        if (wanted[i].captions.empty()) wanted[i].boxes = std::move(more.boxes);
        for (std::string& caption : more.captions) wanted[i].captions.push_back(std::move(caption));
      }
    }
    const CaptionScores scores = score_captions(wanted, given);
    std::vector<std::string> lines = {
        fmt::format("exact = {:.4f} ({} of {} pictures)", scores.exact(), scores.right, scores.pictures)};
    nlohmann::ordered_json json = {{"exact", scores.exact()}};
    if (const auto pointing = scores.pointing()) {
      lines.push_back(fmt::format("pointing = {:.4f} ({} of {} words)", *pointing, scores.inside, scores.pointed));
      json["pointing"] = *pointing;
    }
    add_coco(wanted, given, lines, json);
    return {aligned(lines), json.dump()};
  }

 private:
  static void add_coco(const std::vector<WantedCaption>& wanted, const std::vector<GivenCaption>& given,
                       std::vector<std::string>& lines, nlohmann::ordered_json& json) {
    std::vector<std::string> captions;
    std::vector<std::vector<std::string>> references;
    for (size_t i = 0; i < wanted.size(); ++i) {
      captions.push_back(coco_words(given[i].caption));
      references.emplace_back();
      for (const std::string& caption : wanted[i].captions) references.back().push_back(coco_words(caption));
    }
    const CocoScores scores = coco_scores(captions, references);
    for (size_t n = 0; n < scores.bleu.size(); ++n) {
      const std::string name = fmt::format("BLEU-{}", n + 1);
      lines.push_back(fmt::format("{} = {:.4f}", name, scores.bleu[n]));
      json[name] = scores.bleu[n];
    }
    lines.push_back(fmt::format("CIDEr = {:.4f}", scores.cider));
    json["CIDEr"] = scores.cider;
  }
};

}  // namespace

namespace evaluations {
extern const EvaluationKind captions = {"captions",
                                        "exact matches, words that were looked at, BLEU-1 to 4 and CIDEr of captions",
                                        make_evaluation<CaptionsEvaluation>};
}

}  // namespace fovea
