// A language model goes on with a text, in one call, as it comes if that is wanted.
//
//   fovea::TextGenerator write("SmolLM2-135M-Instruct.Q4_1.gguf");
//   auto r = write("Once upon a time", {.max_length = 40});                       // r.text, r.score, r.stop
//   write("Once upon a time", {.on_text = [](std::string_view more) { print(more); }});
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/api/model_options.h"

namespace fovea {

struct GenerationConfig;

// What is not given is as the model's generation_config.json says.
struct TextGeneratorOptions {
  std::optional<int64_t> max_length = {};  // tokens that are written
  std::optional<bool> sample = {};         // draw tokens by their probabilities; else the most probable
  std::optional<double> temperature = {};  // sampling: logits are divided by this
  std::optional<int64_t> top_k = {};       // sampling: from so many tokens
  std::optional<double> top_p = {};        // sampling: from those that together have this probability
  std::optional<double> min_p = {};        // sampling: from those that have this share of the best one's probability
  std::optional<double> repetition_penalty = {};
  std::optional<int64_t> seed = {};
  std::vector<std::string> stops = {};                      // the text ends before any of these
  std::function<void(std::string_view more)> on_text = {};  // what is new and will not change
  std::function<bool()> interrupted = {};                   // asked before each token: true ends the text
};

// The model's own settings and what the options change of them; one text, greedy or sampled.
GenerationConfig with_options(GenerationConfig, const TextGeneratorOptions&);

class TextGenerator final {
 public:
  using Options = TextGeneratorOptions;

  struct Answer {
    std::string text = {};  // what comes behind the prompt
    double score = 0;       // the mean of its tokens' log-probabilities, with a length_penalty of 1
    std::string stop = {};  // why it ends: "end", "length", "stop" or "interrupted"
    std::vector<double> log_probabilities = {};  // of each token
  };

  explicit TextGenerator(const std::string& model, const ModelOptions& = {});

  Answer operator()(const std::string& prompt, const Options& = {}) const;
  std::vector<Answer> operator()(const std::vector<std::string>& prompts, const Options& = {}) const;
  std::vector<Answer> operator()(std::initializer_list<std::string> prompts, const Options& = {}) const;

 private:
  struct Loaded;
  std::shared_ptr<const Loaded> loaded_;
};

}  // namespace fovea
