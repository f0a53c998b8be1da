#include "fovea/api/text_generator.h"

#include "fovea/generate/continue.h"
#include "fovea/models/pretrained.h"
#include "fovea/models/zoo.h"

namespace fovea {

struct TextGenerator::Loaded {
  Pretrained model;
  GenerationConfig config;
};

GenerationConfig with_options(GenerationConfig config, const TextGeneratorOptions& o) {
  const auto take = [](auto& field, const auto& given) {
    if (given) field = *given;
  };
  config.beam_size = config.n_best = 1;
  take(config.max_length, o.max_length);
  take(config.sample, o.sample);
  take(config.temperature, o.temperature);
  take(config.top_k, o.top_k);
  take(config.top_p, o.top_p);
  take(config.min_p, o.min_p);
  take(config.repetition_penalty, o.repetition_penalty);
  take(config.seed, o.seed);
  check(config);
  return config;
}

TextGenerator::TextGenerator(const std::string& model, const ModelOptions& o) {
  const std::filesystem::path folder = find_model(model, "", o.zoo);
  loaded_ = std::make_shared<Loaded>(load_pretrained(folder, {.precision = o.weights}), read_generation_config(folder));
  loaded_->model.as<Generator>();
  require(!can<Encoder>(*loaded_->model.model) && !can<PictureEncoder>(*loaded_->model.model),
          "{}: found a model that reads a source, expected a language model", folder.string());
}

std::vector<TextGenerator::Answer> TextGenerator::operator()(const std::vector<std::string>& prompts,
                                                             const Options& o) const {
  const auto found = continue_texts(loaded_->model.as<Generator>(), *loaded_->model.tokenizer, prompts,
                                    with_options(loaded_->config, o),
                                    {.stops = o.stops, .on_text = o.on_text, .interrupted = o.interrupted});
  std::vector<Answer> answers;
  for (const std::vector<Continuation>& c : found)
    answers.push_back({c.at(0).text, c[0].score, std::string(name(c[0].stop)), c[0].log_probabilities});
  return answers;
}

std::vector<TextGenerator::Answer> TextGenerator::operator()(std::initializer_list<std::string> prompts,
                                                             const Options& o) const {
  return (*this)(std::vector<std::string>(prompts), o);
}

TextGenerator::Answer TextGenerator::operator()(const std::string& prompt, const Options& o) const {
  return (*this)(std::vector<std::string>{prompt}, o)[0];
}

}  // namespace fovea
