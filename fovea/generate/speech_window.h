// What is said in one window of sound, token by token: words and times.
//
//   SpeechWindow window(model, tokens, states);        // states: what the model heard, Listener::hear()
//   const auto [language, probability] = window.language();
//   const WindowText text = window.write(tokens.prompt(language, SpeechTask::transcribe), {.temperature = 0});
//   Tensor weights = window.look(ids, 550);            // what the alignment heads see of the first 11 s
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/generate/speech_tokens.h"

namespace fovea {

struct WindowOptions {
  double temperature = 0;  // 0: the most probable token each time; else drawn, logits divided by this
  int64_t attempts = 5;    // drawn at a time, of which the most probable is taken
  int64_t most = 224;      // tokens
  Random random = Random(0);
  Trace* trace = nullptr;  // if given: what every place saw in each row that the taken text went through
};

struct WindowText {
  std::vector<int64_t> ids = {};               // words and times, without the end
  std::vector<double> log_probabilities = {};  // of each, and of the end if it was reached
  double no_speech = 0;                        // the probability that nobody speaks
  double temperature = 0;

  double mean_log_probability() const;
};

class FollowedTrace;

class SpeechWindow final {
 public:
  struct Language {
    std::string code;
    double probability = 1;
  };

  // The states [1, states, width] are looked at by `model`, which has to outlive this.
  SpeechWindow(const Generator& model, const Listener& listener, const SpeechTokens& tokens, Tensor states);

  Language language();  // the most probable one
  WindowText write(const std::vector<int64_t>& prompt, const WindowOptions&);
  // What the alignment heads see of the first so many states while the ids are read, all in one pass: [heads, ids, states], each
  // row's sum 1.
  Tensor look(const std::vector<int64_t>& ids, int64_t states);

 private:
  struct Attempt;
  void read_start();
  Tensor read(const std::vector<int64_t>& prompt, double& no_speech, FollowedTrace&);
  void step(std::vector<Attempt>& attempts, const std::vector<size_t>& open, Tensor& logits,
            const WindowOptions&) const;

  const Generator& model_;
  const Listener& listener_;
  const SpeechTokens& tokens_;
  Tensor states_;
  std::unique_ptr<DecoderState> state_;
  Tensor first_logits_;  // of a state that has read the start and nothing else
};

}  // namespace fovea
