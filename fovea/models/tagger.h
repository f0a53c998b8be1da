// A label for each word (Ma and Hovy 2016, with attention): characters and words → Bi-LSTM → self-attention → labels.
//
//   c[j] = [last →; last ←] of a Bi-LSTM over the characters of word j
//   h    = dropout BiLSTM(dropout [E[word]; c])
//   a    = attend(h, h, h)                               one head of any form, over the words of the sentence
//   e    = W [h; a] + b                                  emissions; the labels from a softmax or a CRF (nn/crf.h)
//
//   Tagger tagger({.vocabulary = 20000, .characters = 90, .labels = {"O", "B-PER", "I-PER"}});
//   Tensor loss = tagger.loss(words, labels, context);   Tensor best = tagger.best(tagger.scores(words, {}), words.lengths);
//
// Its attention's place: "attention" (none if attention is "none").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/attention/multi_head.h"
#include "fovea/models/cells.h"
#include "fovea/models/family.h"
#include "fovea/nn/crf.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"

namespace fovea {

// Sentences as words and the words' characters, padded. What stands beyond the lengths is never looked at.
struct TaggerInput {
  Tensor words;              // i64 [batch, words]
  Tensor lengths;            // i64 [batch]
  Tensor characters;         // i64 [batch, words, characters]
  Tensor character_lengths;  // i64 [batch, words]
};

class Tagger final : public Model {
 public:
  struct Config {
    int64_t vocabulary = 0, characters = 0;
    std::vector<std::string> labels;
    std::string cell = "lstm";
    int64_t embedding = 100, width = 128, layers = 1;
    int64_t character_embedding = 30, character_width = 25;  // of each direction
    std::string attention = "scaled-dot";
    bool crf = true;
    double dropout = 0.5;
    double word_dropout = 0;
    int64_t padding = 0, unknown = 3;

    void fields(Fields& f);
  };
  explicit Tagger(const Config&);

  Tensor scores(const TaggerInput&, const Context&) const;  // emissions, [batch, words, labels]
  // Of i64 [batch, words] labels: −log p of each sentence (CRF) or word (softmax), added up.
  Tensor loss(const TaggerInput&, const Tensor& labels, const Context&) const;
  // The most probable sequence, i64 [batch, words]; 0 beyond a sentence's length.
  Tensor best(const Tensor& scores, const Tensor& lengths) const;
  // p(label of a word | sentence), [batch, words, labels]; zeros beyond a sentence's length.
  Tensor probabilities(const Tensor& scores, const Tensor& lengths) const;

  void weights(Weights& w) override;
  std::string_view family() const override { return "tagger"; }
  std::string config() const override;
  const std::vector<std::string>& labels() const { return config_.labels; }
  std::string attention_place() const { return attention_ ? "attention" : ""; }

 private:
  Tensor features(const TaggerInput&, const Context&) const;      // words and characters side by side
  Tensor word_vectors(const TaggerInput&, const Context&) const;  // [batch, words, embedding]
  Tensor spelling(const TaggerInput&, const Context&) const;      // [batch, words, 2 · character_width]

  Config config_;
  Dropout dropout_;
  Embedding words_, characters_;
  Cells character_cells_, cells_;
  std::optional<MultiHeadAttention> attention_;
  Linear output_;
  std::optional<Crf> crf_;
};

}  // namespace fovea
