#include "fovea/api/captioner.h"

#include "fovea/generate/caption.h"
#include "fovea/models/zoo.h"

namespace fovea {

struct Captioner::Loaded {
  Pretrained model;
  PictureInput input;
  GenerationConfig generation;
};

namespace {

Captioner::Answer answer_of(const Translation& t, const PictureShape& shape, const Image& picture) {
  Captioner::Answer answer = {t.text, t.score, {}, shape.patches_down, shape.patches_across};
  for (SeenWord& word : seen_words(t, shape))
    answer.words.push_back({std::move(word.text), word.span, word.probability,
                            word.x * static_cast<double>(picture.width), word.y * static_cast<double>(picture.height),
                            std::move(word.looked)});
  return answer;
}

}  // namespace

Captioner::Captioner(const std::string& model, const ModelOptions& o) {
  auto loaded = std::make_shared<Loaded>();
  loaded->model = load_pretrained(find_model(model, "", o.zoo), {.precision = o.weights});
  loaded->input = caption_input(loaded->model);
  loaded->generation = read_generation_config(loaded->model.folder);
  loaded_ = std::move(loaded);
}

std::vector<Captioner::Answer> Captioner::operator()(const std::vector<Image>& pictures, const Options& o) const {
  const Generator& writer = loaded_->model.as<Generator>();
  const PictureShape shape = loaded_->model.as<PictureEncoder>().picture_shape();
  GenerationConfig config = loaded_->generation;
  if (o.beam_size != 0) config.beam_size = o.beam_size;
  config.n_best = 1;
  std::vector<Tensor> pixels;
  for (const Image& picture : pictures) pixels.push_back(loaded_->input(picture));
  const std::vector<Captions> found =
      caption(writer, *loaded_->model.tokenizer, pixels, config, {.attention = !writer.source_attention().empty()});
  std::vector<Answer> answers;
  for (size_t i = 0; i < found.size(); ++i) answers.push_back(answer_of(found[i][0], shape, pictures[i]));
  return answers;
}

Captioner::Answer Captioner::operator()(const Image& picture, const Options& o) const {
  return (*this)(std::vector<Image>{picture}, o)[0];
}

Captioner::Answer Captioner::operator()(const std::string& path, const Options& o) const {
  return (*this)(read_image(path), o);
}

}  // namespace fovea
