// BERT (Devlin et al. 2019), with its heads: masked words, labels of texts and of tokens, answers in a text.
#include "fovea/models/bert_body.h"
#include "fovea/models/encoder_heads.h"
#include "fovea/nn/activation.h"

namespace fovea {
namespace {

struct Bert {
  static constexpr std::string_view name = "bert", class_name = "Bert", prefix = "bert.";
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

  static GapHead for_gaps(const BertConfig& c) {
    return GapHead({.width = c.hidden_size,
                    .vocabulary = c.vocab_size,
                    .epsilon = c.layer_norm_eps,
                    .activation = activation_named(c.hidden_act),
                    .tied = c.tie_word_embeddings,
                    .dense = "cls.predictions.transform.dense",
                    .norm = "cls.predictions.transform.LayerNorm",
                    .bias = "cls.predictions.bias",
                    .decoder = "cls.predictions.decoder.weight"});
  }
  static TextHead for_texts(const BertConfig& c, int64_t labels) {
    return TextHead({.width = c.hidden_size,
                     .labels = labels,
                     .after = c.head_dropout(),
                     .dense = "bert.pooler.dense",
                     .output = "classifier"});
  }
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
    headed_training);

}  // namespace fovea
