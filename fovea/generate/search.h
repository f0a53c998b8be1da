// Output of a sequence model: greedy, by beam search, or sampled. The same bits for any batch size and thread count.
//
//   std::vector<Hypotheses> found = generate(model, {{.source = ids}}, {.beam_size = 5});
//   found[0][0].ids;                                   // of the best hypothesis of the first request
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fovea/generate/config.h"
#include "fovea/models/abilities.h"

namespace fovea {

struct Request {
  std::vector<int64_t> source = {};
  Tensor pixels = {};                // of a model that reads pictures, instead of a source: [channels, height, width]
  std::vector<int64_t> prefix = {};  // the output begins with these, whatever else is asked for
  // What is read before the first token is written, instead of the start: a language model's prompt. It is no part of the output.
  std::vector<int64_t> prompt = {};
};

struct Hypothesis {
  std::vector<int64_t> ids;  // without start and end
  double score = 0;          // Σ log_probabilities / their number ^ length_penalty
  // Of each of `ids`, and of the end if it was reached: the model's own, whatever was excluded or sampled.
  std::vector<double> log_probabilities;
  bool ended = false;   // or stopped by max_length
  Tensor attention;     // if asked for: [log_probabilities, source tokens], the mean over the heads that are asked
  int64_t end_id = -1;  // of several ends the one that came
  std::vector<int64_t> rows =
      {};  // of each of log_probabilities: the row of its step's batch, among those of its request
  // If attention was asked for, of a model that copies: of each of log_probabilities the share of the probability that copying
  // the source's tokens has.
  std::vector<double> copied = {};
};

using Hypotheses = std::vector<Hypothesis>;  // best first

struct GenerationOptions {
  bool attention =
      false;  // return the weights over the source: of the config's alignment_heads, else of source_attention()
  int64_t unknown = -1;  // if given: the id that stands for what the vocabulary lacks, which is never generated
  // If given, for one request: what every place saw in the reading of the source and the prompt, and then, in one run each, the
  // rows of all steps as the best hypothesis went through them, whichever beams they were in.
  Trace* trace = nullptr;
  bool keep = true;  // return all results; false: only on_result gets them, and they take no memory
  // Called with each request's number and result, in the order of the requests, as soon as that allows.
  std::function<void(size_t number, const Hypotheses&)> on_result = {};
};

// No more tokens are written than the model has positions for; a source of more is an Error.
std::vector<Hypotheses> generate(const Generator&, const std::vector<Request>&, const GenerationConfig&,
                                 const GenerationOptions& = {});

// The config with what the model says where it says nothing: ends, the start, and, of models that are trained here, that padding and
// the start are never written. Models of others may write whatever their own files do not forbid.
GenerationConfig for_model(const Generator&, GenerationConfig);

// A prompt, in chunks that bound the memory that a pass takes, into a state of one row.
void read_tokens(const Generator&, DecoderState&, std::span<const int64_t> ids, const Context& = {});

}  // namespace fovea
