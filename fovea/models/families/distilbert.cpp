// DistilBERT (Sanh et al. 2019): BERT's encoder with half the layers and no token types.
#include "fovea/models/bert_body.h"
#include "fovea/models/encoder_heads.h"
#include "fovea/nn/activation.h"

namespace fovea {
namespace {

struct DistilBertConfig : BertConfig {
  double seq_classif_dropout = 0.2;

  DistilBertConfig() { num_hidden_layers = 6, type_vocab_size = 0; }
  void fields(Fields& f) {
    f.from_data("architectures", architectures, "the model with its head");
    f.from_data("vocab_size", vocab_size, "size of the vocabulary");
    f("dim", hidden_size, "width of a token");
    f("n_layers", num_hidden_layers, "layers");
    f("n_heads", num_attention_heads, "attention heads");
    f("hidden_dim", intermediate_size, "width of the feed-forward's hidden layer");
    f("activation", hidden_act, "its activation");
    f("max_position_embeddings", max_position_embeddings, "positions that were learned");
    f("dropout", hidden_dropout_prob, "share of each sub-layer's result that is dropped in training");
    f("attention_dropout", attention_probs_dropout_prob, "share of the weights that is dropped in training");
    f("seq_classif_dropout", seq_classif_dropout, "share of what the head for labels of a text reads that is dropped");
    f.from_data("problem_type", problem_type, "what the labels of a text mean");
    f.from_data("tie_word_embeddings", tie_word_embeddings, "whether the output shares the embedding");
    f.from_data("pad_token_id", pad_token_id, "id of padding");
    f.numbered("id2label", id2label);
    f.passed_over({"bos_token_id", "eos_token_id", "qa_dropout", "sinusoidal_pos_embds", "tie_weights_"});
    pass_over_foreign(f);
  }
};

struct DistilBert {
  static constexpr std::string_view name = "distilbert", class_name = "DistilBert", prefix = "distilbert.";
  using Config = DistilBertConfig;
  using Body = BertBody;
  static Body body(const Config& c) {
    return Body(c, 0,
                {"transformer.layer", "attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin",
                 "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm"});
  }
  static std::string plain_name(const std::string& stored) { return plain_bert_name(stored, prefix); }
  static bool in_body(std::string_view plain) {
    return plain.starts_with("embeddings.") || plain.starts_with("transformer.");
  }
  static bool useless(std::string_view plain, const DistilBertConfig& c) {
    return plain == "embeddings.position_ids" || (plain == "vocab_projector.weight" && c.tie_word_embeddings);
  }

  static GapHead for_gaps(const DistilBertConfig& c) {
    return GapHead({.width = c.hidden_size,
                    .vocabulary = c.vocab_size,
                    .activation = activation_named(c.hidden_act),
                    .tied = c.tie_word_embeddings,
                    .dense = "vocab_transform",
                    .norm = "vocab_layer_norm",
                    .bias = "vocab_projector.bias",
                    .decoder = "vocab_projector.weight"});
  }
  static TextHead for_texts(const DistilBertConfig& c, int64_t labels) {
    return TextHead({.width = c.hidden_size,
                     .labels = labels,
                     .activation = Activation::relu,
                     .after = c.seq_classif_dropout,
                     .dense = "pre_classifier",
                     .output = "classifier"});
  }
};

}  // namespace

extern const Family distilbert = headed_family<DistilBert>(
    "DistilBERT, with its heads (Sanh et al. 2019)",
    R"([{"architectures": ["DistilBertModel", "DistilBertForMaskedLM", "DistilBertForSequenceClassification",
                           "DistilBertForTokenClassification", "DistilBertForQuestionAnswering"],
         "dim": 24, "n_heads": 3, "n_layers": 2, "hidden_dim": 33, "max_position_embeddings": 40}])",
    headed_training);

}  // namespace fovea
