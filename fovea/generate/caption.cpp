#include "fovea/generate/caption.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/data/text/unknown_words.h"

namespace fovea {

std::vector<Captions> caption(const Generator& model, const Tokenizer& tokenizer, const std::vector<Tensor>& pictures,
                              const GenerationConfig& config, const CaptionOptions& options) {
  check(config);
  std::vector<Request> requests;
  for (const Tensor& pixels : pictures) requests.push_back({.pixels = pixels});
  std::vector<Captions> captions(pictures.size());
  const auto add = [&](size_t number, const Hypotheses& hypotheses) {
    for (const Hypothesis& h : hypotheses) {
      DecodedText decoded = decode_with_spans(tokenizer, h.ids);
      const auto size = static_cast<int64_t>(decoded.text.size());
      if (h.ended) decoded.spans.push_back({size, size});
      captions[number].push_back({.text = std::move(decoded.text),
                                  .score = h.score,
                                  .ids = h.ids,
                                  .tokens = std::move(decoded.spans),
                                  .log_probabilities = h.log_probabilities,
                                  .attention = h.attention});
    }
    if (options.on_result) options.on_result(number, captions[number]);
  };
  generate(model, requests, config,
           {.attention = options.attention,
            .unknown = tokenizer.special().unk,
            .trace = options.trace,
            .keep = false,
            .on_result = add});
  return captions;
}

PictureInput caption_input(const Pretrained& p) {
  p.as<Generator>();
  const PictureShape shape = p.as<PictureEncoder>().picture_shape();
  const PictureInput input = read_picture_input(p.folder);
  const int64_t height = input.do_center_crop ? input.crop_height : input.height,
                width = input.do_center_crop ? input.crop_width : input.width;
  if (input.channels() != shape.channels || height != shape.height || width != shape.width)
    throw Error(
        Error::corrupt,
        "{}: found preprocessor_config.json for pictures of {} channels and {} × {} pixels, expected {} and {} × "
        "{} for the model of config.json",
        p.folder.string(), input.channels(), width, height, shape.channels, shape.width, shape.height);
  return input;
}

namespace {

// A word's tokens are those that begin in it.
void look_at_word(SeenWord& word, const Translation& t, const PictureShape& shape) {
  const int64_t parts = t.attention ? t.attention.size(1) : 0;
  const std::vector<double> weights = t.attention ? t.attention.values<double>() : std::vector<double>();
  word.looked.assign(static_cast<size_t>(parts), 0);
  double tokens = 0, log_probability = 0;
  for (size_t i = 0; i < t.tokens.size() && i < t.log_probabilities.size(); ++i) {
    if (t.tokens[i].begin < word.span.begin || t.tokens[i].begin >= word.span.end) continue;
    ++tokens, log_probability += t.log_probabilities[i];
    for (size_t j = 0; j < word.looked.size(); ++j) word.looked[j] += weights[i * word.looked.size() + j];
  }
  word.probability = std::exp(log_probability);
  if (parts == 0 || tokens == 0) return;
  for (double& weight : word.looked) weight /= tokens;
  const int64_t most = std::max_element(word.looked.begin(), word.looked.end()) - word.looked.begin();
  word.x = (static_cast<double>(most % shape.patches_across) + 0.5) / static_cast<double>(shape.patches_across);
  word.y = (static_cast<double>(most / shape.patches_across) + 0.5) / static_cast<double>(shape.patches_down);
}

}  // namespace

std::vector<SeenWord> seen_words(const Translation& t, const PictureShape& shape) {
  std::vector<SeenWord> words;
  const auto size = static_cast<int64_t>(t.text.size());
  for (int64_t begin = 0; begin < size;) {
    const size_t blank = t.text.find(' ', static_cast<size_t>(begin));
    const int64_t end = blank == std::string::npos ? size : static_cast<int64_t>(blank);
    if (end > begin) {
      words.push_back({std::string(piece_of(t.text, {begin, end})), {begin, end}, 0, {}});
      look_at_word(words.back(), t, shape);
    }
    begin = end + 1;
  }
  return words;
}

std::string to_json(const Translation& t, const PictureShape& shape, const CaptionJson& o) {
  using Json = nlohmann::ordered_json;
  Json words = Json::array();
  for (const SeenWord& seen : seen_words(t, shape)) {
    Json word = {{"text", seen.text}, {"probability", seen.probability}};
    if (!seen.looked.empty()) {
      word["x"] = seen.x * static_cast<double>(o.width), word["y"] = seen.y * static_cast<double>(o.height);
      for (int64_t row = 0; o.weights && row < shape.patches_down; ++row) {
        const auto begin = seen.looked.begin() + row * shape.patches_across;
        word["looked"].push_back(std::vector<double>(begin, begin + shape.patches_across));
      }
    }
    words.push_back(std::move(word));
  }
  return Json{{"caption", t.text}, {"score", t.score}, {"words", words}}.dump();
}

}  // namespace fovea
