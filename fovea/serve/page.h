// The page that shows a recording: one HTML text with everything in it, which needs neither a network nor other files.
//
//   write_text("seen.html", page({.recordings = {record(*model, *tokenizer, text)}}));
//
// Served by a program (server.h), the page asks it for what is shown first, other texts, models, and parts of weights that are too
// many to be sent.
#pragma once

#include <string>
#include <vector>

#include "fovea/explain/recording.h"

namespace fovea {

struct PageContent {
  std::vector<Recording> recordings = {};
  std::vector<std::string> told = {};  // more of them, as page_json() has them
  // Of a page that is served by a program that answers it: the models that it may ask for, the model and the text that it shows first.
  bool served = false;
  std::vector<std::string> models = {};
  std::pair<std::string, std::string> first = {};
};
std::string page(const PageContent&);

// Which words an answer comes from, as to_json(Attributions) and to_json(Faithfulness) tell it; either may be empty.
struct PageExplanation {
  std::string attributions = {}, check = {};
};
std::string explained_json(const PageExplanation&);

// What the page is told of a recording: its JSON, the words of its sequences, and of each place "weights" in base64 (f32, little
// endian, [heads, rows, columns]) if they are no more than `most_weights` numbers, and "names", what each head did in this text
// (head_measures.h); "tiles" is the level of the squares that are there already. `run` is the number by which the server knows it.
inline constexpr int64_t most_page_weights = 3'000'000;
std::string page_json(const Recording&, int64_t run = -1, int64_t most_weights = most_page_weights,
                      const PageExplanation& = {});

}  // namespace fovea
