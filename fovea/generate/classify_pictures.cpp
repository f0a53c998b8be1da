#include "fovea/generate/classify_pictures.h"

#include <algorithm>

#include "fovea/base/catalogue.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/matmul.h"
#include "fovea/tensor/reduce.h"

namespace fovea {

Tensor picture_pixels(const Pretrained& p, const PictureInput& input, const Image& picture) {
  const PictureShape shape = p.as<PictureEncoder>().picture_shape();
  const Tensor pixels = input(picture).unsqueeze(0);
  if (pixels.shape() != Shape{1, shape.channels, shape.height, shape.width})
    throw Error(Error::corrupt,
                "{}: found preprocessor_config.json for pictures {}, expected {} for the model of config.json",
                p.folder.string(), pixels.shape(), Shape{1, shape.channels, shape.height, shape.width});
  return pixels;
}

Tensor rollout(const std::vector<Tensor>& layers, int64_t count) {
  if (layers.empty()) return {};
  Tensor rows = zeros({count, layers[0].size(0)});
  for (int64_t i = 0; i < count; ++i) rows.data<float>()[i * rows.size(1) + i] = 1;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) rows = 0.5 * rows + 0.5 * matmul(rows, *layer);
  return rows;
}

namespace {

Classified classified(std::vector<double> probabilities) {
  Classified c;
  c.best = static_cast<size_t>(std::ranges::max_element(probabilities) - probabilities.begin());
  c.probabilities = std::move(probabilities);
  return c;
}

// [heads, rows, tokens] of one picture.
Tensor weights_of(const ProbeResult& r, Range rows) {
  if (r.weights) return rows.end < 0 ? r.weights.squeeze(0) : r.weights.squeeze(0).slice(1, rows.begin, rows.end);
  std::vector<Tensor> heads;
  for (int64_t h = 0; h < r.kept->heads(); ++h) heads.push_back(r.kept->weights(0, h, rows, {}).unsqueeze(0));
  return concat(heads, 0);
}

std::vector<double> of_patches(const std::vector<double>& tokens, int64_t extra) {
  return {tokens.begin() + extra, tokens.end()};
}

}  // namespace

Classified classify_pixels(const PictureLabeller& labeller, const Tensor& pixels, const Context& c) {
  return classified(labeller.labels().answers(labeller.picture_logits(pixels, c)).values<double>());
}

std::vector<Classified> classify_pictures(const Pretrained& p, const PictureInput& input,
                                          const std::vector<Image>& pictures) {
  if (pictures.empty()) return {};
  const PictureLabeller& labeller = p.as<PictureLabeller>();
  std::vector<Tensor> pixels;
  for (const Image& picture : pictures) pixels.push_back(picture_pixels(p, input, picture));
  const Tensor answers = labeller.labels().answers(labeller.picture_logits(concat(pixels, 0), {}));
  std::vector<Classified> found;
  for (int64_t i = 0; i < answers.size(0); ++i) found.push_back(classified(answers.select(0, i).values<double>()));
  return found;
}

Look look_named(const std::string& name) {
  const std::pair<const char*, Look> known[] = {
      {"last", Look::last}, {"heads", Look::heads}, {"rollout", Look::rollout}};
  for (const auto& [word, look] : known)
    if (name == word) return look;
  throw_unknown("look at a picture", name, {"last", "heads", "rollout"});
}

SeenPicture classify_picture(const Pretrained& p, const PictureInput& input, const Image& picture,
                             const SeePictureOptions& options) {
  const PictureLabeller& labeller = p.as<PictureLabeller>();
  const PictureEncoder& encoder = p.as<PictureEncoder>();
  const Tensor pixels = picture_pixels(p, input, picture);
  Trace own({.row_range = options.look == Look::rollout ? Range{} : Range{0, 1}, .weights = true});
  if (options.look != Look::rollout) own.places = {encoder.picture_attention()};
  Trace& trace = options.trace ? *options.trace : own;
  Context context;
  if (options.look != Look::none || options.trace) context.trace = &trace;
  SeenPicture seen = {.label = classify_pixels(labeller, pixels, context)};
  const int64_t extra = encoder.picture_shape().extra;
  if (options.look == Look::rollout) {
    std::vector<Tensor> layers;
    for (const Place& place : p.model->places()) layers.push_back(mean(weights_of(trace[place.path], {}), {0}));
    seen.looks.push_back(of_patches(rollout(layers, 1).values<double>(), extra));
  }
  if (options.look != Look::last && options.look != Look::heads) return seen;
  const Tensor weights = weights_of(trace[encoder.picture_attention()], {0, 1}).squeeze(1);  // [heads, tokens]
  if (options.look == Look::last) seen.looks.push_back(of_patches(mean(weights, {0}).values<double>(), extra));
  for (int64_t h = 0; options.look == Look::heads && h < weights.size(0); ++h)
    seen.looks.push_back(of_patches(weights.select(0, h).values<double>(), extra));
  return seen;
}

}  // namespace fovea
