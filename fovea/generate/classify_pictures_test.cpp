#include "fovea/generate/classify_pictures.h"

#include <gtest/gtest.h>

#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

// A tiny model of three layers, whose weights are drawn.
Pretrained tiny() {
  const std::unique_ptr<ModelConfig> config = find<Family>("vit").config();
  from_json(R"({"architectures": ["ViTForImageClassification"], "hidden_size": 16, "num_attention_heads": 2,
                "num_hidden_layers": 3, "intermediate_size": 24, "image_size": 12, "patch_size": 4, "num_channels": 1,
                "id2label": {"0": "a", "1": "b", "2": "c"}})",
            *config, "config.json");
  Pretrained p = {"tiny", config->make(), nullptr};
  for_each_tensor(*p.model, [](const std::string& path, Tensor& w, const Init&) {
    initialise(w, {Init::normal, 0.5}, Random(1).fork(path));
  });
  return p;
}

Image noise(uint64_t seed) {
  Image picture = {12, 12, 1, {}};
  for (uint64_t i = 0; i < 144; ++i) picture.pixels.push_back(static_cast<uint8_t>(Random(seed).below(256, i)));
  return picture;
}

const PictureInput input = {.height = 12, .width = 12, .image_mean = {0.5}, .image_std = {0.5}};

using Matrix = std::vector<std::vector<double>>;

// The weights of each layer, heads apart: [layer][head], tokens × tokens.
std::vector<std::vector<Matrix>> all_weights(const Pretrained& p, const Image& picture) {
  Trace trace;
  Context context;
  context.trace = &trace;
  p.as<PictureLabeller>().picture_logits(input(picture).unsqueeze(0), context);
  std::vector<std::vector<Matrix>> layers;
  for (const Place& place : p.model->places()) {
    const Tensor w = trace[place.path].weights;
    layers.emplace_back();
    for (int64_t h = 0; h < w.size(1); ++h) {
      layers.back().emplace_back();
      for (int64_t i = 0; i < w.size(2); ++i)
        layers.back().back().push_back(w.select(0, 0).select(0, h).select(0, i).values<double>());
    }
  }
  return layers;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& tokens) {
  ASSERT_EQ(found.size() + 1, tokens.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], tokens[i + 1], 1e-6) << i;
}

TEST(ClassifyPictures, LooksAreTheClassTokensRowOfTheLastLayer) {
  const Pretrained p = tiny();
  const auto layers = all_weights(p, noise(1));
  const SeenPicture heads = classify_picture(p, input, noise(1), {.look = Look::heads});
  ASSERT_EQ(heads.looks.size(), 2u);
  for (size_t h = 0; h < 2; ++h) expect_near(heads.looks[h], layers[2][h][0]);
  std::vector<double> both = layers[2][0][0];
  for (size_t i = 0; i < both.size(); ++i) both[i] = (both[i] + layers[2][1][0][i]) / 2;
  const SeenPicture last = classify_picture(p, input, noise(1), {.look = Look::last});
  ASSERT_EQ(last.looks.size(), 1u);
  expect_near(last.looks[0], both);
  EXPECT_TRUE(classify_picture(p, input, noise(1)).looks.empty());
  EXPECT_EQ(last.label.probabilities, classify_picture(p, input, noise(1)).label.probabilities);
}

// Abnar and Zuidema's recursion from below: R₁ = Â₁, Rₗ = Âₗ Rₗ₋₁ with Â = ½ (A + I); the class token's row of the last.
TEST(ClassifyPictures, RolloutIsItsRecursionOverWholeMatrices) {
  const Pretrained p = tiny();
  Matrix rolled;
  for (const auto& heads : all_weights(p, noise(2))) {
    const size_t n = heads[0].size();
    Matrix next(n, std::vector<double>(n));
    for (size_t i = 0; i < n; ++i)
      for (size_t k = 0; k < n; ++k) {
        const double a = ((heads[0][i][k] + heads[1][i][k]) / 2 + (i == k ? 1 : 0)) / 2;
        if (rolled.empty()) {
          next[i][k] = a;
          continue;
        }
        for (size_t j = 0; j < n; ++j) next[i][j] += a * rolled[k][j];
      }
    rolled = next;
  }
  const SeenPicture seen = classify_picture(p, input, noise(2), {.look = Look::rollout});
  ASSERT_EQ(seen.looks.size(), 1u);
  expect_near(seen.looks[0], rolled[0]);
}

TEST(ClassifyPictures, SeveralAtOnceAreAsOneByOne) {
  const Pretrained p = tiny();
  const std::vector<Image> pictures = {noise(1), noise(2), noise(3)};
  const std::vector<Classified> found = classify_pictures(p, input, pictures);
  ASSERT_EQ(found.size(), 3u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(found[i].probabilities, classify_picture(p, input, pictures[i]).label.probabilities);
  EXPECT_TRUE(classify_pictures(p, input, {}).empty());
  EXPECT_THROW(classify_pictures(p, PictureInput{}, pictures), Error);
  EXPECT_THROW(look_named("around"), Error);
}

}  // namespace
}  // namespace fovea
