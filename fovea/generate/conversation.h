// A text that a language model goes on with again and again: what was read stays read.
//
//   Conversation talk(model, tokenizer);
//   talk.read(ids);   Continuation answer = talk.write(config, {.on_text = [](std::string_view more) { print(more); }});
//   talk.read(more);  talk.write(config);                // only what is new goes through the model
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/text/tokenizer.h"
#include "fovea/generate/search.h"

namespace fovea {

// What is written after a prompt.
struct Continuation {
  enum class Stop { end, length, stop_string, interrupted };

  std::string text = {};
  std::vector<int64_t> ids = {};               // with the end, if it came
  std::vector<Span> tokens = {};               // the bytes of `text` that each of them stands for
  std::vector<double> log_probabilities = {};  // of each
  double score = 0;                            // their sum / number ^ length_penalty
  Stop stop = Stop::length;
};
std::string_view name(Continuation::Stop);  // "end", "length", "stop" or "interrupted"

struct WriteOptions {
  std::vector<std::string> stops = {};                      // a text ends before any of these
  std::function<void(std::string_view more)> on_text = {};  // what is new and will not change
  std::function<bool()> interrupted = {};                   // asked before each token
  size_t number = 0;                                        // of the text among others: its random numbers
  // What every place saw in the reading of what was new and in the writing; search.h says what it gets.
  Trace* trace = nullptr;
};

class FollowedTrace;

class Conversation final {
 public:
  Conversation(const Generator&, const Tokenizer&);

  // Ids that come next. write() lets them through the model.
  void read(const std::vector<int64_t>& ids);
  // Makes it the text of exactly these ids: if what was read is their beginning it stays read, else all is read again.
  void become(const std::vector<int64_t>& ids);
  const std::vector<int64_t>& ids() const { return ids_; }
  int64_t cached() const { return read_; }  // ids that have gone through the model

  // Greedy or sampled (beam_size and n_best are 1, or it is an Error). What is written belongs to the text.
  Continuation write(const GenerationConfig&, const WriteOptions& = {});

 private:
  Tensor next_logits(FollowedTrace&);

  const Generator& model_;
  const Tokenizer& tokenizer_;
  std::unique_ptr<DecoderState> state_;
  std::vector<int64_t> ids_;
  int64_t read_ = 0;
};

}  // namespace fovea
