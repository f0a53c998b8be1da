#include <algorithm>

#include "fovea/explain/record_file.h"
#include "fovea/generate/caption.h"
#include "fovea/generate/classify_pictures.h"
#include "fovea/tensor/arithmetic.h"
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

// Of every token, [tokens, tokens]; nothing if the parts do not look at each other.
Tensor rolled_out(const Recording& seen) {
  std::vector<Tensor> layers;
  for (const RecordedPlace& p : seen.places)
    if (p.place.rows == "patches" && p.place.columns == "patches" && !p.heads.empty())
      layers.push_back(mean_of_heads(p));
  return layers.empty() ? Tensor() : rollout(layers, layers[0].size(0));
}

}  // namespace

Recording record_picture(const Pretrained& p, const Image& picture, const std::string& name,
                         const RecordOptions& options) {
  const PictureShape shape = p.as<PictureEncoder>().picture_shape();
  const PictureInput input = read_picture_input(p.folder);
  const Tensor pixels = picture_pixels(p, input, picture);
  Recorder recorder(*p.model, p.tokenizer.get(), options, name,
                    static_cast<size_t>(shape.extra + shape.patches_down * shape.patches_across));
  std::string answer;
  if (const auto* writer = can<Generator>(*p.model)) {
    GenerationConfig config = options.generation;
    config.n_best = 1;
    const Translation found =
        caption(*writer, *p.tokenizer, {pixels.squeeze(0)}, config, {.trace = recorder.trace()})[0][0];
    recorder.captioned(found, shape);
    answer = found.text;
  } else {
    if (const auto* labeller = can<PictureLabeller>(*p.model))
      answer = to_text(classify_pixels(*labeller, pixels, {.trace = recorder.trace()}), labeller->labels());
    else
      p.as<PictureEncoder>().encode_pictures(pixels, {.trace = recorder.trace()});
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
