// Text in, text out with a language model.
//
//   const auto found = continue_texts(*model, *tokenizer, {"Once upon"}, {.max_length = 40});
//   found[0][0].text;                                  // what comes after the prompt, with its spans and log-probabilities
#pragma once

#include "fovea/generate/conversation.h"

namespace fovea {

struct ContinueOptions {
  Trace* trace = nullptr;  // of one prompt; search.h says what it gets
  std::vector<std::string> stops = {};
  // With the number of each prompt and what was found for it, best first, in their order.
  std::function<void(size_t number, const std::vector<Continuation>&)> on_result = {};
  std::function<void(std::string_view more)> on_text =
      {};  // of the one at hand, if there is one for each prompt: as it comes
  std::function<bool()> interrupted = {};
};

std::vector<std::vector<Continuation>> continue_texts(const Generator&, const Tokenizer&,
                                                      const std::vector<std::string>& prompts, const GenerationConfig&,
                                                      const ContinueOptions& = {});

// The ids that a language model reads as its prompt: those of the text among what its tokenizer puts around it, or behind the start.
// An end that a tokenizer puts behind is left off, so that the text goes on.
std::vector<int64_t> prompt_ids(const Generator&, const Tokenizer&, std::string_view text);

}  // namespace fovea
