// A label for each word (Ma and Hovy 2016, with attention): characters and words → Bi-LSTM → self-attention → labels.
//
//   c[j] = [last →; last ←] of a Bi-LSTM over the characters of word j
//   h    = dropout BiLSTM(dropout [E[word]; c])
//   a    = attend(h, h, h)                               one head of any form, over the words of the sentence
//   e    = W [h; a] + b                                  emissions; the labels from a softmax or a CRF (nn/crf.h)
//
//   WordTagger tagger({.vocabulary = 20000, .characters = 90, .labels = {"O", "B-PER", "I-PER"}});
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

class WordTagger final : public Model, public WordLabeller {
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
  explicit WordTagger(const Config&);

  Tensor scores(const SpelledWords&, const Context&) const override;
  Tensor loss(const SpelledWords&, const Tensor& labels, const Context&) const override;
  Tensor best(const Tensor& scores, const Tensor& lengths) const override;
  Tensor probabilities(const Tensor& scores, const Tensor& lengths) const override;
  Tensor log_odds(const Tensor& scores, const Tensor& lengths, std::span<const int64_t> words,
                  int64_t label) const override;

  void weights(Weights& w) override;
  std::string_view family() const override { return "tagger"; }
  std::string config() const override { return family_json(family(), config_); }
  int64_t vocabulary() const override { return config_.vocabulary; }
  const std::vector<std::string>& labels() const override { return config_.labels; }
  int64_t characters() const override { return config_.characters; }
  std::string attention_place() const override { return attention_ ? "attention" : ""; }

 protected:
  void list_places(const Places& p) const override {
    if (attention_) attention_->places(p.at("attention"), {.rows = "source", .columns = "source", .residual = false});
  }

 private:
  Tensor features(const SpelledWords&, const Context&) const;      // words and characters side by side
  Tensor word_vectors(const SpelledWords&, const Context&) const;  // [batch, words, embedding]
  Tensor spelling(const SpelledWords&, const Context&) const;      // [batch, words, 2 · character_width]

  Config config_;
  Dropout dropout_;
  Embedding words_, characters_;
  Cells character_cells_, cells_;
  std::optional<MultiHeadAttention> attention_;
  Linear output_;
  std::optional<Crf> crf_;
};

}  // namespace fovea
