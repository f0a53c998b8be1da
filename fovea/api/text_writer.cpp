#include "fovea/api/text_writer.h"

#include "fovea/explain/alignment.h"
#include "fovea/generate/translate.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"

namespace fovea {

struct TextWriter::Loaded {
  Pretrained model;
  GenerationConfig config;
};

namespace {

template <class T>
void take(T& field, const std::optional<T>& given) {
  if (given) field = *given;
}

GenerationConfig config_of(const TextWriterOptions& o, GenerationConfig config) {
  take(config.sample, o.sample);
  if (config.sample) config.beam_size = 1;
  take(config.beam_size, o.beam_size);
  take(config.length_penalty, o.length_penalty);
  take(config.n_best, o.n_best);
  take(config.max_length, o.max_length);
  take(config.no_repeat_ngram, o.no_repeat_ngram);
  take(config.temperature, o.temperature);
  take(config.top_k, o.top_k);
  take(config.top_p, o.top_p);
  take(config.seed, o.seed);
  check(config);
  return config;
}

TextWriter::Answer answer_of(const std::string& source, const Translations& t, const Translation& found) {
  TextWriter::Answer answer = {.text = found.text, .score = found.score};
  if (!found.attention) return answer;
  answer.attention = by_words({found.text, found.tokens}, {source, t.source}, found.attention);
  answer.alignment = hard_alignment(answer.attention);
  return answer;
}

}  // namespace

TextWriter::TextWriter(const std::string& model, const ModelOptions& o) {
  const std::filesystem::path folder = find_model(model, "", o.zoo);
  loaded_ = std::make_shared<Loaded>(load_pretrained(folder, {.precision = o.weights}), read_generation_config(folder));
  loaded_->model.as<Generator>();
}

std::vector<TextWriter::Answer> TextWriter::operator()(const std::vector<std::string>& texts, const Options& o) const {
  const Generator& writer = loaded_->model.as<Generator>();
  const std::vector<Translations> found =
      translate(writer, *loaded_->model.tokenizer, texts, config_of(o, loaded_->config),
                {.attention = o.attention && !writer.source_attention().empty(), .prefix = o.prefix});
  std::vector<Answer> answers;
  for (size_t i = 0; i < texts.size(); ++i) {
    const Translations& t = found[i];
    answers.push_back(answer_of(texts[i], t, t.found.at(0)));
    for (size_t j = 1; j < t.found.size(); ++j) answers[i].others.push_back(answer_of(texts[i], t, t.found[j]));
  }
  return answers;
}

std::vector<TextWriter::Answer> TextWriter::operator()(std::initializer_list<std::string> texts,
                                                       const Options& o) const {
  return (*this)(std::vector<std::string>(texts), o);
}

TextWriter::Answer TextWriter::operator()(const std::string& text, const Options& o) const {
  return (*this)(std::vector<std::string>{text}, o)[0];
}

}  // namespace fovea
