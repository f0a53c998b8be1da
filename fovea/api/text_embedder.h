// Texts as vectors in one call, and how near two texts are.
//
//   fovea::TextEmbedder embed("all-MiniLM-L6-v2");
//   auto v = embed("How are you?");                    // std::vector<float>, of length 1 if the model says so
//   embed.similarity("How are you?", "How do you do?");   // the cosine
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "fovea/api/model_options.h"

namespace fovea {

class TextEmbedder final {
 public:
  using Vector = std::vector<float>;

  explicit TextEmbedder(const std::string& model, const ModelOptions& = {});

  Vector operator()(const std::string& text) const;
  std::vector<Vector> operator()(const std::vector<std::string>& texts) const;
  std::vector<Vector> operator()(std::initializer_list<std::string> texts) const;
  double similarity(const std::string& a, const std::string& b) const;  // −1 … 1

 private:
  struct Loaded;
  std::shared_ptr<const Loaded> loaded_;
};

}  // namespace fovea
