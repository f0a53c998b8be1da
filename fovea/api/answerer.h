// The part of a text that answers a question, in one call.
//
//   fovea::Answerer answer("bert-large-uncased-whole-word-masking-finetuned-squad");
//   auto r = answer("Who wrote it?", "It was written by Ada in 1843.");   // r.text, r.span, r.probability, r.others
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fovea/api/model_options.h"
#include "fovea/data/text/utf8.h"

namespace fovea {

struct AnswererOptions {
  int64_t top = 1;       // the best answer and so many less one others
  int64_t longest = 15;  // tokens of an answer
};

class Answerer final {
 public:
  using Options = AnswererOptions;

  struct Answer {
    std::string text = {};
    Span span = {};  // its bytes in the text that was given
    double probability = 0;
    std::vector<Answer> others = {};  // in falling order
  };

  explicit Answerer(const std::string& model, const ModelOptions& = {});

  Answer operator()(const std::string& question, const std::string& text, const Options& = {}) const;

 private:
  struct Loaded;
  std::shared_ptr<const Loaded> loaded_;
};

}  // namespace fovea
