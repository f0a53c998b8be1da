// mT5 (Xue et al. 2020): T5 1.1 for many languages.
#include "fovea/models/t5_model.h"

namespace fovea {
namespace {

class MT5 final : public T5Model {
 public:
  struct Config : T5Config {
    Config()
        : T5Config{.family = "mt5",
                   .scales = false,
                   .vocab_size = 250112,
                   .d_ff = 1024,
                   .num_layers = 8,
                   .num_heads = 6,
                   .feed_forward_proj = "gated-gelu",
                   .tie_word_embeddings = false} {}
  };
  explicit MT5(const Config& c) : T5Model(c) {}
};

}  // namespace

extern const Family mt5 =
    family_of<MT5>("mt5", "mT5, encoder and decoder for many languages (Xue et al. 2020)",
                   R"([{"d_model": 24, "d_kv": 5, "d_ff": 33, "num_layers": 1, "num_decoder_layers": 2, "num_heads": 4,
         "relative_attention_num_buckets": 8, "relative_attention_max_distance": 12, "dropout_rate": 0,
         "eos_token_id": 2, "decoder_start_token_id": 1}])");

}  // namespace fovea
