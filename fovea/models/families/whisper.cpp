// Whisper (Radford et al. 2022): sound in, what is said out.
//
//   x = gelu(conv₂ gelu(conv₁ frames)) + P            two frames become one state
//   the encoder and the decoder of BART, which normalise before each sub-layer; keys have no bias;   logits = y Eᵀ
//
// Places of its attentions: encoder.I.self and decoder.I.cross over "frames", decoder.I.self.
#include "fovea/models/bart_model.h"
#include "fovea/models/cache_state.h"
#include "fovea/models/packed_source.h"
#include "fovea/models/padding.h"
#include "fovea/nn/convolution.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

constexpr int64_t frames_per_state = 2;

struct WhisperConfig {
  int64_t vocab_size = 51865, num_mel_bins = 80, d_model = 384;
  int64_t encoder_layers = 4, encoder_attention_heads = 6, encoder_ffn_dim = 1536;
  int64_t decoder_layers = 4, decoder_attention_heads = 6, decoder_ffn_dim = 1536;
  int64_t max_source_positions = 1500, max_target_positions = 448;
  std::string activation_function = "gelu";
  double dropout = 0, attention_dropout = 0, activation_dropout = 0;
  int64_t pad_token_id = 50257, bos_token_id = 50257, eos_token_id = 50257, decoder_start_token_id = 50258;

  void fields(Fields& f);
  void check() const;
  BartConfig side(int64_t positions) const;  // of the encoder or of the decoder
};

void WhisperConfig::fields(Fields& f) {
  f.from_data("vocab_size", vocab_size, "size of the vocabulary");
  f("num_mel_bins", num_mel_bins, "bands of pitch that it hears");
  f("d_model", d_model, "width of a token and of a state");
  f("encoder_layers", encoder_layers, "layers of the encoder");
  f("encoder_attention_heads", encoder_attention_heads, "attention heads of the encoder");
  f("encoder_ffn_dim", encoder_ffn_dim, "width of the feed-forward's hidden layer in the encoder");
  f("decoder_layers", decoder_layers, "layers of the decoder");
  f("decoder_attention_heads", decoder_attention_heads, "attention heads of the decoder");
  f("decoder_ffn_dim", decoder_ffn_dim, "width of the feed-forward's hidden layer in the decoder");
  f("max_source_positions", max_source_positions, "the most states of a window; each is made of two frames");
  f("max_target_positions", max_target_positions, "the most tokens");
  f("activation_function", activation_function, "of the feed-forward");
  f("dropout", dropout, "share of each sub-layer's result, and of the embeddings, that is dropped in training");
  f("attention_dropout", attention_dropout, "share of the attention weights that is dropped in training");
  f("activation_dropout", activation_dropout, "share of the feed-forward's hidden layer that is dropped in training");
  f.from_data("pad_token_id", pad_token_id, "id of padding");
  f.from_data("bos_token_id", bos_token_id, "id before the first token of a text");
  f.from_data("eos_token_id", eos_token_id, "id after the last token");
  f("decoder_start_token_id", decoder_start_token_id, "id before the first token that is written");
  f.passed_over({"architectures", "apply_spec_augment", "classifier_proj_size", "decoder_layerdrop",
                 "encoder_layerdrop", "forced_decoder_ids", "id2label", "init_std", "mask_feature_length",
                 "mask_feature_min_masks", "mask_feature_prob", "mask_time_length", "mask_time_min_masks",
                 "mask_time_prob", "median_filter_width", "num_hidden_layers", "scale_embedding", "tie_word_embeddings",
                 "use_weighted_layer_sum"});
  pass_over_foreign(f);
  pass_over_generation(f);
}

void WhisperConfig::check() const {
  for (const auto& [field, size] : {std::pair<const char*, int64_t>{"vocab_size", vocab_size},
                                    {"num_mel_bins", num_mel_bins},
                                    {"d_model", d_model},
                                    {"encoder_attention_heads", encoder_attention_heads},
                                    {"decoder_attention_heads", decoder_attention_heads},
                                    {"encoder_ffn_dim", encoder_ffn_dim},
                                    {"decoder_ffn_dim", decoder_ffn_dim},
                                    {"max_source_positions", max_source_positions},
                                    {"max_target_positions", max_target_positions}})
    check_size("whisper", field, size);
  check_layers("whisper", "encoder_layers", encoder_layers);
  check_layers("whisper", "decoder_layers", decoder_layers);
  require(decoder_layers > 0, "whisper: found no decoder_layers, expected at least 1");
  require(num_mel_bins <= 1024 && max_source_positions <= 1'000'000,
          "whisper: found num_mel_bins {} and max_source_positions {}, expected at most 1,024 and 1,000,000",
          num_mel_bins, max_source_positions);
  for (const auto& [field, id] : {std::pair<const char*, int64_t>{"pad_token_id", pad_token_id},
                                  {"eos_token_id", eos_token_id},
                                  {"decoder_start_token_id", decoder_start_token_id}})
    check_id("whisper", field, id, vocab_size);
}

BartConfig WhisperConfig::side(int64_t positions) const {
  return {.family = "whisper",
          .embedding_norm = false,
          .norm_first = true,
          .key_bias = false,
          .first_position = 0,
          .source = "frames",
          .vocab_size = vocab_size,
          .d_model = d_model,
          .encoder_layers = encoder_layers,
          .encoder_attention_heads = encoder_attention_heads,
          .encoder_ffn_dim = encoder_ffn_dim,
          .decoder_layers = decoder_layers,
          .decoder_attention_heads = decoder_attention_heads,
          .decoder_ffn_dim = decoder_ffn_dim,
          .max_position_embeddings = positions,
          .activation_function = activation_function,
          .dropout = dropout,
          .attention_dropout = attention_dropout,
          .activation_dropout = activation_dropout};
}

WhisperConfig checked(const WhisperConfig& c) { return c.check(), c; }

// Whose rows have how many of the given.
std::vector<int64_t> starts_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> starts = {0};
  for (int64_t length : lengths) starts.push_back(starts.back() + length);
  return starts;
}

class Whisper final : public MemoryWriter, public Listener {
 public:
  using Config = WhisperConfig;
  explicit Whisper(const Config& c)
      : config_(checked(c)),
        conv1_({c.num_mel_bins, c.d_model, 3, 1}),
        conv2_({c.d_model, c.d_model, 3, frames_per_state}),
        encoder_(c.side(c.max_source_positions), BartStack::Side::encoder),
        embedding_({.entries = c.vocab_size, .width = c.d_model, .padding = c.pad_token_id}),
        decoder_(c.side(c.max_target_positions), BartStack::Side::decoder) {}

  Tensor hear(const Source& source, const Context& c) const override { return memory_of(source, c).states; }
  SoundShape sound_shape() const override {
    return {config_.num_mel_bins, config_.max_source_positions * frames_per_state, frames_per_state};
  }

  void rewind(DecoderState& state) const override { dynamic_cast<CacheState&>(state).cache.forget_tokens(); }

  void weights(Weights& w) override {
    w("model.encoder.conv1", conv1_);
    w("model.encoder.conv2", conv2_);
    w("model.encoder", encoder_);
    w("model.decoder.embed_tokens", embedding_);
    w("model.decoder", decoder_);
  }
  std::string weight_path(const std::string& stored) const override {
    if (stored == "proj_out.weight") return "model.decoder.embed_tokens.weight";
    return stored.starts_with("encoder.") || stored.starts_with("decoder.") ? "model." + stored : stored;
  }
  std::string_view family() const override { return "whisper"; }
  std::string config() const override { return family_json(family(), config_); }
  int64_t vocabulary() const override { return config_.vocab_size; }
  SpecialIds special_ids() const override {
    return {config_.pad_token_id, config_.decoder_start_token_id, config_.eos_token_id, -1};
  }
  int64_t longest() const override { return config_.max_target_positions; }
  std::string source_attention() const override { return fmt::format("decoder.{}.cross", config_.decoder_layers - 1); }

 protected:
  void list_places(const Places& p) const override {
    encoder_.places(p.at("encoder")), decoder_.places(p.at("decoder"));
  }
  Memory memory_of(const Source& source, const Context& c) const override;
  PackedMemory packed_memory_of(const Source& source, const Context& c) const override;
  Tensor write(const Tensor& ids, const Memory& memory, const Context& c) const override {
    return decoder_(embedding_, ids, {.causal = true}, memory, c);
  }
  void remember(const Tensor& memories, const Context& c) const override { decoder_.remember(memories, c); }
  Tensor output(const Tensor& states) const override { return linear(states, embedding_.weight()); }

 private:
  Tensor states_of(const Tensor& frames) const;  // [bands, frames] → [states, width], before the encoder

  Config config_;
  FrameConvolution conv1_, conv2_;
  BartStack encoder_;
  Embedding embedding_;
  BartStack decoder_;
};

Tensor Whisper::states_of(const Tensor& frames) const {
  const Tensor one_by_one = frames.transpose(0, 1).contiguous();
  return conv2_(conv1_(one_by_one, Activation::gelu), Activation::gelu);
}

PackedMemory Whisper::packed_memory_of(const Source& source, const Context& context) const {
  const bool heard = static_cast<bool>(source.states);
  const Tensor& given = heard ? source.states : source.frames;
  require(given && given.rank() == 3 && given.size(heard ? 2 : 1) == (heard ? config_.d_model : config_.num_mel_bins),
          "whisper: found {}, expected sound: frames [batch, {}, frames]; fovea transcribe writes what is said in it",
          given ? given.shape().text() : "no frames", config_.num_mel_bins);
  const std::vector<int64_t> lengths = row_lengths(source.lengths, {given.size(0), given.size(heard ? 1 : 2)});
  std::vector<Tensor> rows;
  std::vector<int64_t> states;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const Tensor row = given.select(0, static_cast<int64_t>(i));
    rows.push_back(heard ? row.slice(0, 0, lengths[i]) : states_of(row.slice(1, 0, lengths[i])));
    states.push_back(rows.back().size(0));
    require(states.back() <= config_.max_source_positions, "whisper: found {} frames, expected at most {}", lengths[i],
            config_.max_source_positions * frames_per_state);
  }
  PackedMemory memory = {(rows.size() == 1 ? rows[0] : concat(rows, 0)).unsqueeze(0), starts_of(states)};
  if (heard) return memory;
  Context c = context.at("encoder");
  c.cache = nullptr;  // all frames are there at once
  const int64_t count = static_cast<int64_t>(memory.starts.size());
  memory.states = encoder_(memory.states, {.query_starts = tensor({count}, memory.starts)}, {}, c);
  return memory;
}

Memory Whisper::memory_of(const Source& source, const Context& c) const {
  const PackedMemory memory = packed_memory_of(source, c);
  std::vector<int64_t> lengths;
  for (size_t i = 0; i + 1 < memory.starts.size(); ++i) lengths.push_back(memory.starts[i + 1] - memory.starts[i]);
  const int64_t longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  const PackedSource places = {.ids = {}, .starts = memory.starts};
  return {unpacked(memory.states, places, longest), tensor({static_cast<int64_t>(lengths.size())}, lengths)};
}

}  // namespace

extern const Family whisper = family_of<Whisper>(
    "whisper", "Whisper: what is said in a recording (Radford et al. 2022)",
    R"([{"num_mel_bins": 5, "d_model": 24, "encoder_layers": 2, "encoder_attention_heads": 3, "encoder_ffn_dim": 33,
         "decoder_layers": 2, "decoder_attention_heads": [2, 3], "decoder_ffn_dim": 30, "max_source_positions": 20,
         "max_target_positions": 40, "decoder_start_token_id": 1}])");

}  // namespace fovea
