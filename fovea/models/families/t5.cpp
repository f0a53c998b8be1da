// T5 (Raffel et al. 2019), T5 1.1 and FLAN-T5: every task is a text that says what is wanted ("translate English to German: …").
#include "fovea/models/t5_model.h"

namespace fovea {
namespace {

class T5 final : public T5Model {
 public:
  struct Config : T5Config {
    Config() : T5Config{.family = "t5"} {}
  };
  explicit T5(const Config& c) : T5Model(c) {}
};

}  // namespace

extern const Family t5 = family_of<T5>(
    "t5", "T5, encoder and decoder (Raffel et al. 2019)",
    R"([{"d_model": 24, "d_kv": 7, "d_ff": 33, "num_layers": 2, "num_heads": 3, "relative_attention_num_buckets": 8,
         "relative_attention_max_distance": 12, "dropout_rate": 0, "eos_token_id": 2, "decoder_start_token_id": 1,
         "feed_forward_proj": ["relu", "gated-gelu"], "tie_word_embeddings": [true, false]}])");

}  // namespace fovea
