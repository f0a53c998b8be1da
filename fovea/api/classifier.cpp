#include "fovea/api/classifier.h"

#include "fovea/explain/alignment.h"
#include "fovea/generate/classify.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"

namespace fovea {

struct Classifier::Loaded {
  Pretrained model;
};

namespace {

void add_labels(const Classified& c, const Labels& labels, Classifier::Answer& answer) {
  if (labels.kind() == Labels::number) {
    answer.value = c.probabilities[0];
    return;
  }
  const std::vector<std::string>& names = labels.names();
  answer.label = names[c.best];
  answer.probability = c.probabilities[c.best];
  for (size_t i = 0; i < names.size(); ++i) answer.probabilities[names[i]] = c.probabilities[i];
  if (labels.kind() == Labels::one) answer.labels = {answer.label};
  if (labels.kind() == Labels::several)
    for (size_t i : c.chosen()) answer.labels.push_back(names[i]);
}

void add_words(const std::string& text, const Classified& c, Classifier::Answer& answer) {
  if (c.weights.empty()) return;
  const std::vector<Span> words = words_of(text);
  const std::vector<double> weights = by_words({text, c.tokens}, c.weights);
  for (size_t i = 0; i < words.size(); ++i)
    answer.words.push_back({std::string(piece_of(text, words[i])), words[i], weights[i]});
}

}  // namespace

Classifier::Classifier(const std::string& model, const ModelOptions& o)
    : loaded_(std::make_shared<Loaded>(load_pretrained(find_model(model, "", o.zoo), {.precision = o.weights}))) {
  loaded_->model.as<TextLabeller>();
}

std::vector<Classifier::Answer> Classifier::operator()(const std::vector<std::string>& texts, const Options& o) const {
  const TextLabeller& labeller = loaded_->model.as<TextLabeller>();
  const std::vector<Classified> found = classify(labeller, *loaded_->model.tokenizer, texts, {.weights = o.words});
  std::vector<Answer> answers(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    add_labels(found[i], labeller.labels(), answers[i]);
    add_words(texts[i], found[i], answers[i]);
    answers[i].unread = found[i].unread;
  }
  return answers;
}

std::vector<Classifier::Answer> Classifier::operator()(std::initializer_list<std::string> texts,
                                                       const Options& o) const {
  return (*this)(std::vector<std::string>(texts), o);
}

Classifier::Answer Classifier::operator()(const std::string& text, const Options& o) const {
  return (*this)(std::vector<std::string>{text}, o)[0];
}

}  // namespace fovea
