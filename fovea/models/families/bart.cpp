// BART (Lewis et al. 2019): an encoder and a decoder that learned to restore damaged texts, and from there to summarise.
#include "fovea/models/bart_model.h"

namespace fovea {
namespace {

class Bart final : public BartModel {
 public:
  struct Config : BartConfig {
    Config() : BartConfig{.family = "bart"} {}
  };
  explicit Bart(const Config& c) : BartModel(c) {}
};

}  // namespace

extern const Family bart = family_of<Bart>(
    "bart", "BART, encoder and decoder (Lewis et al. 2019)",
    R"([{"d_model": 24, "encoder_layers": 2, "encoder_attention_heads": 3, "encoder_ffn_dim": 33, "decoder_layers": 2,
         "decoder_attention_heads": 3, "decoder_ffn_dim": 30, "max_position_embeddings": 40, "dropout": 0,
         "scale_embedding": [true, false], "tie_word_embeddings": [true, false]}])");

}  // namespace fovea
