#include "fovea/models/families/captioner.h"

#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

using Config = PictureCaptioner::Config;

VitConfig vit_config(const Config& c) {
  VitConfig v;
  v.hidden_size = c.encoder_width, v.intermediate_size = 2 * c.encoder_width;
  v.num_hidden_layers = c.encoder_layers, v.num_attention_heads = c.encoder_heads;
  v.image_size = c.image_size, v.patch_size = c.patch_size, v.num_channels = c.num_channels;
  v.layer_norm_eps = 1e-5, v.hidden_dropout_prob = c.dropout;
  v.check("captioner");
  return v;
}

RecurrentDecoder::Config decoder_config(const Config& c) {
  return {.vocabulary = c.vocabulary,
          .embedding = c.embedding,
          .memory_width = c.encoder_width,
          .cell = c.cell,
          .width = c.decoder_width,
          .layers = c.decoder_layers,
          .attention = c.attention,
          .attention_width = c.attention_width,
          .selection = c.selection,
          .hard_gradient = c.hard_gradient,
          .entropy_bonus = c.entropy_bonus,
          .context_gate = c.context_gate,
          .doubly_stochastic = c.doubly_stochastic,
          .readout = c.readout,
          .dropout = c.dropout,
          .padding = c.padding};
}

}  // namespace

void Config::fields(Fields& f) {
  f.from_data("vocabulary", vocabulary, "size of the vocabulary");
  f("image_size", image_size, "rows and columns of a picture");
  f("num_channels", num_channels, "3: red, green and blue; 1: grey");
  f("patch_size", patch_size, "rows and columns of each part that can be looked at");
  f("encoder", encoder, "convolutions: parts know what is around them; vit: they look at each other");
  f("encoder_width", encoder_width, "width of a part's features");
  f("encoder_layers", encoder_layers, "layers behind those that cut the picture into parts");
  f("encoder_kernel", encoder_kernel, "convolutions: rows and columns of the kernels of these layers; 1: a part alone");
  f("encoder_heads", encoder_heads, "vit: attention heads");
  f("cell", cell, "lstm or gru");
  f("embedding", embedding, "width of an embedded token");
  f("decoder_width", decoder_width, "width of the decoder's state");
  f("decoder_layers", decoder_layers, "layers of the decoder");
  f("attention", attention, "additive, dot, general, concat, scaled-dot or none (the mean of all parts)");
  f("attention_width", attention_width, "hidden width of additive and concat scores; 0: decoder_width");
  f("selection", selection, "soft: the mean of the parts by their weights, hard: one of them");
  f("hard_gradient", hard_gradient, "gradient of a hard choice: reinforce, marginal or straight-through");
  f("entropy_bonus", entropy_bonus, "reinforce: how much the entropy of the weights is worth");
  f("doubly_stochastic", doubly_stochastic, "soft: how much it costs that a part's weights do not add up to 1");
  f("context_gate", context_gate, "whether a gate says how much of what is seen counts for a word");
  f("readout", readout, "width of what the output is computed from; 0: decoder_width");
  f("dropout", dropout, "share of embeddings, of layers' outputs and of the readout that is dropped in training");
  f.from_data("padding", padding, "id of padding");
  f.from_data("start", start, "id before the first token");
  f.from_data("end", end, "id after the last token");
}

Config Config::completed() const {
  Config c = *this;
  for (const auto& [name, size] : {std::pair{"vocabulary", vocabulary},
                                   {"embedding", embedding},
                                   {"encoder_width", encoder_width},
                                   {"decoder_width", decoder_width},
                                   {"patch_size", patch_size}})
    check_size("captioner", name, size);
  check_layers("captioner", "decoder_layers", decoder_layers);
  check_choice("captioner", "encoder", encoder, {"convolutions", "vit"});
  check_choice("captioner", "cell", cell, {"lstm", "gru"});
  check_choice("captioner", "selection", selection, {"soft", "hard"});
  check_choice("captioner", "hard_gradient", hard_gradient, {"straight-through", "marginal", "reinforce"});
  check_share("captioner", "dropout", dropout);
  require(decoder_layers > 0, "captioner: found no decoder_layers, expected at least 1");
  require(entropy_bonus >= 0 && doubly_stochastic >= 0,
          "captioner: found an entropy_bonus of {} and doubly_stochastic of {}, expected 0 or more", entropy_bonus,
          doubly_stochastic);
  require(doubly_stochastic == 0 || (attention != "none" && selection == "soft"),
          "captioner: found doubly_stochastic with attention '{}' and selection '{}', expected a form of attention, "
          "and soft",
          attention, selection);
  if (c.attention_width == 0) c.attention_width = c.decoder_width;
  if (c.readout == 0) c.readout = c.decoder_width;
  for (int64_t id : {padding, start, end})
    require(0 <= id && id < vocabulary, "captioner: found a special id {}, expected 0 to {}", id, vocabulary - 1);
  return c;
}

PictureCaptioner::PictureCaptioner(const Config& given)
    : config_(given.completed()),
      bridge_({config_.encoder_width, config_.decoder_layers * config_.decoder_width}),
      decoder_(decoder_config(config_)) {
  const Config& c = config_;
  if (c.encoder == "vit")
    vit_.emplace(vit_config(c), 0);
  else
    grid_.emplace(PictureGrid::Config{c.num_channels, c.image_size, c.patch_size, c.encoder_width, c.encoder_layers,
                                      c.encoder_kernel});
  if (c.cell == "lstm") cell_bridge_.emplace(Linear::Config{c.encoder_width, c.decoder_layers * c.decoder_width, true});
}

void PictureCaptioner::weights(Weights& w) {
  if (grid_) w("encoder", *grid_);
  if (vit_) w("encoder", *vit_);
  w("bridge", bridge_);
  if (cell_bridge_) w("cell_bridge", *cell_bridge_);
  w("embedding", decoder_.embedding());
  decoder_.weights(w);
}

void PictureCaptioner::list_places(const Places& p) const {
  if (vit_) vit_->places(p);
  if (decoder_.attends())
    p.at("decoder")
        .at("attention")
        .add({.kind = Place::Kind::cross, .rows = "target", .columns = "patches", .residual = false});
}

PictureShape PictureCaptioner::picture_shape() const {
  const int64_t patches = config_.image_size / config_.patch_size;
  return {config_.num_channels, config_.image_size, config_.image_size, patches, patches, 0};
}

Tensor PictureCaptioner::encode_pictures(const Tensor& pixels, const Context& c) const {
  require(pixels && pixels.rank() == 4, "captioner: found pixels {}, expected [batch, channels, height, width]",
          pixels ? pixels.shape().text() : "missing");
  return grid_ ? (*grid_)(pixels) : (*vit_)(pixels, c);
}

RecurrentMemory PictureCaptioner::memory(const Source& source, const Context& c) const {
  require(source.pixels || source.states,
          "captioner: found a text or nothing to read, expected a picture; fovea caption takes one");
  RecurrentMemory m = {source.states ? source.states : encode_pictures(source.pixels, c), {}, {}, {}};
  m.summary = mean(m.states, {1});
  m.first.hidden = by_layer(bridge_(m.summary, Activation::tanh), config_.decoder_layers);
  if (cell_bridge_) m.first.cell = by_layer((*cell_bridge_)(m.summary), config_.decoder_layers);
  return m;
}

Tensor PictureCaptioner::logits(const Source& source, const Tensor& target_ids, const Context& c) const {
  return decoder_.logits(memory(source, c), target_ids, c);
}

Tensor PictureCaptioner::loss(const Source& source, const Tensor& target_ids, const Tensor& wanted_ids,
                              const CrossEntropyOptions& options, const Context& c) const {
  return decoder_.loss(memory(source, c), target_ids, wanted_ids, options, c);
}

std::unique_ptr<DecoderState> PictureCaptioner::start(const Source& source, const Context& c) const {
  return decoder_.start(memory(source, c));
}

Tensor PictureCaptioner::steps(DecoderState& state, const Tensor& ids, std::span<const int64_t> starts,
                               const Context& c) const {
  return decoder_.steps(state, ids, starts, c);
}

extern const Family captioner = family_of<PictureCaptioner>(
    "captioner", "looks at a part of a picture for each word that it writes (Xu et al. 2015)",
    R"([{"image_size": 12, "patch_size": 4, "encoder_width": 12, "embedding": 9, "attention_width": 17,
         "attention": ["additive", "scaled-dot", "none"], "cell": "gru", "context_gate": [false, true], "decoder_width": 12},
        {"image_size": 16, "patch_size": 4, "encoder_width": 12, "embedding": 9, "decoder_width": 20, "decoder_layers": 2,
         "encoder": ["convolutions", "vit"], "selection": ["soft", "hard"]}])",
    R"({"dropout": 0.1, "learning_rate": 2e-3, "warmup": 100})");

}  // namespace fovea
