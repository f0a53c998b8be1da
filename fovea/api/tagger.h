// The entities of a text in one call.
//
//   fovea::Tagger tag;
//   for (const auto& e : tag("Ada Lovelace lived in London.").entities) …   // e.type, e.text, e.span, e.probability
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "fovea/api/model_options.h"
#include "fovea/data/text/utf8.h"
#include "fovea/explain/word_weights.h"

namespace fovea {

struct TaggerOptions {
  bool attention = false;  // whether what each word looked at is wanted
};

class Tagger final {
 public:
  using Options = TaggerOptions;

  struct Entity {
    std::string type, text;
    Span span = {};          // its bytes in the text that was given
    double probability = 0;  // that of its least probable word
  };
  struct Word {
    std::string text;
    Span span = {};
    std::string label;
    double probability = 0;  // of the label, given the whole sentence
  };
  struct Answer {
    std::vector<Entity> entities = {};
    std::vector<Word> words = {};
    WordWeights attention =
        {};  // words × words, the mean over heads; empty if the model has none or the text is too long
  };

  explicit Tagger(const std::string& model = "entities", const ModelOptions& = {});

  Answer operator()(const std::string& text, const Options& = {}) const;
  std::vector<Answer> operator()(const std::vector<std::string>& texts, const Options& = {}) const;
  std::vector<Answer> operator()(std::initializer_list<std::string> texts, const Options& = {}) const;

 private:
  struct Loaded;
  std::shared_ptr<const Loaded> loaded_;
};

}  // namespace fovea
