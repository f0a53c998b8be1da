#include "fovea/generate/continue.h"

#include <algorithm>

#include "fovea/data/text/sentencepiece.h"
#include "fovea/generate/text_stream.h"

namespace fovea {
namespace {

Continuation continuation_of(const Tokenizer& tokenizer, const std::vector<int64_t>& prompt, const Hypothesis& h,
                             const std::vector<std::string>& stops) {
  TextStream stream(tokenizer, prompt, stops);
  Continuation c = {.log_probabilities = h.log_probabilities, .score = h.score};
  for (int64_t id : h.ids) {
    if (stream.stopped()) break;
    stream.add(id);
    c.ids.push_back(id);
  }
  stream.finish();
  c.text = stream.text();
  c.tokens = stream.spans();
  if (stream.stopped()) {
    c.stop = Continuation::Stop::stop_string;
    c.log_probabilities.resize(c.ids.size());
  } else if (h.ended) {
    const auto end = static_cast<int64_t>(c.text.size());
    c.stop = Continuation::Stop::end;
    c.ids.push_back(h.end_id);
    c.tokens.push_back({end, end});
  }
  return c;
}

}  // namespace

std::vector<int64_t> prompt_ids(const Generator& model, const Tokenizer& tokenizer, std::string_view text) {
  const Tokens tokens = tokenizer.encode(text);
  std::vector<int64_t> ids = tokenizer.frame(tokens).ids;
  const std::vector<int64_t> ends = model.end_ids();
  const int64_t start = model.special_ids().bos;
  const bool longer = tokenizer.frames() && ids.size() > tokens.ids.size();
  if (longer && std::find(ends.begin(), ends.end(), ids.back()) != ends.end() && ids.size() > 1 &&
      (tokens.ids.empty() || ids.back() != tokens.ids.back()))
    ids.pop_back();
  const auto* whole = dynamic_cast<const Model*>(&model);
  const bool trained_here = !tokenizer.frames() && whole && !whole->foreign();
  const bool bare =
      dynamic_cast<const SentencePiece*>(&tokenizer) != nullptr;  // a file that cannot say that a text has a start
  if ((ids.empty() || trained_here || (bare && !tokenizer.frames())) && start >= 0) ids.insert(ids.begin(), start);
  require(!ids.empty(), "prompt: found no tokens, expected some: the model has no token that starts a text");
  return ids;
}

std::vector<std::vector<Continuation>> continue_texts(const Generator& model, const Tokenizer& tokenizer,
                                                      const std::vector<std::string>& prompts,
                                                      const GenerationConfig& config, const ContinueOptions& options) {
  std::vector<std::vector<Continuation>> results(prompts.size());
  auto finish = [&](size_t number) {
    if (options.on_result) options.on_result(number, results[number]);
  };
  const bool single = config.beam_size == 1 && config.n_best == 1;
  if (single && !options.trace && (options.on_text || !options.stops.empty() || options.interrupted)) {
    for (size_t i = 0; i < prompts.size(); ++i) {
      Conversation text(model, tokenizer);
      text.read(prompt_ids(model, tokenizer, prompts[i]));
      results[i] = {text.write(config, {options.stops, options.on_text, options.interrupted, i})};
      finish(i);
      if (results[i][0].stop == Continuation::Stop::interrupted) return results.resize(i + 1), results;
    }
    return results;
  }
  std::vector<Request> requests;
  for (const std::string& prompt : prompts) requests.push_back({.prompt = prompt_ids(model, tokenizer, prompt)});
  generate(model, requests, config,
           {.trace = options.trace, .keep = false, .on_result = [&](size_t number, const Hypotheses& found) {
              for (const Hypothesis& h : found)
                results[number].push_back(continuation_of(tokenizer, requests[number].prompt, h, options.stops));
              finish(number);
            }});
  return results;
}

}  // namespace fovea
