// RoBERTa (Liu et al. 2019): BERT's encoder, whose positions begin behind the padding's, with heads of its own.
#pragma once

#include "fovea/models/bert_body.h"
#include "fovea/models/encoder_heads.h"

namespace fovea {

struct Roberta {
  static constexpr std::string_view name = "roberta", prefix = "roberta.";
  using Config = BertConfig;
  using Body = BertBody;
  static Body body(const BertConfig& c) {
    require(c.pad_token_id >= 0 && c.pad_token_id + 1 < c.max_position_embeddings,
            "{}: found pad_token_id {} with {} positions, expected fewer", name, c.pad_token_id,
            c.max_position_embeddings);
    return Body(c, c.pad_token_id + 1);
  }
  static std::string plain_name(const std::string& stored) { return plain_bert_name(stored, prefix); }
  static bool in_body(std::string_view plain) {
    return plain.starts_with("embeddings.") || plain.starts_with("encoder.") || plain.starts_with("pooler.");
  }
  static bool useless(std::string_view plain, const BertConfig& c) {
    return plain == "embeddings.position_ids" || plain.starts_with("pooler.") || plain == "lm_head.decoder.bias" ||
           (plain == "lm_head.decoder.weight" && c.tie_word_embeddings);
  }

  // logits = norm(gelu(W x)) Eᵀ + b
  class GapHead final {
   public:
    explicit GapHead(const BertConfig& c)
        : dense_({c.hidden_size, c.hidden_size}), norm_({c.hidden_size, c.layer_norm_eps}), bias_(Shape{c.vocab_size}) {
      if (!c.tie_word_embeddings) decoder_ = Weight({c.vocab_size, c.hidden_size}, Weight::Use::product);
    }
    Tensor operator()(const Tensor& x, const Embedding& words) const {
      return linear(norm_(dense_(x, Activation::gelu)), decoder_ ? decoder_ : words.weight(), bias_);
    }
    void weights(Weights& w) {
      w("lm_head.dense", dense_);
      w("lm_head.layer_norm", norm_);
      w("lm_head.bias", bias_, {Init::zeros});
      if (decoder_) w("lm_head.decoder.weight", decoder_, {Init::normal, 0.02});
    }

   private:
    Linear dense_;
    LayerNorm norm_;
    Weight bias_, decoder_;
  };

  // logits = C tanh(W x)
  class TextHead final {
   public:
    TextHead(const BertConfig& c, int64_t labels)
        : dropout_(c.head_dropout()), dense_({c.hidden_size, c.hidden_size}), output_({c.hidden_size, labels}) {}
    Tensor operator()(const Tensor& x, const Context& c) const {
      return output_(dropout_(dense_(dropout_(x, c.at("first")), Activation::tanh), c.at("second")));
    }
    void weights(Weights& w) { w("classifier.dense", dense_), w("classifier.out_proj", output_); }

   private:
    Dropout dropout_;
    Linear dense_, output_;
  };
};

}  // namespace fovea
