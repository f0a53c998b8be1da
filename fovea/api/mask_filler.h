// What may stand where a text has a mask, in one call.
//
//   fovea::MaskFiller fill("bert-base-uncased");
//   auto r = fill("The capital of France is [MASK].");   // r[0].choices[0].token, .probability, .text
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fovea/api/model_options.h"
#include "fovea/data/text/utf8.h"

namespace fovea {

struct MaskFillerOptions {
  int64_t top = 5;  // choices for each mask
};

class MaskFiller final {
 public:
  using Options = MaskFillerOptions;

  struct Choice {
    std::string token;
    double probability = 0;
    std::string text;  // the whole text with it in the gap
  };
  struct Gap {
    Span span = {};  // of the mask in the text
    std::vector<Choice> choices;
  };

  explicit MaskFiller(const std::string& model, const ModelOptions& = {});

  std::vector<Gap> operator()(const std::string& text, const Options& = {}) const;

 private:
  struct Loaded;
  std::shared_ptr<const Loaded> loaded_;
};

}  // namespace fovea
