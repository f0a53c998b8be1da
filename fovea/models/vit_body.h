// The Vision Transformer (Dosovitskiy et al. 2020), under the names that Hugging Face gives its weights: a picture is cut into patches, which
// are its words.
//
//   x = [class; E patch₁; …; E patchₙ] + P
//   y = x + attention(norm(x)),   x = y + W₂ gelu(W₁ norm(y))             for each layer,   and norm(x) behind the last
//
//   VitBody body(config, 1);   Tensor states = body(pixels, context);     // [batch, 1 + patches, width]
//
// Places of its attentions: encoder.I.self.
#pragma once

#include <string>
#include <vector>

#include "fovea/models/family.h"
#include "fovea/models/labels.h"
#include "fovea/nn/convolution.h"
#include "fovea/nn/dropout.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/norm.h"

namespace fovea {

struct VitConfig {
  std::vector<std::string> architectures = {};
  int64_t hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12, intermediate_size = 3072;
  int64_t image_size = 224, patch_size = 16, num_channels = 3;
  std::string hidden_act = "gelu", problem_type = {};
  double layer_norm_eps = 1e-12, hidden_dropout_prob = 0, attention_probs_dropout_prob = 0;
  bool qkv_bias = true, use_mean_pooling = false;
  std::vector<std::string> id2label = {};
  // So many 3 × 3 convolutions with a stride of 2 make a patch of what lies in and around it (Xiao et al. 2021); 0: one product each does, of what
  // lies in it.
  int64_t convolutions = 0, convolution_layers = 1;  // layers: with so many less one of a stride of 1 before each

  void fields(Fields& f);
  void check(std::string_view model) const;
  int64_t patches() const { return (image_size / patch_size) * (image_size / patch_size); }
};

class VitLayer final {
 public:
  explicit VitLayer(const VitConfig&);

  Tensor operator()(const Tensor& x, const Context&) const;
  void weights(Weights& w);
  void places(const Places& p) const {
    p.at("self").add({.heads = heads_, .key_heads = heads_, .rows = "patches", .columns = "patches"});
  }

 private:
  int64_t heads_;
  Activation activation_;
  double attention_dropout_;
  Dropout dropout_;
  Linear query_, key_, value_, attention_output_, intermediate_, output_;
  LayerNorm before_, after_;
};

class VitBody final {
 public:
  // So many learned tokens before the patches: none, the class, or it and DeiT's teacher.
  VitBody(const VitConfig&, int64_t extra);

  // [batch, channels, height, width] → [batch, extra + patches, width]. Of a picture of another size than it learned from the
  // positions are interpolated, as long as it does not learn.
  Tensor operator()(const Tensor& pixels, const Context&) const;
  void weights(Weights& w);
  void places(const Places& p) const { p.at("encoder").layers(layers_); }

 private:
  void check(const Tensor& pixels) const;
  Tensor patches(const Tensor& pixels) const;    // [batch, patches, width]
  Tensor convolved(const Tensor& pixels) const;  // likewise
  Tensor positions(int64_t down, int64_t across) const;

  VitConfig config_;
  int64_t extra_;
  Weight class_, teacher_, positions_, patch_, patch_bias_;
  std::vector<Conv2d> stem_;  // instead of patch_ and patch_bias_
  Dropout dropout_;
  std::vector<VitLayer> layers_;
  LayerNorm norm_;
};

// Lets a ViT's or DeiT's weights, each of which was drawn by itself, begin as those of models that have learned are (Trockman and Kolter
// 2023): patches look at their like, K = Q, and what they see is taken off, O = −½ Vᵀ. Positions begin as waves along both axes (Vaswani et
// al. 2017), so that what is near is alike. Other models stay as they are.
void relate_new_weights(Model&);

// [down · across, width] of a grid as one of another size, by cubic interpolation with a = −3/4 as PyTorch has it.
Tensor interpolated_grid(const Tensor& numbers, int64_t down, int64_t across, int64_t new_down, int64_t new_across);

}  // namespace fovea
