// Text to text with a sequence model: translation, summarisation.
//
//   const Translations t = translate(*model, *tokenizer, {"Where is the station?"}, {.beam_size = 5})[0];
//   t.found[0].text;                                   // with its score, and with the weights if they were asked for
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fovea/data/text/tokenizer.h"
#include "fovea/generate/search.h"

namespace fovea {

struct Translation {
  std::string text = {};
  double score = 0;
  std::vector<int64_t> ids = {};  // of the tokens, without the end; none where a text was put together from pieces
  std::vector<Span> tokens = {};  // the bytes of `text` that each token stands for; last an empty one, the end
  std::vector<double> log_probabilities = {};  // of each of these tokens
  Tensor attention = {};                       // if asked for: [tokens, source tokens]
  std::vector<Span> unsure = {};               // bytes of the input whose translation is below config.unsure_below
  // If attention was asked for and the model copies: bytes of `text`, each a run of tokens that rather come from the source
  // than from the vocabulary.
  std::optional<std::vector<Span>> copied = {};
};

struct Translations {
  std::vector<Span> source;        // the bytes of the input that each token stands for; last an empty one, the end
  std::vector<Translation> found;  // best first
};

struct TranslateOptions {
  bool attention = false;
  Trace* trace = nullptr;   // of one text, which is then taken as one piece; search.h says what it gets
  std::string prefix = {};  // every translation begins with it
  std::string task = {};    // stands before every source: what a model that knows several tasks is to do
  // With the number of each text and what was found for it, in their order, as soon as that allows.
  std::function<void(size_t number, const Translations&)> on_result = {};
};

// A text without tokens is translated as an empty one, without asking the model. With config.piece_tokens each sentence is
// translated by itself, and one of more tokens piece by piece; then they stand behind one another again, with the white space
// that stood between them. A piece without words (emoji, marks) stays as it is; with config.keep_wordless so does one in which
// the vocabulary knows no letter (another script), each token made from itself, unless there is a prefix.
std::vector<Translations> translate(const Generator&, const Tokenizer&, const std::vector<std::string>& texts,
                                    const GenerationConfig&, const TranslateOptions& = {});

double confidence(const Translation&);  // the mean log-probability of its tokens

// What a model sees as a source: the text among the special tokens that the tokenizer frames it with, or else before the end.
// Those have empty spans, and so have the tokens of a task that stands before the text.
Tokens source_tokens(const Tokenizer&, const Tokens& text, const std::vector<int64_t>& task = {});
std::vector<int64_t> source_ids(const Tokenizer&, const Tokens& text);

}  // namespace fovea
