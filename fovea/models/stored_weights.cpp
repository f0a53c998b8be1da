#include "fovea/models/stored_weights.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/formats/safetensors.h"
#include "fovea/formats/whisper_file.h"
#include "fovea/models/gguf_config.h"
#include "fovea/models/whisper_weights.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A model of texts and pictures has a config for each: that of its texts, which is a model of its own.
std::string text_config(const std::string& config, const std::string& where) {
  if (config.find("\"text_config\"") == config.npos) return config;
  const Json whole = parse_json<Json>(config, where);
  const auto text = whole.is_object() ? whole.find("text_config") : whole.end();
  if (text == whole.end() || !text->is_object() || !text->contains("model_type")) return config;
  Json own = *text;
  for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id", "tie_word_embeddings"})
    if (!own.contains(key) && whole.contains(key)) own[key] = whole[key];
  return own.dump(2);
}

class FolderWeights final : public StoredWeights {
 public:
  explicit FolderWeights(const fs::path& folder) : folder_(folder), file_(checked(folder)) {
    const auto found = file_.metadata().find(packing_key);
    if (found == file_.metadata().end()) return;
    try {
      packing_ = parse_precision(found->second);
    } catch (const Error& e) {
      throw Error(Error::corrupt, "{}: {}", folder.string(), e.what());
    }
  }

  std::string config() const override { return text_config(read_text(folder_ / "config.json"), where()); }
  std::string where() const override { return (folder_ / "config.json").string(); }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : file_.tensors()) names.push_back(name);
    return names;
  }
  Shape shape(const std::string& name) const override { return file_[name].shape(); }
  Shape expected(const Weight& weight) const override {
    return packing_ && weight.packs() ? Shape{weight.bytes_in(*packing_)} : weight.stored_shape();
  }
  std::string type(const std::string& name) const override { return std::string(fovea::name(file_[name].dtype())); }
  int64_t bytes(const std::string& name) const override {
    return file_[name].elements() * static_cast<int64_t>(size_of(file_[name].dtype()));
  }

  bool same(const std::string& a, const std::string& b) const override {
    const Tensor &x = file_[a], &y = file_[b];
    return x.dtype() == y.dtype() && x.shape() == y.shape() &&
           std::memcmp(x.bytes(), y.bytes(), static_cast<size_t>(bytes(a))) == 0;
  }

  std::optional<Precision> packing() const override { return packing_; }
  void bind(Weight& weight, const std::string& name, std::optional<Precision> precision) const override {
    if (packing_ && weight.packs()) return weight.bind_packed(file_[name], *packing_);
    weight.bind(file_[name], precision.value_or(Precision::f32));
    file_.forget(name);
  }
  void learn(Weight& weight, const std::string& name) const override { weight.learn(file_[name]); }
  Tensor numbers(const std::string& name) const override { return file_[name]; }
  void forget(const std::string& name) const override { file_.forget(name); }

 private:
  static const fs::path& checked(const fs::path& folder) {
    if (!path_exists(folder / "config.json"))
      throw Error(Error::not_found, "{}: found no config.json, expected the folder of a model", folder.string());
    return folder;
  }

  fs::path folder_;
  SafeTensors file_;
  std::optional<Precision> packing_;
};

class GgufWeights final : public StoredWeights {
 public:
  explicit GgufWeights(const fs::path& path) : file_(path), names_(hugging_face_names(file_)) {}

  std::string config() const override { return gguf_config(file_); }
  std::string where() const override { return file_.path().string(); }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& [name, stored] : names_) names.push_back(name);
    return names;
  }
  Shape shape(const std::string& name) const override { return file_.shape(names_.at(name)); }
  Shape expected(const Weight& weight) const override { return weight.shape(); }
  std::string type(const std::string& name) const override {
    const auto found = file_.blocks().find(names_.at(name));
    return std::string(found == file_.blocks().end() ? fovea::name(file_.tensor(names_.at(name)).dtype())
                                                     : fovea::name(found->second.type));
  }
  int64_t bytes(const std::string& name) const override {
    const auto found = file_.blocks().find(names_.at(name));
    const int64_t elements = shape(name).elements();
    if (found == file_.blocks().end())
      return elements * static_cast<int64_t>(size_of(file_.tensor(names_.at(name)).dtype()));
    const auto [numbers, bytes] = block_of(found->second.type);
    return elements / numbers * bytes;
  }

  bool same(const std::string& a, const std::string& b) const override { return names_.at(a) == names_.at(b); }

  void bind(Weight& weight, const std::string& name, std::optional<Precision> precision) const override {
    const std::string& stored = names_.at(name);
    const auto found = file_.blocks().find(stored);
    if (found != file_.blocks().end() && !precision)
      weight.bind(found->second);
    else if (found != file_.blocks().end())
      weight.bind(as_stored(weight, file_.numbers_of(stored)), *precision);
    else
      weight.bind(as_stored(weight, file_.tensor(stored)), precision.value_or(Precision::f32));
    file_.forget(stored);
  }
  void learn(Weight& weight, const std::string& name) const override {
    weight.learn(as_stored(weight, file_.numbers_of(names_.at(name))));
  }
  Tensor numbers(const std::string& name) const override { return file_.numbers_of(names_.at(name)); }
  void forget(const std::string& name) const override { file_.forget(names_.at(name)); }

 private:
  // Here every matrix is [outputs, inputs].
  static Tensor as_stored(const Weight& weight, const Tensor& numbers) {
    return weight.transposed() ? numbers.transpose(0, 1) : numbers;
  }

  Gguf file_;
  std::map<std::string, std::string> names_;
};

}  // namespace

bool is_gguf(const fs::path& model) { return model.extension() == ".gguf"; }

std::unique_ptr<StoredWeights> open_weights(const fs::path& model) {
  if (is_gguf(model) && !is_folder(model)) return std::make_unique<GgufWeights>(model);
  if (is_whisper_file(model)) return whisper_weights(model);
  return std::make_unique<FolderWeights>(model);
}

}  // namespace fovea
