// The Transformer's decoder alone: a language model. Its source is empty.
#include "fovea/models/causal.h"
#include "fovea/models/transformer_stack.h"
#include "fovea/nn/linear.h"

namespace fovea {
namespace {

class TransformerDecoder final : public CausalModel {
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

 protected:
  void list_places(const Places& p) const override { decoder_.places(p); }
  Tensor states(const Tensor& ids, const Context& c) const override { return decoder_(embedding_, ids, {}, c); }
  Tensor output(const Tensor& y) const override { return output_ ? (*output_)(y) : embedding_.as_output(y); }

 private:
  static Config checked(const Config& c) {
    c.stack.check("transformer decoder");
    check_size("transformer decoder", "vocabulary", c.vocabulary);
    for (int64_t id : {c.padding, c.start, c.end})
      require(0 <= id && id < c.vocabulary, "transformer decoder: found a special id {}, expected 0 to {}", id,
              c.vocabulary - 1);
    return c;
  }

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
