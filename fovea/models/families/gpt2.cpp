// GPT-2 (Radford et al. 2019): y = x + attention(norm(x)), z = y + mlp(norm(y)), with learned positions, one matrix for queries,
// keys and values, and matrices that files hold as [inputs, outputs].
#include <cmath>

#include "fovea/attention/self_attention.h"
#include "fovea/models/causal.h"
#include "fovea/nn/activation.h"
#include "fovea/nn/dropout.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/norm.h"
#include "fovea/nn/positions.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

struct Gpt2Config {
  int64_t vocab_size = 50257, n_positions = 1024, n_embd = 768, n_layer = 12, n_head = 12, n_inner = 0;
  std::string activation_function = "gelu_new";
  double layer_norm_epsilon = 1e-5, resid_pdrop = 0.1, embd_pdrop = 0.1, attn_pdrop = 0.1;
  bool scale_attn_weights = true, scale_attn_by_inverse_layer_idx = false, tie_word_embeddings = true;
  std::vector<int64_t> bos = {50256}, eos = {50256}, pad = {};

  void fields(Fields& f) {
    f.from_data("vocab_size", vocab_size, "size of the vocabulary");
    f("n_positions", n_positions, "tokens that a text may have");
    f("n_embd", n_embd, "width of the states between layers");
    f("n_layer", n_layer, "layers");
    f("n_head", n_head, "heads of each attention");
    if (f.reads() || n_inner > 0)
      f("n_inner", n_inner, "width inside the feed-forward layers; four times n_embd if not given");
    f("activation_function", activation_function, "activation of the feed-forward layers");
    f("layer_norm_epsilon", layer_norm_epsilon, "ε of the norms");
    f("resid_pdrop", resid_pdrop, "dropout of what is added, in training");
    f("embd_pdrop", embd_pdrop, "dropout of the embeddings, in training");
    f("attn_pdrop", attn_pdrop, "dropout of attention weights, in training");
    f("scale_attn_weights", scale_attn_weights, "whether scores are divided by the root of a head's width");
    f("scale_attn_by_inverse_layer_idx", scale_attn_by_inverse_layer_idx, "whether they are by the layer's number too");
    f("tie_word_embeddings", tie_word_embeddings, "whether the output shares the embedding");
    f.ids("bos_token_id", bos);
    f.ids("eos_token_id", eos);
    f.ids("pad_token_id", pad);
    f.passed_over({"architectures", "id2label", "problem_type", "n_ctx", "reorder_and_upcast_attn",
                   "summary_activation", "summary_first_dropout", "summary_proj_to_labels", "summary_type",
                   "summary_use_proj", "unk_token_id"});
    f.refused({"add_cross_attention", "quantization_config"});
    pass_over_foreign(f);
  }

  int64_t inner() const { return n_inner > 0 ? n_inner : 4 * n_embd; }
  double score_scale(int64_t layer) const {
    const double by_width = scale_attn_weights ? 1 / std::sqrt(static_cast<double>(n_embd / n_head)) : 1;
    return scale_attn_by_inverse_layer_idx ? by_width / static_cast<double>(layer + 1) : by_width;
  }
};

// y = x W + b, with W [inputs, outputs] in files.
class Conv1d final {
 public:
  Conv1d(int64_t inputs, int64_t outputs)
      : weight_(Weight({outputs, inputs}, Weight::Use::product).stored_transposed()), bias_(Shape{outputs}) {}

  Tensor operator()(const Tensor& x, Activation activation = Activation::none) const {
    return linear(x, weight_, bias_, activation);
  }
  void weights(Weights& w) {
    w("weight", weight_, {Init::normal, 0.02});
    w("bias", bias_, {Init::zeros});
  }
  const Weight& weight() const { return weight_; }

 private:
  Weight weight_, bias_;
};

class Gpt2Attention final {
 public:
  Gpt2Attention(const Gpt2Config& c, int64_t layer)
      : heads_(c.n_head),
        options_{.scale = c.score_scale(layer), .mask = {.causal = true}, .dropout = c.attn_pdrop},
        all_(c.n_embd, 3 * c.n_embd),
        output_(c.n_embd, c.n_embd) {}

  Tensor operator()(const Tensor& x, const Context& c) const {
    const Shape s = x.shape();
    auto in_heads = [&](const Tensor& t) { return t.reshape({s[0], s[1], heads_, s[2] / heads_}); };
    const std::vector<Tensor> qkv = split(all_(x), -1, {s[2], s[2], s[2]});
    AttentionOptions options = options_;
    options.output = output_.weight(), options.precision = attention_precision(output_.weight());
    return output_(
        attend_to_self(this, {in_heads(qkv[0]), in_heads(qkv[1]), in_heads(qkv[2])}, options, c).output.reshape(s));
  }
  void weights(Weights& w) {
    w("c_attn", all_);
    w("c_proj", output_);
  }
  void places(const Places& p) const {
    Place place = text_to_itself;
    place.heads = place.key_heads = heads_;
    p.add(place);
  }

 private:
  int64_t heads_;
  AttentionOptions options_;
  Conv1d all_, output_;
};

class Gpt2Block final {
 public:
  Gpt2Block(const Gpt2Config& c, int64_t layer)
      : attention_norm_({.width = c.n_embd, .epsilon = c.layer_norm_epsilon}),
        mlp_norm_({.width = c.n_embd, .epsilon = c.layer_norm_epsilon}),
        attention_(c, layer),
        up_(c.n_embd, c.inner()),
        down_(c.inner(), c.n_embd),
        activation_(activation_named(c.activation_function)),
        dropout_(c.resid_pdrop) {}

  Tensor operator()(const Tensor& x, const Context& c) const {
    const Tensor y = x + dropout_(attention_(attention_norm_(x), c.at("attn")), c.at("attn_residual"));
    return y + dropout_(down_(up_(mlp_norm_(y), activation_)), c.at("mlp_residual"));
  }
  void weights(Weights& w) {
    w("ln_1", attention_norm_);
    w("attn", attention_);
    w("ln_2", mlp_norm_);
    w("mlp.c_fc", up_);
    w("mlp.c_proj", down_);
  }
  void places(const Places& p) const { attention_.places(p.at("attn")); }

 private:
  LayerNorm attention_norm_, mlp_norm_;
  Gpt2Attention attention_;
  Conv1d up_, down_;
  Activation activation_;
  Dropout dropout_;
};

class Gpt2 final : public CausalModel {
 public:
  using Config = Gpt2Config;
  explicit Gpt2(const Config& c)
      : config_(checked(c)),
        special_({first_id("pad_token_id", c.pad, c.vocab_size), first_id("bos_token_id", c.bos, c.vocab_size),
                  first_id("eos_token_id", c.eos, c.vocab_size), -1}),
        tokens_({.entries = c.vocab_size, .width = c.n_embd}),
        positions_({.positions = c.n_positions, .width = c.n_embd}),
        dropout_(c.embd_pdrop),
        norm_({.width = c.n_embd, .epsilon = c.layer_norm_epsilon}) {
    blocks_.reserve(static_cast<size_t>(c.n_layer));
    for (int64_t i = 0; i < c.n_layer; ++i) blocks_.emplace_back(c, i);
    if (!c.tie_word_embeddings) output_.emplace(Linear::Config{c.n_embd, c.vocab_size, false});
  }

  void weights(Weights& w) override {
    w("transformer.wte", tokens_);
    w("transformer.wpe", positions_);
    w("transformer.h", blocks_);
    w("transformer.ln_f", norm_);
    if (output_) w("lm_head", *output_);
  }
  // With and without "transformer.", as GPT2LMHeadModel and GPT2Model write them; the causal masks are of no use.
  std::string weight_path(const std::string& stored) const override {
    if (stored.ends_with(".attn.bias") || stored.ends_with(".attn.masked_bias")) return "";
    if (stored == "lm_head.weight") return output_ ? stored : "";
    return stored.starts_with("transformer.") ? stored : "transformer." + stored;
  }
  std::string_view family() const override { return "gpt2"; }
  std::string config() const override { return family_json(family(), config_); }
  int64_t vocabulary() const override { return config_.vocab_size; }
  bool foreign() const override { return true; }
  SpecialIds special_ids() const override { return special_; }
  std::vector<int64_t> end_ids() const override { return config_.eos; }
  int64_t longest() const override { return config_.n_positions; }

 protected:
  void list_places(const Places& p) const override { p.at("transformer.h").layers(blocks_); }
  Tensor states(const Tensor& ids, const Context& c) const override {
    const Context h = c.at("transformer.h");
    Tensor x = dropout_(positions_(c.entering("text", tokens_(ids)), token_positions({.causal = true}, ids.size(1), c)),
                        c.at("embedding"));
    for (size_t i = 0; i < blocks_.size(); ++i) x = blocks_[i](x, h.at(std::to_string(i)));
    return norm_(x);
  }
  Tensor output(const Tensor& y) const override { return output_ ? (*output_)(y) : tokens_.as_output(y); }

 private:
  static Config checked(const Config& c) {
    for (const auto& [name, value] : {std::pair{"vocab_size", c.vocab_size},
                                      {"n_positions", c.n_positions},
                                      {"n_embd", c.n_embd},
                                      {"n_head", c.n_head}})
      check_size("gpt2", name, value);
    check_layers("gpt2", "n_layer", c.n_layer);
    require(c.n_embd % c.n_head == 0 && c.n_inner >= 0 && c.inner() < int64_t{1} << 31 && c.n_embd < int64_t{1} << 29,
            "gpt2: found n_embd {} for {} heads and n_inner {}, expected a multiple, and a width below 2³¹", c.n_embd,
            c.n_head, c.n_inner);
    for (const auto& [name, value] :
         {std::pair{"resid_pdrop", c.resid_pdrop}, {"embd_pdrop", c.embd_pdrop}, {"attn_pdrop", c.attn_pdrop}})
      check_share("gpt2", name, value);
    return c;
  }

  Config config_;
  SpecialIds special_;
  Embedding tokens_;
  LearnedPositions positions_;
  Dropout dropout_;
  std::vector<Gpt2Block> blocks_;
  LayerNorm norm_;
  std::optional<Linear> output_;
};

}  // namespace

extern const Family gpt2 = family_of<Gpt2>(
    "gpt2", "GPT-2: a language model with learned positions (Radford et al. 2019)",
    R"([{"n_embd": 24, "n_layer": 2, "n_head": 4, "n_positions": 40, "tie_word_embeddings": [true, false], "n_inner": [null, 33],
         "scale_attn_by_inverse_layer_idx": [false, true], "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0,
         "bos_token_id": 1, "eos_token_id": 2}])",
    R"({"n_positions": 256, "n_embd": 256, "n_layer": 6, "n_head": 8, "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0,
        "learning_rate": 1e-3})");

}  // namespace fovea
