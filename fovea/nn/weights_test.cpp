#include "fovea/nn/weights.h"

#include <cmath>

#include "fovea/nn/golden.h"
#include "fovea/nn/linear.h"

namespace fovea {
namespace {

struct Statistics {
  double mean = 0, deviation = 0, largest = 0, kurtosis = 0;
};

Statistics statistics(const Shape& shape, const Init& init) {
  Tensor w(shape, DType::f32);
  initialise(w, init, Random(3));
  Statistics s;
  const std::vector<double> v = w.values<double>();
  const double n = static_cast<double>(v.size());
  for (double x : v) s.mean += x / n, s.largest = std::max(s.largest, std::abs(x));
  for (double x : v) s.deviation += (x - s.mean) * (x - s.mean) / n;
  for (double x : v) s.kurtosis += std::pow(x - s.mean, 4) / n / (s.deviation * s.deviation);
  s.deviation = std::sqrt(s.deviation);
  return s;
}

// A uniform distribution's kurtosis is 1.8, a normal one's is 3.
TEST(Initialise, XavierIsUniformWithItsBound) {
  for (const Shape& shape : {Shape{200, 300}, Shape{40, 100, 5, 3}}) {
    const double receptive = shape.rank() == 4 ? 15 : 1;
    const double bound = 2 * std::sqrt(6 / (receptive * static_cast<double>(shape[0] + shape[1])));
    const Statistics s = statistics(shape, {Init::xavier, 2});
    EXPECT_NEAR(s.mean, 0, bound / 100);
    EXPECT_LE(s.largest, bound);
    EXPECT_GT(s.largest, 0.999 * bound);
    EXPECT_NEAR(s.deviation, bound / std::sqrt(3.0), bound / 100);
    EXPECT_NEAR(s.kurtosis, 1.8, 0.05);
  }
}

TEST(Initialise, KaimingIsNormalWithItsDeviation) {
  const Statistics s = statistics({64, 50, 20}, {Init::kaiming});
  const double deviation = std::sqrt(2.0 / 1000);
  EXPECT_NEAR(s.mean, 0, deviation / 100);
  EXPECT_NEAR(s.deviation, deviation, deviation / 100);
  EXPECT_NEAR(s.kurtosis, 3, 0.1);
}

TEST(Initialise, NormalUniformZerosAndOnes) {
  EXPECT_NEAR(statistics({300, 200}, {Init::normal, 0.02}).deviation, 0.02, 0.0003);
  const Statistics u = statistics({300, 200}, {Init::uniform, 0.5});
  EXPECT_NEAR(u.deviation, 0.5 / std::sqrt(3.0), 0.005);
  EXPECT_LE(u.largest, 0.5);
  EXPECT_EQ(statistics({30}, {Init::zeros}).largest, 0);
  EXPECT_NEAR(statistics({30}, {Init::ones}).mean, 1, 1e-12);
  EXPECT_NEAR(statistics({30}, {Init::ones}).deviation, 0, 1e-12);
}

struct Two {
  std::vector<Linear> layers = {Linear({.inputs = 2, .outputs = 3}), Linear({.inputs = 2, .outputs = 3})};
  void weights(Weights& w) { w("layers", layers); }
};

TEST(Initialise, NumbersDependOnSeedAndPathAlone) {
  Two both;
  initialise(both, Random(1));
  EXPECT_NE(both.layers[0].weight()->values<float>(), both.layers[1].weight()->values<float>());
  Two again;
  again.layers.push_back(Linear({.inputs = 2, .outputs = 3}));
  initialise(again, Random(1));
  EXPECT_EQ(both.layers[1].weight()->values<float>(), again.layers[1].weight()->values<float>());
  initialise(again, Random(2));
  EXPECT_NE(both.layers[1].weight()->values<float>(), again.layers[1].weight()->values<float>());
}

TEST(Weights, SaveAndLoadUnderTheirPaths) {
  Two from, to;
  initialise(from, Random(1));
  const NamedTensors saved = save(from);
  EXPECT_EQ(saved.size(), 4u);
  EXPECT_EQ(saved.count("layers.1.weight"), 1u);
  load(to, saved);
  EXPECT_EQ(to.layers[1].weight()->values<float>(), from.layers[1].weight()->values<float>());
  EXPECT_EQ(count(to), 18);
}

TEST(Weights, LoadConvertsToTheWeightsType) {
  Linear half({.inputs = 2, .outputs = 1, .bias = false});
  load(half, {{"weight", tensor({1, 2}, std::vector<double>{0.5, -2}).to(DType::f16)}});
  EXPECT_EQ(half.weight().dtype(), DType::f32);
  EXPECT_EQ(half.weight()->values<float>(), (std::vector<float>{0.5f, -2}));
}

TEST(Weights, LoadNamesWhatIsMissingOrOfAnotherShape) {
  Two model;
  initialise(model, Random(1));
  NamedTensors tensors = save(model);
  tensors["layers.1.weight"] = zeros({3, 3});
  EXPECT_EQ(error_of([&] { load(model, tensors); }), "weight 'layers.1.weight': found [3, 3], expected [3, 2]");
  tensors.erase("layers.1.weight");
  tensors["layers.1.wieght"] = zeros({3, 2});
  const std::string text = error_of([&] { load(model, tensors); });
  EXPECT_NE(text.find("'layers.1.weight'"), std::string::npos) << text;
  EXPECT_NE(text.find("layers.1.wieght"), std::string::npos) << text;
}

}  // namespace
}  // namespace fovea
