#include "fovea/api/answerer.h"

#include "fovea/generate/answer.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"

namespace fovea {

struct Answerer::Loaded {
  Pretrained model;
};

Answerer::Answerer(const std::string& model, const ModelOptions& o)
    : loaded_(std::make_shared<Loaded>(load_pretrained(find_model(model, "", o.zoo), {.precision = o.weights}))) {
  loaded_->model.as<AnswerFinder>();
}

Answerer::Answer Answerer::operator()(const std::string& question, const std::string& text, const Options& o) const {
  const std::vector<FoundAnswer> found = answer(loaded_->model.as<AnswerFinder>(), *loaded_->model.tokenizer, question,
                                                text, {.top = o.top, .longest = o.longest});
  Answer best;
  for (size_t i = 0; i < found.size(); ++i) {
    const Answer one = {found[i].text, found[i].span, found[i].probability, {}};
    if (i == 0)
      best = one;
    else
      best.others.push_back(one);
  }
  return best;
}

}  // namespace fovea
