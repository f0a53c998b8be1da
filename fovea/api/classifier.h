// The label of a text in one call, and the words that decided.
//
//   fovea::Classifier classify;
//   auto r = classify("A wonderful film.");   // r.label, r.probability, r.probabilities["positive"], r.words[1].weight
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fovea/api/model_options.h"
#include "fovea/data/text/utf8.h"

namespace fovea {

struct ClassifierOptions {
  bool words = true;  // whether it is wanted how much each word counted
};

class Classifier final {
 public:
  using Options = ClassifierOptions;

  struct Word {
    std::string text;
    Span span = {};     // its bytes in the text that was given
    double weight = 0;  // how much it counted, 0 … 1
  };
  struct Answer {
    std::string label = {};                            // the most probable one; empty if the model gives a number
    double probability = 0;                            // of `label`
    std::map<std::string, double> probabilities = {};  // of every label
    std::vector<std::string> labels = {};  // all that hold: `label`, or of a model that gives several any number
    double value = 0;                      // of a model that gives a number
    std::vector<Word> words = {};          // as white space cuts them; none if the model does not know
    size_t unread = 0;                     // tokens at the end, beyond those that the model reads
  };

  explicit Classifier(const std::string& model = "sentiment", const ModelOptions& = {});

  Answer operator()(const std::string& text, const Options& = {}) const;
  std::vector<Answer> operator()(const std::vector<std::string>& texts, const Options& = {}) const;
  std::vector<Answer> operator()(std::initializer_list<std::string> texts, const Options& = {}) const;

 private:
  struct Loaded;
  std::shared_ptr<const Loaded> loaded_;
};

}  // namespace fovea
