#include "fovea/api/text_embedder.h"

#include "fovea/generate/embed.h"
#include "fovea/models/zoo.h"

namespace fovea {

struct TextEmbedder::Loaded {
  explicit Loaded(Pretrained p) : model(std::move(p)), embed(model) {}
  Pretrained model;
  Embedder embed;
};

TextEmbedder::TextEmbedder(const std::string& model, const ModelOptions& o)
    : loaded_(std::make_shared<Loaded>(load_pretrained(find_model(model, "", o.zoo), {.precision = o.weights}))) {}

std::vector<TextEmbedder::Vector> TextEmbedder::operator()(const std::vector<std::string>& texts) const {
  std::vector<Vector> vectors;
  if (texts.empty()) return vectors;
  const Tensor rows = loaded_->embed(texts);
  for (int64_t i = 0; i < rows.size(0); ++i) vectors.push_back(rows.select(0, i).values<float>());
  return vectors;
}

std::vector<TextEmbedder::Vector> TextEmbedder::operator()(std::initializer_list<std::string> texts) const {
  return (*this)(std::vector<std::string>(texts));
}

TextEmbedder::Vector TextEmbedder::operator()(const std::string& text) const {
  return (*this)(std::vector<std::string>{text})[0];
}

double TextEmbedder::similarity(const std::string& a, const std::string& b) const {
  return cosine(loaded_->embed({a, b}), 0, 1);
}

}  // namespace fovea
