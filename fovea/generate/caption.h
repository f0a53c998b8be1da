// Captions of pictures, and where the model looked for each word.
//
//   const Captions found = caption(model, tokenizer, {pixels}, {.beam_size = 3}, {.attention = true})[0];
//   found[0].text;   found[0].attention;               // "a small red circle", [tokens, parts of the picture]
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/data/image/picture_input.h"
#include "fovea/generate/translate.h"
#include "fovea/models/pretrained.h"

namespace fovea {

using Captions = std::vector<Translation>;  // of one picture, best first

struct CaptionOptions {
  bool attention = false;
  Trace* trace = nullptr;  // of one picture; search.h says what it gets
  std::function<void(size_t number, const Captions&)> on_result = {};
};

// Pictures [channels, height, width], as the model reads them.
std::vector<Captions> caption(const Generator&, const Tokenizer&, const std::vector<Tensor>& pictures,
                              const GenerationConfig&, const CaptionOptions& = {});

// How a captioner's pictures are read; an Error if the model writes nothing about pictures, or reads others than
// preprocessor_config.json says.
PictureInput caption_input(const Pretrained&);

// The words of a caption, as white space cuts them, and where the model looked for each: the mean of its tokens' weights.
struct SeenWord {
  std::string text;
  Span span;                   // its bytes in the caption
  double probability = 0;      // of its tokens, multiplied
  std::vector<double> looked;  // at each part, row by row; none without attention
  // The middle of the part that was looked at most, as shares of the picture's width and height.
  double x = 0, y = 0;
};
std::vector<SeenWord> seen_words(const Translation&, const PictureShape&);

// {"caption": …, "score": …, "words": [{"text": …, "probability": …, "x": …, "y": …, "looked": [[…], …]}, …]}, x and y in pixels of a
// picture of this size, and with `weights` a list of weights for each row of parts. Without attention a word has neither.
struct CaptionJson {
  int64_t width = 1, height = 1;
  bool weights = false;
};
std::string to_json(const Translation&, const PictureShape&, const CaptionJson&);

}  // namespace fovea
