// For tests: small language models with the logits that Transformers gives them (tests/golden/make_language_models.py).
//
//   const LanguageModelCase c("llama");   c.expect_golden(*c.load(0));
#pragma once

#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/models/pretrained.h"
#include "fovea/nn/golden.h"

namespace fovea {

inline const SafeTensors& golden_models() {
  static const SafeTensors file(std::filesystem::path(test_data) / "golden" / "language_models.safetensors");
  return file;
}

inline std::vector<std::string> golden_language_models() {
  std::vector<std::string> names;
  for (const auto& [key, value] : golden_models().metadata())
    if (key.ends_with(".weights")) names.push_back(key.substr(0, key.size() - 8));
  return names;
}

struct LanguageModelCase {
  explicit LanguageModelCase(const std::string& name) : name(name) {
    const auto& metadata = golden_models().metadata();
    for (const auto& config : nlohmann::json::parse(metadata.at(name + ".configs"))) configs.push_back(config);
    const auto shapes = nlohmann::ordered_json::parse(metadata.at(name + ".weights"));
    int64_t number = seed();
    for (const auto& [path, sizes] : shapes.items()) {
      Shape shape;
      for (int64_t size : sizes) shape.push_back(size);
      const double offset = shape.rank() == 1 && !path.ends_with("bias") ? 1 : 0;
      weights[path] = (golden_numbers(shape, number++, 0.25) + offset).to(DType::f32);
    }
  }
  // The folder with the given spelling of config.json; the caller may change weights and config before.
  std::unique_ptr<Model> load(size_t spelling, const LoadOptions& options = {}) const {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("fovea_language_model_" + name);
    write(folder, spelling);
    auto model = load_model(folder, options);
    std::filesystem::remove_all(folder);
    return model;
  }
  void write(const std::filesystem::path& folder, size_t spelling) const {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    write_safetensors(folder / "model.safetensors", weights);
    write_text(folder / "config.json", configs.at(spelling).dump());
  }
  void expect_golden(const Model& model) const {
    for (int i : {0, 1}) {
      const Tensor prompt = golden_models()[fmt::format("{}.prompt.{}", name, i)];
      const Tensor logits = as<Generator>(model).logits({}, prompt.unsqueeze(0), {}).squeeze(0);
      gradient_check::expect_near(logits, golden_models()[fmt::format("{}.logits.{}", name, i)], 2e-4, "logits");
    }
  }

  std::string name;
  std::vector<nlohmann::json> configs;
  NamedTensors weights;

 private:
  int64_t seed() const { return static_cast<int64_t>(golden_models()[name + ".seed"].item()); }
};

}  // namespace fovea
