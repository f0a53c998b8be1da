// RoBERTa (Liu et al. 2019): BERT's encoder, whose positions begin behind the padding's, with heads of its own.
#pragma once

#include "fovea/models/bert_body.h"
#include "fovea/models/encoder_heads.h"

namespace fovea {

struct Roberta {
  static constexpr std::string_view name = "roberta", class_name = "Roberta", prefix = "roberta.";
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

  static GapHead for_gaps(const BertConfig& c) {
    return GapHead({.width = c.hidden_size,
                    .vocabulary = c.vocab_size,
                    .epsilon = c.layer_norm_eps,
                    .tied = c.tie_word_embeddings,
                    .dense = "lm_head.dense",
                    .norm = "lm_head.layer_norm",
                    .bias = "lm_head.bias",
                    .decoder = "lm_head.decoder.weight"});
  }
  static TextHead for_texts(const BertConfig& c, int64_t labels) {
    return TextHead({.width = c.hidden_size,
                     .labels = labels,
                     .before = c.head_dropout(),
                     .after = c.head_dropout(),
                     .dense = "classifier.dense",
                     .output = "classifier.out_proj"});
  }
};

}  // namespace fovea
