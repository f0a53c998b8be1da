#include "fovea/api/mask_filler.h"

#include "fovea/generate/fill.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"

namespace fovea {

struct MaskFiller::Loaded {
  Pretrained model;
};

MaskFiller::MaskFiller(const std::string& model, const ModelOptions& o)
    : loaded_(std::make_shared<Loaded>(load_pretrained(find_model(model, "", o.zoo), {.precision = o.weights}))) {
  loaded_->model.as<GapFiller>();
}

std::vector<MaskFiller::Gap> MaskFiller::operator()(const std::string& text, const Options& o) const {
  require(o.top >= 1, "MaskFiller: found {} choices, expected 1 or more", o.top);
  const Filled filled = fill(loaded_->model.as<GapFiller>(), *loaded_->model.tokenizer, {text}, o.top)[0];
  std::vector<Gap> gaps;
  for (const fovea::Gap& found : filled.gaps) {
    gaps.push_back({found.span, {}});
    for (const fovea::Choice& c : found.choices) gaps.back().choices.push_back({c.token, c.probability, c.text});
  }
  return gaps;
}

}  // namespace fovea
