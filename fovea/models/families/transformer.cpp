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
  check_copying("transformer", c.pointer, {c.vocabulary, c.source_vocabulary, c.unknown});
  return c;
}

}  // namespace

struct Transformer::State final : DecoderState {
  CacheState past;
  SourceKeys keys;  // with a pointer: what it looks at, and what may be copied
  Tensor ids;

  int64_t rows() const override { return past.rows(); }
  void reorder(std::span<const int64_t> rows) override {
    past.reorder(rows);
    if (!ids) return;
    keys.reorder(rows);
    ids = fovea::rows(ids, tensor({static_cast<int64_t>(rows.size())}, std::vector<int64_t>(rows.begin(), rows.end())));
  }
  void append(DecoderState&& given) override {
    State& other = dynamic_cast<State&>(given);
    past.append(std::move(other.past));
    if (!ids) return;
    keys.append(std::move(other.keys));
    ids = joined_ids(ids, other.ids);
  }
};

void Config::fields(Fields& f) {
  f.from_data("vocabulary", vocabulary, "size of the vocabulary");
  f.from_data("source_vocabulary", source_vocabulary, "size of the source's vocabulary; 0: the same");
  f("encoder_layers", encoder_layers, "layers of the encoder");
  f("decoder_layers", decoder_layers, "layers of the decoder");
  f("tied", tied, "whether source, target and output share one embedding");
  f("pointer", pointer, "whether tokens of the source can be copied");
  stack.fields(f);
  f.from_data("padding", padding, "id of padding");
  f.from_data("start", start, "id before the first token");
  f.from_data("end", end, "id after the last token");
  f.from_data("unknown", unknown, "id of unknown tokens, as which a pointer reads words outside of the vocabulary");
}

Transformer::Transformer(const Config& c)
    : config_(checked(c)),
      embedding_({.entries = c.vocabulary, .width = c.stack.width, .padding = c.padding}),
      encoder_(c.stack, c.encoder_layers),
      decoder_(c.stack, c.decoder_layers, DecoderLayer::Cross::memory) {
  if (c.pointer) pointer_.emplace(c.stack.width);
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
  if (pointer_) w("pointer", *pointer_);
}

std::string Transformer::source_attention() const {
  if (decoder_.layers() > 0) return fmt::format("decoder.{}.cross", decoder_.layers() - 1);
  return pointer_ ? "decoder.pointer" : "";
}

Tensor Transformer::readable(const Tensor& ids) const {
  return pointer_ ? readable_ids(ids, config_.vocabulary, config_.unknown) : ids;
}

Source Transformer::readable(const Source& source) const {
  return {readable(source.ids), source.lengths, source.types};
}

Tensor Transformer::encode(const Source& source, const Context& c) const {
  return encoder_(source_embedding(), readable(source), c);
}

Tensor Transformer::output(const Tensor& y) const { return output_ ? (*output_)(y) : embedding_.as_output(y); }

Tensor Transformer::logits(const Source& source, const Tensor& target_ids, const Context& context) const {
  Context c = context;
  c.cache = nullptr;
  const Tensor memory = encode(source, c);
  const Tensor y = decoder_(embedding_, readable(target_ids), {memory, source.lengths}, c);
  if (!pointer_) return output(y);
  return (*pointer_)(output(y), y, pointer_->keys(memory, source.lengths, c), ids_to_copy(source), c);
}

std::unique_ptr<DecoderState> Transformer::start(const Source& given, const Context& context) const {
  auto state = std::make_unique<State>();
  const PackedSource source = packed(readable(given));
  Context c = context;
  c.cache = &state->past.cache;
  c.cache->begin_memories(source.starts);
  const Tensor memories = encoder_(source_embedding(), source, c);
  decoder_.remember(memories, c);
  if (pointer_) state->keys = pointer_->packed_keys(memories, source.starts), state->ids = ids_to_copy(given);
  return state;
}

Tensor Transformer::steps(DecoderState& state, const Tensor& ids, std::span<const int64_t> starts,
                          const Context& context) const {
  State& s = dynamic_cast<State&>(state);
  const Tensor y = s.past.step(readable(ids), starts, context, [&](const Tensor& tokens, const Context& c) {
    return decoder_(embedding_, tokens, {}, c);
  });
  if (!pointer_) return output(y);
  return (*pointer_)(output(y).unsqueeze(1), y.unsqueeze(1), s.keys, s.ids, context).squeeze(1);
}

extern const Family transformer =
    family_of<Transformer>("transformer", "the Transformer, encoder and decoder (Vaswani et al. 2017)",
                           R"([{"width": 24, "heads": 3, "hidden": 33, "encoder_layers": 2, "decoder_layers": 2,
                                "longest": 40, "dropout": 0, "norm": ["post", "pre"], "tied": [true, false],
                                "positions": ["sinusoidal", "learned", "rotary"]},
                               {"width": 24, "heads": 2, "hidden": 30, "encoder_layers": 1, "decoder_layers": 1,
                                "dropout": 0, "norm": "pre", "positions": "rotary", "activation": "silu",
                                "gated": true},
                               {"width": 24, "heads": 2, "hidden": 30, "encoder_layers": 1, "decoder_layers": 2,
                                "dropout": 0, "pointer": true, "norm": ["post", "pre"], "tied": [true, false]}])",
                           R"({"width": 256, "heads": 4, "hidden": 1024, "encoder_layers": 3, "decoder_layers": 3,
                               "norm": "pre", "learning_rate": 2e-3, "warmup": -1})");

}  // namespace fovea
