// The Transformer's decoder alone: a language model. Its source is empty.
#include "fovea/models/family.h"
#include "fovea/models/transformer_stack.h"
#include "fovea/nn/linear.h"

namespace fovea {
namespace {

class TransformerDecoder final : public Model, public Generator {
 public:
  struct Config {
    int64_t vocabulary = 0, layers = 6;
    bool tied = true;
    StackConfig stack = {};
    int64_t padding = 0, start = 1, end = 2;

    void fields(Fields& f) {
      f.from_data("vocabulary", vocabulary, "size of the vocabulary");
      f("layers", layers, "layers of the decoder");
      f("tied", tied, "whether the output shares the embedding");
      stack.fields(f);
      f.from_data("padding", padding, "id of padding");
      f.from_data("start", start, "id before the first token");
      f.from_data("end", end, "id after the last token");
    }
  };
  explicit TransformerDecoder(const Config& c)
      : config_(checked(c)),
        embedding_({.entries = c.vocabulary, .width = c.stack.width, .padding = c.padding}),
        decoder_(c.stack, c.layers, DecoderLayer::Cross::none) {
    if (!c.tied) output_.emplace(Linear::Config{c.stack.width, c.vocabulary, false});
  }

  Tensor logits(const Source& source, const Tensor& ids, const Context& context) const override {
    require_no(source);
    Context c = context;
    c.cache = nullptr;
    return output(decoder_(embedding_, ids, {}, c));
  }
  std::unique_ptr<DecoderState> start(const Source& source, const Context&) const override {
    require_no(source);
    auto state = std::make_unique<StackState>();
    state->cache.add_rows(source.lengths ? source.lengths.size(0) : source.ids ? source.ids.size(0) : 0);
    return state;
  }
  Tensor steps(DecoderState& state, const Tensor& ids, std::span<const int64_t> starts,
               const Context& c) const override {
    return output(dynamic_cast<StackState&>(state).step(decoder_, embedding_, ids, starts, c));
  }

  void weights(Weights& w) override {
    w("embedding", embedding_);
    decoder_.weights(w);
    if (output_) w("output", *output_);
  }
  std::string_view family() const override { return "transformer-decoder"; }
  std::string config() const override { return family_json(family(), config_); }
  int64_t vocabulary() const override { return config_.vocabulary; }
  SpecialIds special_ids() const override { return {config_.padding, config_.start, config_.end, -1}; }
  int64_t longest() const override { return config_.stack.limit(); }
  std::string source_attention() const override { return {}; }

 private:
  static Config checked(const Config& c) {
    c.stack.check("transformer decoder");
    check_size("transformer decoder", "vocabulary", c.vocabulary);
    for (int64_t id : {c.padding, c.start, c.end})
      require(0 <= id && id < c.vocabulary, "transformer decoder: found a special id {}, expected 0 to {}", id,
              c.vocabulary - 1);
    return c;
  }
  static void require_no(const Source& source) {
    for (int64_t length : source.lengths ? source.lengths.values<int64_t>() : std::vector<int64_t>{})
      require(length == 0, "transformer decoder: found a source of {} tokens, expected none", length);
    require(source.lengths || !source.ids || source.ids.elements() == 0,
            "transformer decoder: found a source {}, expected none", source.ids.shape());
  }
  Tensor output(const Tensor& y) const { return output_ ? (*output_)(y) : embedding_.as_output(y); }

  Config config_;
  Embedding embedding_;
  DecoderStack decoder_;
  std::optional<Linear> output_;
};

}  // namespace

extern const Family transformer_decoder = family_of<TransformerDecoder>(
    "transformer-decoder", "the Transformer's decoder alone: a language model (Radford et al. 2018)",
    R"([{"width": 24, "heads": 3, "hidden": 33, "layers": 2, "longest": 40, "dropout": 0, "tied": [true, false],
         "norm": ["post", "pre"], "positions": ["learned", "rotary"]}])");

}  // namespace fovea
