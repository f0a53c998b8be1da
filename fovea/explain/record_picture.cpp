#include <algorithm>

#include "fovea/explain/record_file.h"
#include "fovea/generate/caption.h"
#include "fovea/generate/classify_pictures.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/matmul.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

constexpr int64_t most_shown_pixels = 384;  // of the longer edge

// A picture that is stretched to what the model reads is shown as it is, so that it may be finer; of a cropped one, what is left.
Image shown_picture(const PictureInput& input, const Image& picture) {
  const bool stretched = input.do_resize && !input.do_center_crop && input.shortest_edge == 0;
  Image image = stretched ? picture : input.fitted(picture);
  if (const int64_t longer = std::max(image.width, image.height); longer > most_shown_pixels) {
    const auto scaled = [&](int64_t edge) { return std::max<int64_t>(1, edge * most_shown_pixels / longer); };
    image = resized(image, scaled(image.width), scaled(image.height), Filter::bilinear);
  }
  return input.channels() == 1 && image.channels == 3 ? grey(image) : image;
}

// The mean over a layer's heads, a head at a time.
Tensor mean_of_heads(const RecordedPlace& p) {
  Tensor sum = p.part(0, {}, {});
  for (size_t i = 1; i < p.heads.size(); ++i) sum = sum + p.part(i, {}, {});
  return (1.0 / static_cast<double>(p.heads.size())) * sum;
}

Tensor rolled_out(const Recording& seen) {
  Tensor all;
  for (const RecordedPlace& p : seen.places) {
    if (p.place.rows != "patches" || p.place.columns != "patches" || p.heads.empty()) continue;
    const int64_t size = p.rows();
    std::vector<float> half(static_cast<size_t>(size * size));
    for (int64_t i = 0; i < size; ++i) half[static_cast<size_t>(i * size + i)] = 0.5f;
    const Tensor layer = 0.5 * mean_of_heads(p) + tensor({size, size}, half);
    all = all ? matmul(layer, all) : layer;
  }
  return all;
}

// As classify_picture() has it, with everything traced.
std::string label(const Pretrained& p, const Tensor& pixels, Trace* trace) {
  const auto& labeller = p.as<PictureLabeller>();
  Classified c;
  c.probabilities = labeller.labels().answers(labeller.picture_logits(pixels, {.trace = trace})).values<double>();
  c.best = static_cast<size_t>(std::ranges::max_element(c.probabilities) - c.probabilities.begin());
  return to_text(c, labeller.labels());
}

}  // namespace

Recording record_picture(const Pretrained& p, const Image& picture, const std::string& name,
                         const RecordOptions& options) {
  const PictureShape shape = p.as<PictureEncoder>().picture_shape();
  const PictureInput input = read_picture_input(p.folder);
  const Tensor pixels = input(picture);
  if (pixels.shape() != Shape{shape.channels, shape.height, shape.width})
    throw Error(Error::corrupt,
                "{}: found preprocessor_config.json for pictures {}, expected {} for the model of config.json",
                p.folder.string(), pixels.shape(), Shape{shape.channels, shape.height, shape.width});
  Recorder recorder(*p.model, p.tokenizer.get(), options, name,
                    static_cast<size_t>(shape.extra + shape.patches_down * shape.patches_across));
  std::string answer;
  if (const auto* writer = can<Generator>(*p.model)) {
    GenerationConfig config = options.generation;
    config.n_best = 1;
    const Translation found = caption(*writer, *p.tokenizer, {pixels}, config, {.trace = recorder.trace()})[0][0];
    recorder.captioned(found, shape);
    answer = found.text;
  } else {
    if (can<PictureLabeller>(*p.model))
      answer = label(p, pixels.unsqueeze(0), recorder.trace());
    else
      p.as<PictureEncoder>().encode_pictures(pixels.unsqueeze(0), {.trace = recorder.trace()});
    recorder.saw(shape);
  }
  Recording seen = recorder.finish(answer);
  seen.picture = RecordedPicture{.picture = shown_picture(input, picture),
                                 .parts_down = shape.patches_down,
                                 .parts_across = shape.patches_across,
                                 .extra = shape.extra};
  seen.picture->rollout = rolled_out(seen);
  name_model(seen, p);
  return seen;
}

}  // namespace fovea
