// A label for each word of a sentence, or of a text that is cut into words first.
//
//   const Tagged t = tag(*tagger, *words, {{"Ada", "lives", "in", "London"}}, {.attention = true})[0];
//   t.labels[0];   t.probabilities[0];   t.attention;                     // "B-PER", 0.99, [words, words]
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/data/batches.h"
#include "fovea/data/text/words.h"
#include "fovea/generate/framed.h"
#include "fovea/models/pretrained.h"

namespace fovea {

using Sentence = std::vector<std::string>;  // its words

struct Tagged {
  std::vector<std::string> labels;    // of each word
  std::vector<double> probabilities;  // of each of these labels, given the whole sentence
  Tensor attention;  // if asked for, there is one and the sentence is of one piece: [words, words], the mean over heads
};

struct TagOptions {
  bool attention = false;
  Trace* trace = nullptr;  // what the model sees, of one sentence of one piece
  size_t batch_size = 32;
  std::function<void(size_t sentences)> on_batch = {};  // after each batch: how many pieces of sentences it had
};

// A sentence of more words is read in pieces of as many, cut behind a full stop where there is one, so that time and memory
// grow with the number of words alone; of a word so many characters are read.
inline constexpr size_t most_tagged_words = 256, most_tagged_characters = 128;

std::vector<Tagged> tag(const WordLabeller&, const Words&, const std::vector<Sentence>& sentences,
                        const TagOptions& = {});

struct TaggedText {
  std::string text;
  std::vector<Span> words;  // as the tagger's vocabulary cuts it
  Tagged tagged;            // a label for each
};

// Texts cut into words by `cut`, which `label` gives their labels.
template <class Cut, class Label>
std::vector<TaggedText> tag_words_of(const std::vector<std::string>& texts, const Cut& cut, const Label& label) {
  std::vector<TaggedText> results;
  std::vector<Sentence> sentences;
  for (const std::string& text : texts) {
    results.push_back({text, cut(text), {}});
    Sentence& words = sentences.emplace_back();
    for (Span span : results.back().words) words.emplace_back(piece_of(text, span));
  }
  std::vector<Tagged> tagged = label(sentences);
  for (size_t i = 0; i < results.size(); ++i) results[i].tagged = std::move(tagged[i]);
  return results;
}

std::vector<TaggedText> tag_texts(const WordLabeller&, const Words&, const std::vector<std::string>& texts,
                                  const TagOptions& = {});

// By a model that labels tokens: a word has the label of its first one. Words are cut as vocabularies of words cut them. Of several
// pieces the first one is traced, and no attention comes with them.
std::vector<Tagged> tag(const TokenLabeller&, const Tokenizer&, const std::vector<Sentence>& sentences,
                        const TagOptions& = {});
std::vector<TaggedText> tag_texts(const TokenLabeller&, const Tokenizer&, const std::vector<std::string>& texts,
                                  const TagOptions& = {});

// Words [begin, end) of a sentence as such a model reads them; `firsts` is where the first token of each word stands.
struct TokenWindow {
  size_t begin = 0, end = 0;
  Framed read = {};
  std::vector<size_t> firsts = {};
};
// No more tokens in a window than the model reads (0: any number) and no more than most_tagged_words words.
std::vector<TokenWindow> token_windows(const Tokenizer&, const Sentence&, int64_t longest);

// By whichever of the two a model is; an Error if it is neither.
std::vector<Tagged> tag(const Pretrained&, const std::vector<Sentence>& sentences, const TagOptions& = {});
std::vector<TaggedText> tag_texts(const Pretrained&, const std::vector<std::string>& texts, const TagOptions& = {});

// The vocabulary of words that a tagger was trained with; an Error if it is another kind, or of another size.
const Words& words_of(const Pretrained&);

// A sentence as the tagger sees it: the ids of its words, and the ids of the characters of each.
std::vector<Sequence> tagger_columns(const Words&, const Sentence&);
SpelledWords spelled_words(const Column& words, const Column& characters);

}  // namespace fovea
