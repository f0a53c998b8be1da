#include "fovea/api/tagger.h"

#include "fovea/explain/entities.h"
#include "fovea/models/zoo.h"

namespace fovea {

struct Tagger::Loaded {
  Pretrained model;
};

namespace {

Tagger::Answer answer_of(const TaggedText& t) {
  Tagger::Answer answer;
  for (const TextEntity& e : entities_in(t))
    answer.entities.push_back({e.type, std::string(piece_of(t.text, e.span)), e.span, e.probability});
  for (size_t i = 0; i < t.words.size(); ++i)
    answer.words.push_back(
        {std::string(piece_of(t.text, t.words[i])), t.words[i], t.tagged.labels[i], t.tagged.probabilities[i]});
  const HeatMap map = to_heat_map(t, "");
  answer.attention = {map.rows, map.columns, map.values};
  return answer;
}

}  // namespace

Tagger::Tagger(const std::string& model, const ModelOptions& o)
    : loaded_(std::make_shared<Loaded>(load_pretrained(find_model(model, "", o.zoo), {.precision = o.weights}))) {
  tag(loaded_->model, {});
}

std::vector<Tagger::Answer> Tagger::operator()(const std::vector<std::string>& texts, const Options& o) const {
  std::vector<Answer> answers;
  for (const TaggedText& t : tag_texts(loaded_->model, texts, {.attention = o.attention}))
    answers.push_back(answer_of(t));
  return answers;
}

std::vector<Tagger::Answer> Tagger::operator()(std::initializer_list<std::string> texts, const Options& o) const {
  return (*this)(std::vector<std::string>(texts), o);
}

Tagger::Answer Tagger::operator()(const std::string& text, const Options& o) const {
  return (*this)(std::vector<std::string>{text}, o)[0];
}

}  // namespace fovea
