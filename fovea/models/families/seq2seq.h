// A recurrent encoder and a recurrent decoder that looks back at the encoder's states h through attention.
//
//   h[j] = [h→[j]; h←[j]],   s[0] = tanh(W [last h→; last h←])
//
//   order "bahdanau" (Bahdanau, Cho and Bengio 2014): attend with the state before the step
//     c[t] = attend(s[t−1], h)   s[t] = cell([y[t−1]; c[t]], s[t−1])   o[t] = tanh(W [s[t]; c[t]; y[t−1]])
//   order "luong" (Luong, Pham and Manning 2015): attend with the state after it; input feeding hands o[t−1] on
//     s[t] = cell([y[t−1]; o[t−1]], s[t−1])   c[t] = attend(s[t], h)   o[t] = tanh(W [c[t]; s[t]])
//
//   Seq2Seq model({.vocabulary = 8000, .attention = "additive"});
//   Tensor logits = model.logits(source, inputs, context);
//
// Coverage: source_attention.h. In training a token's loss is ℓ[t] = −log p + coverage_loss · Σ min(a[t,j], c[t,j]) over j.
//
// With a pointer (See, Liu and Manning 2017) it can also copy tokens of the source, by the weights a[t] of its attention; logits()
// and step() then give log-probabilities (copying.h). The gate is p[t] = σ(wᵀ [c[t]; s[t]; y[t−1]] + b).
//
// A hard choice j[t] ~ a[t] learns by REINFORCE (Williams 1992) from the losses of its own and later steps, less those that
// the most probable choices would have had (the self-critic of Rennie et al. 2017), with a bonus for the entropy H of the
// weights. loss() has the value Σ ℓ[t] and the gradient of
//
//   Σ ℓ[t] + (Σ ℓ[t′] − ℓ_greedy[t′] over t′ ≥ t) log a[t, j[t]] − entropy_bonus · H(a[t])   the bracket taken as a constant
//
// With attention "none" c[t] is always [last h→; last h←], the one vector that has to hold the whole sentence. The place of
// its attention: decoder.attention.
#pragma once

#include <optional>

#include "fovea/models/cells.h"
#include "fovea/models/copying.h"
#include "fovea/models/family.h"
#include "fovea/models/source_attention.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"

namespace fovea {

class Seq2Seq final : public Model, public Encoder, public Generator, public Copier {
 public:
  struct Config {
    int64_t vocabulary = 0, source_vocabulary = 0;
    std::string cell = "lstm";
    int64_t embedding = 256;
    int64_t encoder_width = 256, encoder_layers = 1;
    bool bidirectional = true;
    int64_t decoder_width = 512, decoder_layers = 1;
    std::string attention = "additive";
    int64_t attention_width = 0;
    std::string order = "bahdanau";
    bool input_feeding = true;
    std::string selection = "soft";
    std::string hard_gradient = "straight-through";
    double entropy_bonus = 0.01;  // REINFORCE
    bool coverage = false;
    double coverage_loss = 0;
    bool pointer = false;
    int64_t readout = 0;
    bool tied = false;
    double dropout = 0;
    int64_t padding = 0, start = 1, end = 2, unknown = 3;

    void fields(Fields& f);
    Config completed() const;  // with the sizes that 0 stands for; an Error if something does not go together
  };
  explicit Seq2Seq(const Config&);

  Tensor encode(const Source&, const Context&) const override;  // h
  Tensor logits(const Source&, const Tensor& target_ids, const Context&) const override;
  Tensor loss(const Source&, const Tensor& target_ids, const Tensor& wanted_ids, const CrossEntropyOptions&,
              const Context&) const override;
  std::unique_ptr<DecoderState> start(const Source&, const Context&) const override;
  Tensor steps(DecoderState&, const Tensor& ids, std::span<const int64_t> starts, const Context&) const override;

  void weights(Weights& w) override;
  std::string_view family() const override { return "seq2seq"; }
  std::string config() const override { return family_json(family(), config_); }
  int64_t vocabulary() const override { return config_.vocabulary; }
  SpecialIds special_ids() const override { return {config_.padding, config_.start, config_.end, -1}; }
  std::string source_attention() const override { return attention_ ? "decoder.attention" : ""; }
  bool copies() const override { return config_.pointer; }

 protected:
  void list_places(const Places& p) const override {
    Place place = target_to_source;
    place.residual = false;
    if (attention_) p.at("decoder").at("attention").add(place);
  }

 private:
  struct State;
  struct Notes;  // of each step, what training needs beside the logits
  struct Encoded {
    Tensor states, lengths, summary;  // [batch, tokens, memory width], i64 [batch], [batch, memory width]
    RecurrentState first;             // of the decoder
    Tensor ids;                       // with a pointer: what may be copied
  };

  bool bahdanau() const { return config_.order == "bahdanau"; }
  bool feeding() const { return !bahdanau() && config_.input_feeding; }
  bool feeds_back() const;  // whether a step needs more of the one before it than its state
  int64_t memory_width() const { return (config_.bidirectional ? 2 : 1) * config_.encoder_width; }
  Encoded encoded(const Source&, const Context&) const;
  State first_state(const Encoded&) const;
  bool reinforced() const { return config_.selection == "hard" && config_.hard_gradient == "reinforce"; }
  Tensor decoded(const Encoded&, const Tensor& target_ids, State&, const Context&) const;  // logits
  Tensor next(State&, const Tensor& ids, const Context&) const;                            // of one token for each row
  struct Look {
    Tensor context, weights;  // [batch, steps, …]; weights where something needs them
  };
  Look look(const Tensor& queries, State&, const Context&) const;
  Tensor readable(const Tensor& ids) const;
  Tensor embedded(const Embedding&, const Tensor& ids, const Context&) const;
  // All [batch, steps, …]: y the embedded tokens, s, c and a of the equations above.
  struct Steps {
    Tensor y, after, context, weights;
  };
  Steps advance(const Tensor& y, State&, const Context&) const;
  Tensor readout(const Steps&) const;  // o
  // o of all steps with the tokens given, and the steps.
  std::pair<Tensor, Steps> readouts(const Tensor& y, State&, const Context&) const;
  Tensor output(const Tensor& o, const Steps&, const State&, const Context&) const;

  Config config_;
  Dropout dropout_;
  Embedding embedding_;
  std::optional<Embedding> source_embedding_;
  Cells encoder_, decoder_;
  Linear bridge_;
  std::optional<Linear> cell_bridge_;
  std::optional<SourceAttention> attention_;
  Linear readout_;
  std::optional<Linear> output_, gate_;
};

}  // namespace fovea
