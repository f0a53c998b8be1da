// Text to text with a sequence model: translation, summarisation.
//
//   const Translations t = translate(*model, *tokenizer, {"Where is the station?"}, {.beam_size = 5})[0];
//   t.found[0].text;                                   // with its score, and with the weights if they were asked for
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/data/text/tokenizer.h"
#include "fovea/generate/search.h"

namespace fovea {

struct Translation {
  std::string text = {};
  double score = 0;
  std::vector<Span> tokens = {};  // the bytes of `text` that each token stands for; last an empty one, the end
  std::vector<double> log_probabilities = {};  // of each of these tokens
  Tensor attention = {};                       // if asked for: [tokens, source tokens]
};

struct Translations {
  std::vector<Span> source;        // the bytes of the input that each token stands for; last an empty one, the end
  std::vector<Translation> found;  // best first
};

struct TranslateOptions {
  bool attention = false;
  std::string prefix = {};  // every translation begins with it
  // With the number of each text and what was found for it, in their order, as soon as that allows.
  std::function<void(size_t number, const Translations&)> on_result = {};
};

// A text without tokens is translated as an empty one, without asking the model. One of more than config.piece_tokens is
// translated piece by piece and put together again. With config.keep_wordless a piece in which the vocabulary knows no letter
// (emoji, marks, another script) is its own translation, each token made from itself, unless there is a prefix.
std::vector<Translations> translate(const Generator&, const Tokenizer&, const std::vector<std::string>& texts,
                                    const GenerationConfig&, const TranslateOptions& = {});

// Where a text is cut, as ranges of its tokens: behind the ends of sentences, in the gap before a word where a sentence is too
// long by itself, and anywhere where a word is.
std::vector<std::pair<size_t, size_t>> pieces_of(std::string_view text, const std::vector<Span>& tokens, int64_t most);

// The ids that a model sees as a source: those of the text and the end.
std::vector<int64_t> source_ids(const Tokenizer&, const Tokens&);

}  // namespace fovea
