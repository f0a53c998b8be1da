// The Transformer's encoder alone: hidden states of a text.
#include "fovea/models/family.h"
#include "fovea/models/transformer_stack.h"

namespace fovea {
namespace {

class TransformerEncoder final : public Model, public Encoder {
 public:
  struct Config {
    int64_t vocabulary = 0, layers = 6;
    StackConfig stack = {};
    int64_t padding = 0;

    void fields(Fields& f) {
      f.from_data("vocabulary", vocabulary, "size of the vocabulary");
      f("layers", layers, "layers of the encoder");
      stack.fields(f);
      f.from_data("padding", padding, "id of padding");
    }
  };
  explicit TransformerEncoder(const Config& c)
      : config_(checked(c)),
        embedding_({.entries = c.vocabulary, .width = c.stack.width, .padding = c.padding}),
        encoder_(c.stack, c.layers) {}

  Tensor encode(const Source& source, const Context& c) const override { return encoder_(embedding_, source, c); }

  void weights(Weights& w) override {
    w("embedding", embedding_);
    encoder_.weights(w);
  }
  std::string_view family() const override { return "transformer-encoder"; }
  std::string config() const override { return family_json(family(), config_); }
  int64_t vocabulary() const override { return config_.vocabulary; }

 protected:
  void list_places(const Places& p) const override { encoder_.places(p); }

 private:
  static Config checked(const Config& c) {
    c.stack.check("transformer encoder");
    check_size("transformer encoder", "vocabulary", c.vocabulary);
    require(0 <= c.padding && c.padding < c.vocabulary, "transformer encoder: found padding {}, expected 0 to {}",
            c.padding, c.vocabulary - 1);
    return c;
  }

  Config config_;
  Embedding embedding_;
  EncoderStack encoder_;
};

}  // namespace

extern const Family transformer_encoder =
    family_of<TransformerEncoder>("transformer-encoder", "the Transformer's encoder alone: hidden states of a text",
                                  R"([{"width": 24, "heads": 3, "hidden": 33, "layers": 2, "longest": 40, "dropout": 0,
                                       "norm": ["post", "pre"], "positions": ["sinusoidal", "learned", "rotary"]}])");

}  // namespace fovea
