// The encoder of BERT (Devlin et al. 2019) and RoBERTa (Liu et al. 2019), under the names that Hugging Face gives its weights.
//
//   x = norm(E[words] + P[positions] + T[types])
//   y = norm(x + attention(x)),   x = norm(y + W₂ gelu(W₁ y))             for each layer
//
//   BertBody body(config);   Tensor states = body(packed(source), context);             // [1, tokens of all rows, width]
//
// Places of its attentions: encoder.I.self.
#pragma once

#include <string>
#include <vector>

#include "fovea/attention/self_attention.h"
#include "fovea/models/packed_source.h"
#include "fovea/nn/dropout.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/norm.h"

namespace fovea {

struct BertConfig {
  std::vector<std::string> architectures = {};
  int64_t vocab_size = 30522, hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12;
  int64_t intermediate_size = 3072, max_position_embeddings = 512, type_vocab_size = 2, pad_token_id = 0;
  std::string hidden_act = "gelu", position_embedding_type = "absolute", problem_type = {};
  double layer_norm_eps = 1e-12, hidden_dropout_prob = 0.1, attention_probs_dropout_prob = 0.1;
  double classifier_dropout = -1;  // below 0: hidden_dropout_prob
  std::vector<std::string> id2label = {};
  bool tie_word_embeddings = true, is_decoder = false;

  void fields(Fields& f);
  void check(std::string_view model) const;
  bool has(std::string_view head) const;  // whether the architecture ends with it, "ForMaskedLM" for one
  double head_dropout() const { return classifier_dropout < 0 ? hidden_dropout_prob : classifier_dropout; }
};

// What the weights are called, in the order of the figure.
struct BertNames {
  const char *layers = "encoder.layer", *query = "attention.self.query", *key = "attention.self.key",
             *value = "attention.self.value", *attention_output = "attention.output.dense",
             *attention_norm = "attention.output.LayerNorm", *intermediate = "intermediate.dense",
             *output = "output.dense", *output_norm = "output.LayerNorm";
};

class BertLayer final {
 public:
  BertLayer(const BertConfig&, const BertNames&);

  Tensor operator()(const Tensor& x, const Mask&, const Context&) const;
  void weights(Weights& w);
  void places(const Places& p) const {
    p.at("self").add({.heads = heads_, .key_heads = heads_, .rows = "source", .columns = "source"});
  }

 private:
  BertNames names_;
  int64_t heads_;
  Activation activation_;
  double attention_dropout_;
  Dropout dropout_;
  Linear query_, key_, value_, attention_output_, intermediate_, output_;
  LayerNorm attention_norm_, output_norm_;
};

class BertBody final {
 public:
  // The first token stands at position `offset`: 0 in BERT, behind the padding's in RoBERTa. No types: none are told apart.
  explicit BertBody(const BertConfig&, int64_t offset = 0, const BertNames& = {});

  Tensor operator()(const PackedSource&, const Context&) const;
  const Embedding& words() const { return words_; }
  int64_t longest() const { return positions_.size(0) - offset_; }  // tokens of a text
  std::string last_attention() const { return fmt::format("encoder.{}.self", layers_.size() - 1); }
  void weights(Weights& w);
  void places(const Places& p) const { p.at("encoder").layers(layers_); }

 private:
  BertNames names_;
  int64_t offset_;
  Embedding words_;
  Weight positions_, types_;
  LayerNorm norm_;
  Dropout dropout_;
  std::vector<BertLayer> layers_;
};

// The names that files of BERT's kin have had: "bert.embeddings.LayerNorm.gamma" → "embeddings.LayerNorm.weight".
std::string plain_bert_name(std::string name, std::string_view prefix);

}  // namespace fovea
