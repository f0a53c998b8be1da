#include "fovea/generate/classify_pictures.h"

#include <algorithm>

#include "fovea/tensor/reduce.h"

namespace fovea {

SeenPicture classify_picture(const Pretrained& p, const PictureInput& input, const Image& picture,
                             const SeePictureOptions& options) {
  const PictureLabeller& labeller = p.as<PictureLabeller>();
  const PictureEncoder& encoder = p.as<PictureEncoder>();
  const PictureShape shape = encoder.picture_shape();
  const Tensor pixels = input(picture).unsqueeze(0);
  if (pixels.shape() != Shape{1, shape.channels, shape.height, shape.width})
    throw Error(Error::corrupt,
                "{}: found preprocessor_config.json for pictures {}, expected {} for the model of config.json",
                p.folder.string(), pixels.shape(), Shape{1, shape.channels, shape.height, shape.width});
  Trace trace({.row_range = {0, 1}, .weights = true});
  trace.places = {encoder.picture_attention()};
  Context context;
  if (options.looked) context.trace = &trace;
  SeenPicture seen;
  seen.label.probabilities = labeller.labels().answers(labeller.picture_logits(pixels, context)).values<double>();
  const auto& chances = seen.label.probabilities;
  seen.label.best = static_cast<size_t>(std::max_element(chances.begin(), chances.end()) - chances.begin());
  if (!options.looked) return seen;
  const Tensor weights = mean(trace[trace.places[0]].weights.select(2, 0), {1});  // [1, tokens]
  seen.looked = weights.slice(1, shape.extra, weights.size(1)).values<double>();
  return seen;
}

}  // namespace fovea
