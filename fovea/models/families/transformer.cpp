#include "fovea/models/families/transformer.h"

#include "fovea/models/cache_state.h"

namespace fovea {
namespace {

using Config = Transformer::Config;

Config checked(const Config& c) {
  c.stack.check("transformer");
  require(c.vocabulary > 0 && c.source_vocabulary >= 0,
          "transformer: found a vocabulary of {} and of {} for the source, expected at least 1, and 0 or more",
          c.vocabulary, c.source_vocabulary);
  require(!c.tied || c.source_vocabulary == 0 || c.source_vocabulary == c.vocabulary,
          "transformer: found tied embeddings for vocabularies of {} and {}, expected equal ones (or tied: false)",
          c.source_vocabulary, c.vocabulary);
  for (int64_t id : {c.padding, c.start, c.end})
    require(0 <= id && id < c.vocabulary, "transformer: found a special id {}, expected 0 to {}", id, c.vocabulary - 1);
  return c;
}

}  // namespace

void Config::fields(Fields& f) {
  f.from_data("vocabulary", vocabulary, "size of the vocabulary");
  f.from_data("source_vocabulary", source_vocabulary, "size of the source's vocabulary; 0: the same");
  f("encoder_layers", encoder_layers, "layers of the encoder");
  f("decoder_layers", decoder_layers, "layers of the decoder");
  f("tied", tied, "whether source, target and output share one embedding");
  stack.fields(f);
  f.from_data("padding", padding, "id of padding");
  f.from_data("start", start, "id before the first token");
  f.from_data("end", end, "id after the last token");
}

Transformer::Transformer(const Config& c)
    : config_(checked(c)),
      embedding_({.entries = c.vocabulary, .width = c.stack.width, .padding = c.padding}),
      encoder_(c.stack, c.encoder_layers),
      decoder_(c.stack, c.decoder_layers, DecoderLayer::Cross::memory) {
  if (c.tied) return;
  source_embedding_.emplace(Embedding::Config{.entries = c.source_vocabulary > 0 ? c.source_vocabulary : c.vocabulary,
                                              .width = c.stack.width,
                                              .padding = c.padding});
  output_.emplace(Linear::Config{c.stack.width, c.vocabulary, false});
}

void Transformer::weights(Weights& w) {
  w("embedding", embedding_);
  if (source_embedding_) w("source_embedding", *source_embedding_);
  encoder_.weights(w);
  decoder_.weights(w);
  if (output_) w("output", *output_);
}

std::string Transformer::source_attention() const {
  return decoder_.layers() == 0 ? "" : fmt::format("decoder.{}.cross", decoder_.layers() - 1);
}

Tensor Transformer::encode(const Source& source, const Context& c) const {
  return encoder_(source_embedding(), source, c);
}

Tensor Transformer::output(const Tensor& y) const { return output_ ? (*output_)(y) : embedding_.as_output(y); }

Tensor Transformer::logits(const Source& source, const Tensor& target_ids, const Context& context) const {
  Context c = context;
  c.cache = nullptr;
  return output(decoder_(embedding_, target_ids, {encode(source, c), source.lengths}, c));
}

std::unique_ptr<DecoderState> Transformer::start(const Source& given, const Context& context) const {
  auto state = std::make_unique<CacheState>();
  const PackedSource source = packed(given);
  Context c = context;
  c.cache = &state->cache;
  state->cache.begin_memories(source.starts);
  decoder_.remember(encoder_(source_embedding(), source, c), c);
  return state;
}

Tensor Transformer::steps(DecoderState& state, const Tensor& ids, std::span<const int64_t> starts,
                          const Context& context) const {
  return output(dynamic_cast<CacheState&>(state).step(
      ids, starts, context,
      [&](const Tensor& tokens, const Context& c) { return decoder_(embedding_, tokens, {}, c); }));
}

extern const Family transformer =
    family_of<Transformer>("transformer", "the Transformer, encoder and decoder (Vaswani et al. 2017)",
                           R"([{"width": 24, "heads": 3, "hidden": 33, "encoder_layers": 2, "decoder_layers": 2,
                                "longest": 40, "dropout": 0, "norm": ["post", "pre"], "tied": [true, false],
                                "positions": ["sinusoidal", "learned", "rotary"]},
                               {"width": 24, "heads": 2, "hidden": 30, "encoder_layers": 1, "decoder_layers": 1,
                                "dropout": 0, "norm": "pre", "positions": "rotary", "activation": "silu",
                                "gated": true}])",
                           R"({"width": 256, "heads": 4, "hidden": 1024, "encoder_layers": 3, "decoder_layers": 3,
                               "norm": "pre", "learning_rate": 2e-3, "warmup": -1})");

}  // namespace fovea
