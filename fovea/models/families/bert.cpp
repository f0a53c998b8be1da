// BERT (Devlin et al. 2019), with its heads: masked words, labels of texts and of tokens, answers in a text.
#include "fovea/models/bert_body.h"
#include "fovea/models/encoder_heads.h"
#include "fovea/nn/activation.h"

namespace fovea {
namespace {

struct Bert {
  static constexpr std::string_view name = "bert", prefix = "bert.";
  using Config = BertConfig;
  using Body = BertBody;
  static Body body(const BertConfig& c) { return Body(c); }
  static std::string plain_name(const std::string& stored) { return plain_bert_name(stored, prefix); }
  static bool in_body(std::string_view plain) {
    return plain.starts_with("embeddings.") || plain.starts_with("encoder.") || plain.starts_with("pooler.");
  }
  static bool useless(std::string_view plain, const BertConfig& c) {
    return plain == "embeddings.position_ids" || plain.starts_with("cls.seq_relationship.") ||
           (plain.starts_with("pooler.") && !c.has(text_head)) || plain == "cls.predictions.decoder.bias" ||
           (plain == "cls.predictions.decoder.weight" && c.tie_word_embeddings);
  }

  // logits = norm(gelu(W x)) Eᵀ + b, with the embedding E
  class GapHead final {
   public:
    explicit GapHead(const BertConfig& c)
        : activation_(activation_named(c.hidden_act)),
          dense_({c.hidden_size, c.hidden_size}),
          norm_({c.hidden_size, c.layer_norm_eps}),
          bias_(Shape{c.vocab_size}) {
      if (!c.tie_word_embeddings) decoder_ = Weight({c.vocab_size, c.hidden_size}, Weight::Use::product);
    }
    Tensor operator()(const Tensor& x, const Embedding& words) const {
      return linear(norm_(dense_(x, activation_)), decoder_ ? decoder_ : words.weight(), bias_);
    }
    void weights(Weights& w) {
      w("cls.predictions.transform.dense", dense_);
      w("cls.predictions.transform.LayerNorm", norm_);
      w("cls.predictions.bias", bias_, {Init::zeros});
      if (decoder_) w("cls.predictions.decoder.weight", decoder_, {Init::normal, 0.02});
    }

   private:
    Activation activation_;
    Linear dense_;
    LayerNorm norm_;
    Weight bias_, decoder_;
  };

  // logits = C tanh(W x)
  class TextHead final {
   public:
    TextHead(const BertConfig& c, int64_t labels)
        : dropout_(c.head_dropout()), pooler_({c.hidden_size, c.hidden_size}), classifier_({c.hidden_size, labels}) {}
    Tensor operator()(const Tensor& x, const Context& c) const {
      return classifier_(dropout_(pooler_(x, Activation::tanh), c));
    }
    void weights(Weights& w) { w("bert.pooler.dense", pooler_), w("classifier", classifier_); }

   private:
    Dropout dropout_;
    Linear pooler_, classifier_;
  };
};

}  // namespace

extern const Family bert = headed_family<Bert>(
    "BERT, MiniLM and what is stored like them, with its heads (Devlin et al. 2019)",
    R"([{"architectures": "BertModel", "hidden_size": 24, "num_attention_heads": [2, 3], "num_hidden_layers": 2,
         "intermediate_size": 33, "max_position_embeddings": 40, "hidden_act": ["gelu", "gelu_new"]},
        {"architectures": ["BertForMaskedLM", "BertForSequenceClassification", "BertForTokenClassification",
                           "BertForQuestionAnswering"],
         "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 33,
         "max_position_embeddings": 40}])",
    R"({"learning_rate": 5e-5})");

}  // namespace fovea
