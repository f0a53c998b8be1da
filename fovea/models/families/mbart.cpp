// mBART (Liu et al. 2020): BART for many languages, whose layers normalise before each sub-layer. The language to write in is
// the first token that is written: forced_bos_token_id.
#include "fovea/models/bart_model.h"

namespace fovea {
namespace {

class MBart final : public BartModel {
 public:
  struct Config : BartConfig {
    Config() : BartConfig{.family = "mbart", .norm_first = true} {}
  };
  explicit MBart(const Config& c) : BartModel(c) {}
};

}  // namespace

extern const Family mbart = family_of<MBart>(
    "mbart", "mBART, encoder and decoder for many languages (Liu et al. 2020)",
    R"([{"d_model": 24, "encoder_layers": 2, "encoder_attention_heads": 3, "encoder_ffn_dim": 33, "decoder_layers": 2,
         "decoder_attention_heads": 3, "decoder_ffn_dim": 30, "max_position_embeddings": 40, "dropout": 0,
         "scale_embedding": [true, false], "activation_function": "relu"}])");

}  // namespace fovea
