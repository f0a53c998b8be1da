#include "fovea/generate/classify_pictures.h"

#include <algorithm>

#include "fovea/base/catalogue.h"

#include "fovea/tensor/index.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

// [1, channels, height, width], as the model reads it.
Tensor pixels_of(const Pretrained& p, const PictureInput& input, const Image& picture) {
  const PictureShape shape = p.as<PictureEncoder>().picture_shape();
  const Tensor pixels = input(picture).unsqueeze(0);
  if (pixels.shape() != Shape{1, shape.channels, shape.height, shape.width})
    throw Error(Error::corrupt,
                "{}: found preprocessor_config.json for pictures {}, expected {} for the model of config.json",
                p.folder.string(), pixels.shape(), Shape{1, shape.channels, shape.height, shape.width});
  return pixels;
}

Classified classified(std::vector<double> probabilities) {
  Classified c;
  c.best = static_cast<size_t>(std::ranges::max_element(probabilities) - probabilities.begin());
  c.probabilities = std::move(probabilities);
  return c;
}

std::vector<double> of_patches(const std::vector<double>& tokens, int64_t extra) {
  return {tokens.begin() + extra, tokens.end()};
}

std::vector<double> rolled_out(const Model& model, const Trace& trace) {
  std::vector<double> row = {1};
  std::vector<Place> places = model.places();
  std::ranges::reverse(places);
  for (const Place& place : places) {
    const Tensor layer = mean(trace[place.path].weights.squeeze(0), {0});  // [tokens, tokens]
    const auto tokens = static_cast<size_t>(layer.size(0));
    const std::vector<double> weights = layer.values<double>();
    row.resize(tokens);
    std::vector<double> below(tokens);
    for (size_t i = 0; i < tokens; ++i) below[i] = row[i] / 2;
    for (size_t i = 0; i < tokens; ++i)
      for (size_t j = 0; j < tokens; ++j) below[j] += row[i] * weights[i * tokens + j] / 2;
    row = below;
  }
  return row;
}

}  // namespace

std::vector<Classified> classify_pictures(const Pretrained& p, const PictureInput& input,
                                          const std::vector<Image>& pictures) {
  if (pictures.empty()) return {};
  const PictureLabeller& labeller = p.as<PictureLabeller>();
  std::vector<Tensor> pixels;
  for (const Image& picture : pictures) pixels.push_back(pixels_of(p, input, picture));
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
  const Tensor pixels = pixels_of(p, input, picture);
  Trace trace({.row_range = options.look == Look::rollout ? Range{} : Range{0, 1}, .weights = true});
  if (options.look != Look::rollout) trace.places = {encoder.picture_attention()};
  Context context;
  if (options.look != Look::none) context.trace = &trace;
  SeenPicture seen = {
      .label = classified(labeller.labels().answers(labeller.picture_logits(pixels, context)).values<double>())};
  const int64_t extra = encoder.picture_shape().extra;
  if (options.look == Look::rollout) seen.looks.push_back(of_patches(rolled_out(*p.model, trace), extra));
  if (options.look != Look::last && options.look != Look::heads) return seen;
  const Tensor weights = trace[trace.places[0]].weights.select(2, 0).squeeze(0);  // [heads, tokens]
  if (options.look == Look::last) seen.looks.push_back(of_patches(mean(weights, {0}).values<double>(), extra));
  for (int64_t h = 0; options.look == Look::heads && h < weights.size(0); ++h)
    seen.looks.push_back(of_patches(weights.select(0, h).values<double>(), extra));
  return seen;
}

}  // namespace fovea
