// Models of ViT's kind against Transformers' numbers (tests/golden/make_vit.py).
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/file.h"
#include "fovea/models/pretrained.h"
#include "fovea/nn/golden.h"

namespace fovea {
namespace {

// A folder as Transformers writes it.
Pretrained stored(const NamedTensors& all, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  NamedTensors weights;
  for (const auto& [key, tensor] : all)
    if (key.starts_with("weight.")) weights[key.substr(7)] = tensor;
  write_safetensors(folder / "model.safetensors", weights);
  std::string config;
  for (int64_t byte : all.at("config").values<int64_t>()) config += static_cast<char>(byte);
  write_text(folder / "config.json", config);
  return load_pretrained(folder);
}

void expect_near(const Tensor& found, const Tensor& wanted, const std::string& what) {
  ASSERT_EQ(found.shape(), wanted.shape()) << what;
  const std::vector<float> a = found.values<float>(), b = wanted.values<float>();
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 2e-5 * std::max(1.0f, std::abs(b[i]))) << what << " " << i;
}

TEST(Vit, StatesAndLabelsAreTransformers) {
  const SafeTensors file(std::filesystem::path(test_data) / "golden" / "vit.safetensors");
  const auto folder = std::filesystem::path(testing::TempDir()) / "fovea_vit";
  for (const std::string name : {"vit", "vit_plain", "vit_grey", "vit_larger", "deit", "deit_teacher", "stem_vit"}) {
    SCOPED_TRACE(name);
    std::filesystem::remove_all(folder);
    const NamedTensors all = golden(file, name + ".");
    const Pretrained p = stored(all, folder);
    EXPECT_EQ(p.tokenizer, nullptr);
    for_each_simd([&] {
      expect_near(p.as<PictureEncoder>().encode_pictures(all.at("pixels"), {}), all.at("states"), "states");
      if (all.contains("logits"))
        expect_near(p.as<PictureLabeller>().picture_logits(all.at("pixels"), {}), all.at("logits"), "logits");
    });
    if (all.contains("logits"))
      EXPECT_EQ(p.as<PictureLabeller>().labels().names(), (std::vector<std::string>{"cat", "dog", "eel"}));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fovea
