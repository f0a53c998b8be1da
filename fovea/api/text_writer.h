// Text to text in one call: translations and summaries, with what each word was made from.
//
//   fovea::Translator translate("en-de");
//   auto r = translate("The bank approved the loan.", {.beam_size = 5});   // r.text, r.score, r.alignment, r.attention
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/api/model_options.h"
#include "fovea/explain/word_weights.h"
#include "fovea/train/metrics/alignment.h"

namespace fovea {

// What is not given is as the model's generation_config.json says.
struct TextWriterOptions {
  std::optional<int64_t> beam_size = {};        // open hypotheses of beam search; 1: greedy
  std::optional<double> length_penalty = {};    // a score is the sum of log-probabilities / tokens to this power
  std::optional<int64_t> n_best = {};           // the best answer and so many less one others
  std::optional<int64_t> max_length = {};       // tokens
  std::optional<int64_t> no_repeat_ngram = {};  // no sequence of so many tokens twice
  std::optional<bool> sample = {};         // draw tokens by their probabilities; without beam_size from one hypothesis
  std::optional<double> temperature = {};  // sampling: logits are divided by this
  std::optional<int64_t> top_k = {};       // sampling: from so many tokens
  std::optional<double> top_p = {};        // sampling: from those that together have this probability
  std::optional<int64_t> seed = {};        // sampling
  std::string prefix = {};                 // every answer begins with it
  bool attention = true;                   // whether alignment and attention are wanted
};

class TextWriter {
 public:
  using Options = TextWriterOptions;

  struct Answer {
    std::string text = {};
    double score = 0;                 // Σ log p of its tokens / their number ^ length_penalty
    Alignment alignment = {};         // for each word of `text` the source's word that it looked at most
    WordWeights attention = {};       // words of `text` × words of the source, the mean over heads
    std::vector<Answer> others = {};  // with n_best, in falling order
  };

  Answer operator()(const std::string& text, const Options& = {}) const;
  std::vector<Answer> operator()(const std::vector<std::string>& texts, const Options& = {}) const;
  std::vector<Answer> operator()(std::initializer_list<std::string> texts, const Options& = {}) const;

 protected:
  TextWriter(const std::string& model, const ModelOptions&);

 private:
  struct Loaded;
  std::shared_ptr<const Loaded> loaded_;
};

class Translator final : public TextWriter {
 public:
  explicit Translator(const std::string& model = "en-de", const ModelOptions& o = {}) : TextWriter(model, o) {}
};

class Summariser final : public TextWriter {
 public:
  explicit Summariser(const std::string& model, const ModelOptions& o = {}) : TextWriter(model, o) {}
};

}  // namespace fovea
