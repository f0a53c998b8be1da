#include "fovea/generate/embed.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/generate/batches_by_length.h"
#include "fovea/generate/framed.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Json object_in(const fs::path& file) {
  Json json = parse_json(read_text(file), file.string());
  if (!json.is_object())
    throw Error(Error::corrupt, "{}: found {}, expected keys and values", file.string(), json.type_name());
  return json;
}

// states [tokens, width] → width numbers.
void pool(Embedder::Pooling how, const float* states, int64_t tokens, int64_t width, float* to) {
  using enum Embedder::Pooling;
  if (how == first || how == last)
    return std::copy_n(states + (how == first ? 0 : tokens - 1) * width, width, to), void();
  std::copy_n(states, width, to);
  for (int64_t t = 1; t < tokens; ++t) {
    const float* state = states + t * width;
    for (int64_t i = 0; i < width; ++i) to[i] = how == largest ? std::max(to[i], state[i]) : to[i] + state[i];
  }
  if (how == largest) return;
  const double count = static_cast<double>(tokens);
  const auto scale = static_cast<float>(1 / (how == mean ? count : std::sqrt(count)));
  for (int64_t i = 0; i < width; ++i) to[i] *= scale;
}

void normalise(float* vector, int64_t width) {
  double squares = 0;
  for (int64_t i = 0; i < width; ++i) squares += static_cast<double>(vector[i]) * vector[i];
  const auto scale = static_cast<float>(1 / std::max(std::sqrt(squares), 1e-12));
  for (int64_t i = 0; i < width; ++i) vector[i] *= scale;
}

}  // namespace

Embedder::Embedder(const Pretrained& model) : model_(model), encoder_(model.as<Encoder>()) {
  const int64_t positions = encoder_.longest();
  longest_ = positions;
  if (path_exists(model.folder / "modules.json")) read_modules();
  if (const fs::path file = model.folder / "sentence_bert_config.json"; path_exists(file)) {
    const Json json = object_in(file);
    const auto most = json.find("max_seq_length");
    if (most != json.end() && most->is_number_integer() && *most > 0)
      longest_ = positions == 0 ? most->get<int64_t>() : std::min(positions, most->get<int64_t>());
    lower_case_ = json.value("do_lower_case", false);
  }
}

void Embedder::read_modules() {
  const fs::path file = model_.folder / "modules.json";
  const Json modules = parse_json(read_text(file), file.string());
  if (!modules.is_array()) throw Error(Error::corrupt, "{}: found no list of modules, expected one", file.string());
  normalise_ = false;
  for (const Json& module : modules) {
    if (!module.is_object() || !module.value("type", Json()).is_string() || !module.value("path", Json()).is_string())
      throw Error(Error::corrupt, "{}: found a module without 'type' and 'path'", file.string());
    const auto type = module["type"].get<std::string>();
    const std::string kind = type.substr(type.rfind('.') + 1);
    if (kind == "Transformer") continue;
    if (kind == "Normalize")
      normalise_ = true;
    else if (kind == "Pooling")
      read_pooling(model_.folder / fs::path(module["path"].get<std::string>()).filename() / "config.json");
    else
      throw Error(Error::unsupported, "{}: found a module of type {}, expected Transformer, Pooling or Normalize",
                  file.string(), type);
  }
}

void Embedder::read_pooling(const fs::path& file) {
  static constexpr std::pair<const char*, Pooling> known[] = {{"pooling_mode_cls_token", Pooling::first},
                                                              {"pooling_mode_max_tokens", Pooling::largest},
                                                              {"pooling_mode_mean_tokens", Pooling::mean},
                                                              {"pooling_mode_mean_sqrt_len_tokens", Pooling::mean_sqrt},
                                                              {"pooling_mode_lasttoken", Pooling::last}};
  const Json json = object_in(file);
  poolings_.clear();
  for (const auto& [key, pooling] : known)
    if (const auto found = json.find(key); found != json.end() && *found == true) poolings_.push_back(pooling);
  for (const auto& [key, value] : json.items())
    if (key.starts_with("pooling_mode") && value == true &&
        std::none_of(std::begin(known), std::end(known), [&](const auto& k) { return k.first == key; }))
      throw Error(Error::unsupported, "{}: found {}, expected cls_token, max, mean, mean_sqrt_len or lasttoken",
                  file.string(), key);
  if (poolings_.empty()) throw Error(Error::corrupt, "{}: found no pooling_mode that is true", file.string());
}

Tensor Embedder::operator()(const std::vector<std::string>& texts, const EmbedOptions& options) const {
  const Tokenizer& tokenizer = *model_.tokenizer;
  std::vector<Framed> read;
  std::vector<size_t> sizes;
  for (const std::string& text : texts) {
    read.push_back(framed(tokenizer, lower_case_ ? lower_case(text) : text, std::nullopt, longest_));
    if (read.back().tokens.ids.empty())  // something has to be there to be looked at
      read.back().tokens = {{std::max<int64_t>(0, tokenizer.special().unk)}, {{0, 0}}, {}};
    sizes.push_back(read.back().tokens.ids.size());
  }
  Tensor vectors;
  std::once_flag sized;  // by the first states
  const auto embed = [&](const std::vector<size_t>& numbers) {
    std::vector<Framed> some;
    for (size_t n : numbers) some.push_back(read[n]);
    const Tensor states =
        encoder_.encode(source_of(some, tokenizer.special().pad), {.trace = options.trace}).detach().contiguous();
    const int64_t tokens = states.size(1), width = states.size(2);
    const auto all = static_cast<int64_t>(poolings_.size()) * width;
    std::call_once(sized, [&] { vectors = zeros({static_cast<int64_t>(texts.size()), all}); });
    for (size_t i = 0; i < numbers.size(); ++i) {
      const float* from = states.data<float>() + static_cast<int64_t>(i) * tokens * width;
      float* to = vectors.data<float>() + static_cast<int64_t>(numbers[i]) * all;
      for (size_t p = 0; p < poolings_.size(); ++p)
        pool(poolings_[p], from, static_cast<int64_t>(sizes[numbers[i]]), width, to + static_cast<int64_t>(p) * width);
      if (normalise_) normalise(to, all);
    }
  };
  for_each_batch_by_length(sizes, options.batch_size, embed, options.on_batch);
  return vectors ? vectors : zeros({0, 0});
}

double cosine(const Tensor& vectors, int64_t a, int64_t b) {
  const int64_t width = vectors.size(1);
  const float *x = vectors.data<float>() + a * width, *y = vectors.data<float>() + b * width;
  double xy = 0, xx = 0, yy = 0;
  for (int64_t i = 0; i < width; ++i) {
    xy += static_cast<double>(x[i]) * y[i];
    xx += static_cast<double>(x[i]) * x[i];
    yy += static_cast<double>(y[i]) * y[i];
  }
  return xx == 0 || yy == 0 ? 0 : xy / std::sqrt(xx * yy);
}

}  // namespace fovea
