#include "fovea/nn/feed_forward.h"

#include "fovea/nn/golden.h"

namespace fovea {
namespace {

TEST(FeedForward, EqualsPyTorchForEveryActivation) {
  for (const char* activation : {"relu", "gelu", "gelu-tanh", "silu"}) {
    for (bool gated : {false, true}) {
      FeedForward::Config config = {.width = 6, .hidden = 10, .activation = activation, .gated = gated, .bias = !gated};
      check_golden(
          std::string("feed_forward_") + (gated ? "gated_" : "plain_") + activation,
          [&] { return FeedForward(config); }, [](const FeedForward& m, In x) { return m(x.at("x"), {}); });
    }
  }
}

TEST(FeedForward, DropsTheHiddenLayerInTrainingOnly) {
  FeedForward mlp({.width = 4, .hidden = 400, .dropout = 0.5, .bias = false});
  FeedForward same({.width = 4, .hidden = 400, .bias = false});
  initialise(mlp, Random(1));
  initialise(same, Random(1));
  const Tensor x = ones({1, 4});
  EXPECT_EQ(mlp(x, {}).values<float>(), same(x, {}).values<float>());
  EXPECT_NE(mlp(x, {.training = true}).values<float>(), same(x, {}).values<float>());
  // Its expectation is the output without dropout.
  std::vector<double> mean(4);
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const std::vector<double> y = mlp(x, {.training = true, .random = Random(seed)}).values<double>();
    for (size_t i = 0; i < 4; ++i) mean[i] += y[i] / 400;
  }
  const std::vector<double> expected = same(x, {}).values<double>();
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(mean[i], expected[i], 0.15);
}

TEST(FeedForward, NamesTheNearestActivation) {
  const std::string text = error_of([] { FeedForward({.width = 2, .hidden = 3, .activation = "glu"}); });
  EXPECT_NE(text.find("'glu'"), std::string::npos) << text;
  EXPECT_NE(text.find("gelu"), std::string::npos) << text;
}

}  // namespace
}  // namespace fovea
