// Marian (Junczys-Dowmunt et al. 2018), as the translators of OPUS-MT are stored.
#include "fovea/models/bart_model.h"

namespace fovea {
namespace {

class Marian final : public BartModel {
 public:
  struct Config : BartConfig {
    Config()
        : BartConfig{.family = "marian",
                     .sinusoids = true,
                     .embedding_norm = false,
                     .two_vocabularies = true,
                     .vocab_size = 58101,
                     .pad_token_id = 58100,
                     .eos_token_id = 0,
                     .decoder_start_token_id = 58100} {}
  };
  explicit Marian(const Config& c) : BartModel(c) {}
};

}  // namespace

extern const Family marian = family_of<Marian>(
    "marian", "Marian, encoder and decoder: the translators of OPUS-MT (Junczys-Dowmunt et al. 2018)",
    R"([{"d_model": 24, "encoder_layers": 2, "encoder_attention_heads": 3, "encoder_ffn_dim": 33, "decoder_layers": 1,
         "decoder_attention_heads": 2, "decoder_ffn_dim": 30, "max_position_embeddings": 40, "dropout": 0,
         "activation_function": ["swish", "relu"], "scale_embedding": [true, false], "eos_token_id": 2,
         "decoder_start_token_id": 1},
        {"d_model": 24, "encoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 33, "decoder_layers": 1,
         "decoder_attention_heads": 2, "decoder_ffn_dim": 30, "dropout": 0, "eos_token_id": 2,
         "decoder_start_token_id": 1, "share_encoder_decoder_embeddings": false,
         "tie_word_embeddings": [true, false]}])");

}  // namespace fovea
