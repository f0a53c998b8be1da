#include "fovea/models/vit_body.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fovea/attention/attention.h"
#include "fovea/nn/activation.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"

namespace fovea {

void VitConfig::fields(Fields& f) {
  f.from_data("architectures", architectures, "the model with its head");
  f("hidden_size", hidden_size, "width of a patch");
  f("num_hidden_layers", num_hidden_layers, "layers");
  f("num_attention_heads", num_attention_heads, "attention heads");
  f("intermediate_size", intermediate_size, "width of the feed-forward's hidden layer");
  f("hidden_act", hidden_act, "its activation");
  f("layer_norm_eps", layer_norm_eps, "what the norms add to a variance");
  f("hidden_dropout_prob", hidden_dropout_prob, "share of each sub-layer's result that is dropped in training");
  f("attention_probs_dropout_prob", attention_probs_dropout_prob, "share of the weights that is dropped in training");
  f("image_size", image_size, "rows and columns of a picture");
  f("patch_size", patch_size, "rows and columns of a patch");
  f("num_channels", num_channels, "3: red, green and blue; 1: grey");
  f("qkv_bias", qkv_bias, "whether queries, keys and values have a bias");
  f("use_mean_pooling", use_mean_pooling,
    "whether the label is read off the mean of the patches, not off the class token");
  f.from_data("problem_type", problem_type, "what the labels mean");
  f.numbered("id2label", id2label);
  f.passed_over({"encoder_stride", "pooler_act", "pooler_output_size"});
  pass_over_foreign(f);
}

void VitConfig::check(std::string_view model) const {
  for (const auto& [name, size] : {std::pair{"hidden_size", hidden_size},
                                   {"num_attention_heads", num_attention_heads},
                                   {"intermediate_size", intermediate_size},
                                   {"image_size", image_size},
                                   {"patch_size", patch_size}})
    check_size(model, name, size);
  check_layers(model, "num_hidden_layers", num_hidden_layers);
  check_share(model, "hidden_dropout_prob", hidden_dropout_prob);
  check_share(model, "attention_probs_dropout_prob", attention_probs_dropout_prob);
  require(num_hidden_layers > 0, "{}: found no layers, expected at least 1", model);
  require(num_channels == 1 || num_channels == 3, "{}: found num_channels {}, expected 1 or 3", model, num_channels);
  require(image_size <= 16384 && patch_size <= image_size,
          "{}: found pictures of {} and patches of {}, expected at most {} and {}", model, image_size, patch_size,
          16384, image_size);
  require(hidden_size % num_attention_heads == 0, "{}: found a hidden_size of {} for {} heads, expected a multiple",
          model, hidden_size, num_attention_heads);
}

VitLayer::VitLayer(const VitConfig& c)
    : heads_(c.num_attention_heads),
      activation_(activation_named(c.hidden_act)),
      attention_dropout_(c.attention_probs_dropout_prob),
      dropout_(c.hidden_dropout_prob),
      query_({c.hidden_size, c.hidden_size, c.qkv_bias}),
      key_({c.hidden_size, c.hidden_size, c.qkv_bias}),
      value_({c.hidden_size, c.hidden_size, c.qkv_bias}),
      attention_output_({c.hidden_size, c.hidden_size}),
      intermediate_({c.hidden_size, c.intermediate_size}),
      output_({c.intermediate_size, c.hidden_size}),
      before_({c.hidden_size, c.layer_norm_eps}),
      after_({c.hidden_size, c.layer_norm_eps}) {}

Tensor VitLayer::operator()(const Tensor& x, const Context& c) const {
  const Context self = c.at("self"), forward = c.at("feed_forward");
  const Shape in_heads = {x.size(0), x.size(1), heads_, x.size(2) / heads_};
  const std::vector<Tensor> p = linears(
      before_(x), {{query_.weight(), query_.bias()}, {key_.weight(), key_.bias()}, {value_.weight(), value_.bias()}});
  const Tensor seen = attend(p[0].reshape(in_heads), p[1].reshape(in_heads), p[2].reshape(in_heads),
                             {.dropout = attention_dropout_, .output = attention_output_.weight()}, self)
                          .output.reshape(x.shape());
  const Tensor y = x + dropout_(attention_output_(seen), self);
  return y + dropout_(output_(intermediate_(after_(y), activation_)), forward);
}

void VitLayer::weights(Weights& w) {
  w("attention.attention.query", query_);
  w("attention.attention.key", key_);
  w("attention.attention.value", value_);
  w("attention.output.dense", attention_output_);
  w("intermediate.dense", intermediate_);
  w("output.dense", output_);
  w("layernorm_before", before_);
  w("layernorm_after", after_);
}

VitBody::VitBody(const VitConfig& c, int64_t extra)
    : config_(c),
      extra_(extra),
      class_(Shape{1, 1, c.hidden_size}),
      positions_(Shape{1, extra + c.patches(), c.hidden_size}),
      patch_(Shape{c.hidden_size, c.num_channels, c.patch_size, c.patch_size}),
      patch_bias_(Shape{c.hidden_size}),
      dropout_(c.hidden_dropout_prob),
      layers_(static_cast<size_t>(c.num_hidden_layers), VitLayer(c)),
      norm_({c.hidden_size, c.layer_norm_eps}) {
  if (extra > 1) teacher_ = Weight(Shape{1, 1, c.hidden_size});
}

void VitBody::weights(Weights& w) {
  w("embeddings.cls_token", class_, {Init::normal, 0.02});
  if (teacher_) w("embeddings.distillation_token", teacher_, {Init::normal, 0.02});
  w("embeddings.position_embeddings", positions_, {Init::normal, 0.02});
  w("embeddings.patch_embeddings.projection.weight", patch_, {Init::xavier});
  w("embeddings.patch_embeddings.projection.bias", patch_bias_, {Init::zeros});
  w("encoder.layer", layers_);
  w("layernorm", norm_);
}

// [batch, patches, channels · rows · columns of a patch]: what does not fill a patch at the right and below is left out.
Tensor VitBody::patches(const Tensor& pixels) const {
  require(pixels && pixels.rank() == 4 && pixels.size(1) == config_.num_channels &&
              pixels.size(2) >= config_.patch_size && pixels.size(3) >= config_.patch_size,
          "picture: found pixels {}, expected [batch, {}, height, width] of at least {} rows and columns",
          pixels ? pixels.shape().text() : "missing", config_.num_channels, config_.patch_size);
  const int64_t size = config_.patch_size, down = pixels.size(2) / size, across = pixels.size(3) / size;
  return pixels.slice(2, 0, down * size)
      .slice(3, 0, across * size)
      .contiguous()
      .reshape({pixels.size(0), config_.num_channels, down, size, across, size})
      .permute({0, 2, 4, 1, 3, 5})
      .reshape({pixels.size(0), down * across, config_.num_channels * size * size});
}

Tensor VitBody::positions(int64_t down, int64_t across) const {
  const int64_t learned = config_.image_size / config_.patch_size;
  const Tensor all = *positions_;
  if (down == learned && across == learned) return all;
  require(!all.needs_gradient(), "picture: found {} × {} patches, expected {} × {} while it learns", down, across,
          learned, learned);
  const Tensor grid = interpolated_grid(all.squeeze(0).slice(0, extra_, all.size(1)), learned, learned, down, across);
  return concat({all.slice(1, 0, extra_), grid.unsqueeze(0)}, 1);
}

Tensor VitBody::operator()(const Tensor& pixels, const Context& context) const {
  const Context c = context.at("encoder");
  const int64_t batch = pixels.size(0), width = config_.hidden_size, size = config_.patch_size;
  std::vector<Tensor> tokens = {(*class_).expand({batch, 1, width})};
  if (teacher_) tokens.push_back((*teacher_).expand({batch, 1, width}));
  tokens.push_back(
      linear(patches(pixels), (*patch_).reshape({width, config_.num_channels * size * size}), *patch_bias_));
  Tensor x = concat(tokens, 1) + positions(pixels.size(2) / size, pixels.size(3) / size);
  x = dropout_(x, c.at("embedding"));
  for (size_t i = 0; i < layers_.size(); ++i) x = layers_[i](x, c.at(std::to_string(i)));
  return norm_(x);
}

namespace {

// Keys (1981) with a = −3/4: the weights of the four places around a point that lies `t` behind the second.
std::array<double, 4> cubic_weights(double t) {
  constexpr double a = -0.75;
  auto near = [](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  auto far = [](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(1 + t), near(t), near(1 - t), far(2 - t)};
}

struct Around {
  std::array<int64_t, 4> places;
  std::array<double, 4> weights;
};

Around around(int64_t i, int64_t from, int64_t to) {
  const double at = (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
  const auto second = static_cast<int64_t>(std::floor(at));
  Around a = {{}, cubic_weights(at - std::floor(at))};
  for (int64_t k = 0; k < 4; ++k) a.places[static_cast<size_t>(k)] = std::clamp<int64_t>(second - 1 + k, 0, from - 1);
  return a;
}

}  // namespace

Tensor interpolated_grid(const Tensor& numbers, int64_t down, int64_t across, int64_t new_down, int64_t new_across) {
  const Tensor from = numbers.contiguous();
  const int64_t width = from.size(1);
  Tensor to({new_down * new_across, width}, DType::f32);
  std::vector<double> sums(static_cast<size_t>(width));
  for (int64_t y = 0; y < new_down; ++y)
    for (int64_t x = 0; x < new_across; ++x) {
      const Around rows = around(y, down, new_down), columns = around(x, across, new_across);
      std::fill(sums.begin(), sums.end(), 0);
      for (size_t i = 0; i < 4; ++i)
        for (size_t j = 0; j < 4; ++j) {
          const float* one = from.data<float>() + (rows.places[i] * across + columns.places[j]) * width;
          for (int64_t k = 0; k < width; ++k)
            sums[static_cast<size_t>(k)] += rows.weights[i] * columns.weights[j] * one[k];
        }
      std::copy(sums.begin(), sums.end(), to.data<float>() + (y * new_across + x) * width);
    }
  return to;
}

}  // namespace fovea
