#include "fovea/models/vit_body.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "fovea/attention/attention.h"
#include "fovea/nn/activation.h"
#include "fovea/tensor/activation.h"
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
  f("image_size", image_size, "rows and columns of a picture; 0: as the pictures are, up to 64");
  f("patch_size", patch_size, "rows and columns of a patch");
  f("num_channels", num_channels, "3: red, green and blue; 1: grey; 0: as the pictures are");
  f("qkv_bias", qkv_bias, "whether queries, keys and values have a bias");
  f("use_mean_pooling", use_mean_pooling,
    "whether the label is read off the mean of the patches, not off the class token");
  if (convolutions > 0)
    f("convolutions", convolutions, "of 3 × 3 pixels and a stride of 2, which make the patches: n for patches of 2ⁿ");
  if (convolutions > 0)
    f("convolution_layers", convolution_layers, "1: those alone; m: before each of them m − 1 with a stride of 1");
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
  require(convolutions >= 0 && convolutions <= 8 && (convolutions == 0 || patch_size == int64_t{1} << convolutions),
          "{}: found {} convolutions for patches of {}, expected n for patches of 2ⁿ", model, convolutions, patch_size);
  require(convolution_layers >= 1 && convolution_layers <= 8, "{}: found convolution_layers {}, expected 1 to 8", model,
          convolution_layers);
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
                             {.dropout = attention_dropout_,
                              .precision = precision_of(key_.weight()),
                              .output = attention_output_.weight()},
                             self)
                          .output.reshape(x.shape());
  const Tensor y = dropout_.onto(x, attention_output_, seen, self);
  return dropout_.onto(y, output_, intermediate_(after_(y), activation_), forward);
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
      positions_(Shape{1, extra + c.patches(), c.hidden_size}),
      patch_(Shape{c.hidden_size, c.num_channels, c.patch_size, c.patch_size}),
      patch_bias_(Shape{c.hidden_size}),
      dropout_(c.hidden_dropout_prob),
      layers_(static_cast<size_t>(c.num_hidden_layers), VitLayer(c)),
      norm_({c.hidden_size, c.layer_norm_eps}) {
  if (extra > 0) class_ = Weight(Shape{1, 1, c.hidden_size});
  for (int64_t i = 0, inputs = c.num_channels; i < c.convolutions; ++i) {
    const int64_t channels = std::max<int64_t>(c.hidden_size >> (c.convolutions - 1 - i), 2);
    for (int64_t k = 1; k <= c.convolution_layers; ++k) {
      const bool last = k == c.convolution_layers;
      const int64_t outputs = last ? channels : channels / 2, stride = last ? 2 : 1;
      stem_.emplace_back(
          Conv2d::Config{.inputs = inputs, .outputs = outputs, .kernel = 3, .stride = stride, .padding = 1});
      inputs = outputs;
    }
  }
  if (extra > 1) teacher_ = Weight(Shape{1, 1, c.hidden_size});
}

void VitBody::weights(Weights& w) {
  if (class_) w("embeddings.cls_token", class_, {Init::normal, 0.02});
  if (teacher_) w("embeddings.distillation_token", teacher_, {Init::normal, 0.02});
  w("embeddings.position_embeddings", positions_, {Init::normal, 0.02});
  if (stem_.empty()) {
    w("embeddings.patch_embeddings.projection.weight", patch_, {Init::xavier});
    w("embeddings.patch_embeddings.projection.bias", patch_bias_, {Init::zeros});
  } else {
    w("embeddings.patch_embeddings.convolutions", stem_);
  }
  w("encoder.layer", layers_);
  w("layernorm", norm_);
}

void VitBody::check(const Tensor& pixels) const {
  require(pixels && pixels.rank() == 4 && pixels.size(1) == config_.num_channels &&
              pixels.size(2) >= config_.patch_size && pixels.size(3) >= config_.patch_size,
          "picture: found pixels {}, expected [batch, {}, height, width] of at least {} rows and columns",
          pixels ? pixels.shape().text() : "missing", config_.num_channels, config_.patch_size);
}

// E times the pixels of each patch, channel by channel: what does not fill a patch at the right and below is left out.
Tensor VitBody::patches(const Tensor& given) const {
  const int64_t size = config_.patch_size, down = given.size(2) / size, across = given.size(3) / size;
  const Tensor pixels = given.slice(2, 0, down * size).slice(3, 0, across * size).contiguous();
  if (!stem_.empty()) return convolved(pixels);
  const int64_t numbers = config_.num_channels * size * size;
  const Tensor cut = pixels.reshape({pixels.size(0), config_.num_channels, down, size, across, size})
                         .permute({0, 2, 4, 1, 3, 5})
                         .reshape({pixels.size(0), down * across, numbers});
  return linear(cut, (*patch_).reshape({config_.hidden_size, numbers}), *patch_bias_);
}

Tensor VitBody::convolved(const Tensor& pixels) const {
  Tensor x = pixels;
  for (size_t i = 0; i < stem_.size(); ++i) x = i == 0 ? stem_[i](x) : stem_[i](gelu(x));
  return x.reshape({x.size(0), x.size(1), x.size(2) * x.size(3)}).transpose(1, 2).contiguous();
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
  check(pixels);
  const int64_t batch = pixels.size(0), width = config_.hidden_size, size = config_.patch_size;
  std::vector<Tensor> tokens;
  if (class_) tokens.push_back((*class_).expand({batch, 1, width}));
  if (teacher_) tokens.push_back((*teacher_).expand({batch, 1, width}));
  tokens.push_back(patches(pixels));
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

// [1, extra + edge · edge, width]: those of the patches are sines and cosines of their columns, then of their rows.
void set_waves(Tensor& positions, int64_t extra, int64_t edge) {
  const int64_t width = positions.size(2), waves = width / 4;
  for (int64_t y = 0; y < edge; ++y)
    for (int64_t x = 0; x < edge; ++x) {
      float* to = positions.data<float>() + (extra + y * edge + x) * width;
      for (int64_t k = 0; k < waves; ++k) {
        const double slow = std::pow(10000.0, -static_cast<double>(k) / static_cast<double>(waves));
        const double across = static_cast<double>(x) * slow, down = static_cast<double>(y) * slow;
        to[k] = static_cast<float>(std::sin(across)), to[waves + k] = static_cast<float>(std::cos(across));
        to[2 * waves + k] = static_cast<float>(std::sin(down)), to[3 * waves + k] = static_cast<float>(std::cos(down));
      }
    }
}

}  // namespace

void relate_new_weights(Model& model) {
  const auto* encoder = can<PictureEncoder>(model);
  if (!encoder) return;
  std::map<std::string, Tensor*> all;
  for_each_tensor(model, [&](const std::string& path, Tensor& numbers, const Init&) { all[path] = &numbers; });
  for (const auto& [path, numbers] : all) {
    const size_t name = path.find("attention.attention.query.weight");
    const std::string layer = path.substr(0, name);
    if (name != std::string::npos) {
      *all.at(layer + "attention.attention.key.weight") = numbers->clone();
      *all.at(layer + "attention.output.dense.weight") =
          all.at(layer + "attention.attention.value.weight")->transpose(0, 1).contiguous() * -0.5;
    }
    const PictureShape shape = encoder->picture_shape();
    if (path.ends_with("embeddings.position_embeddings") && shape.patches_down == shape.patches_across)
      set_waves(*numbers, shape.extra, shape.patches_down);
  }
}

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
