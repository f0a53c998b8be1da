#include "fovea/models/whisper_weights.h"

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "fovea/formats/whisper_file.h"

namespace fovea {
namespace {

// OpenAI's names of parts and Hugging Face's.
constexpr std::pair<std::string_view, std::string_view> parts[] = {
    {".blocks.", ".layers."},
    {".cross_attn_ln.", ".encoder_attn_layer_norm."},
    {".attn_ln.", ".self_attn_layer_norm."},
    {".cross_attn.", ".encoder_attn."},
    {".attn.", ".self_attn."},
    {".mlp.0.", ".fc1."},
    {".mlp.2.", ".fc2."},
    {".mlp_ln.", ".final_layer_norm."},
    {".query.", ".q_proj."},
    {".key.", ".k_proj."},
    {".value.", ".v_proj."},
    {".out.", ".out_proj."},
    {"encoder.ln_post.", "encoder.layer_norm."},
    {"decoder.ln.", "decoder.layer_norm."},
    {"decoder.token_embedding.", "decoder.embed_tokens."}};

std::string hugging_face_name(std::string name) {
  if (name.ends_with(".positional_embedding"))
    name = name.substr(0, name.size() - std::string_view("positional_embedding").size()) + "embed_positions.weight";
  for (const auto& [from, to] : parts)
    if (const size_t at = name.find(from); at != name.npos) name.replace(at, from.size(), to);
  return "model." + name;
}

class WhisperWeights final : public StoredWeights {
 public:
  explicit WhisperWeights(const std::filesystem::path& path) : path_(path), file_(open_whisper_file(path)) {
    for (const std::string& name : file_->names()) names_[hugging_face_name(name)] = name;
  }

  // Words come first, then the end and the start.
  std::string config() const override {
    const WhisperSizes& s = file_->sizes();
    constexpr int64_t marks = 1501 + 6 + 2, languages = 99, languages_of_the_third = 100, third = 51866;
    const int64_t end = s.vocabulary - marks - (s.vocabulary == third ? languages_of_the_third : languages);
    return nlohmann::ordered_json{{"model_type", "whisper"},
                                  {"vocab_size", s.vocabulary},
                                  {"num_mel_bins", s.bands},
                                  {"d_model", s.audio_width},
                                  {"encoder_layers", s.audio_layers},
                                  {"encoder_attention_heads", s.audio_heads},
                                  {"encoder_ffn_dim", 4 * s.audio_width},
                                  {"decoder_layers", s.text_layers},
                                  {"decoder_attention_heads", s.text_heads},
                                  {"decoder_ffn_dim", 4 * s.text_width},
                                  {"max_source_positions", s.audio_states},
                                  {"max_target_positions", s.text_tokens},
                                  {"pad_token_id", std::max<int64_t>(end, 0)},
                                  {"bos_token_id", std::max<int64_t>(end, 0)},
                                  {"eos_token_id", std::max<int64_t>(end, 0)},
                                  {"decoder_start_token_id", std::max<int64_t>(end + 1, 0)}}
        .dump(2);
  }
  std::string where() const override { return path_.string(); }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& [name, stored] : names_) names.push_back(name);
    return names;
  }
  Shape shape(const std::string& name) const override { return plain(file_->shape(names_.at(name))); }
  Shape expected(const Weight& weight) const override { return weight.stored_shape(); }
  std::string type(const std::string& name) const override { return file_->type(names_.at(name)); }
  int64_t bytes(const std::string& name) const override { return file_->bytes(names_.at(name)); }
  bool same(const std::string& a, const std::string& b) const override { return names_.at(a) == names_.at(b); }

  void bind(Weight& weight, const std::string& name, std::optional<Precision> precision) const override {
    weight.bind(numbers(name), precision.value_or(Precision::f32));
  }
  void learn(Weight& weight, const std::string& name) const override { weight.learn(numbers(name)); }
  Tensor numbers(const std::string& name) const override {
    return file_->numbers(names_.at(name)).reshape(shape(name));
  }
  void forget(const std::string&) const override {}

 private:
  // ggml has the biases of convolutions as columns.
  static Shape plain(const Shape& shape) { return shape.rank() == 2 && shape[1] == 1 ? Shape{shape[0]} : shape; }

  std::filesystem::path path_;
  std::unique_ptr<WhisperFile> file_;
  std::map<std::string, std::string> names_;
};

}  // namespace

std::unique_ptr<StoredWeights> whisper_weights(const std::filesystem::path& file) {
  return std::make_unique<WhisperWeights>(file);
}

}  // namespace fovea
