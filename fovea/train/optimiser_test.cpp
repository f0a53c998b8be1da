#include "fovea/train/optimiser.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/base/threads.h"
#include "fovea/nn/golden.h"
#include "test_paths.h"

namespace fovea {
namespace {

struct Model {
  Tensor matrix = zeros({3, 5}), bias = zeros({5});
  void weights(Weights& w) {
    w("matrix", matrix, {Init::xavier});
    w("bias", bias, {Init::zeros});
  }
  Tensor& operator[](int i) { return i == 0 ? matrix : bias; }
};

Model golden_model() {
  Model model;
  for (int i : {0, 1}) model[i].copy_from(golden_numbers(model[i].shape(), 100 + i));
  return model;
}

void set_gradients(Model& model, int step) {
  for (int i : {0, 1}) model[i].set_gradient(golden_numbers(model[i].shape(), step + 10 * i).to(DType::f32));
}

void expect_same_bits(const Tensor& a, const Tensor& b) { EXPECT_EQ(a.values<float>(), b.values<float>()); }

TEST(Optimiser, EqualsTorchOptim) {
  const std::filesystem::path path = std::filesystem::path(test_data) / "golden" / "optimisers.json";
  const nlohmann::json file = nlohmann::json::parse(read_text(path));
  ASSERT_GE(file["cases"].size(), 5u);
  for_each_simd([&] {
    for (const nlohmann::json& expected : file["cases"]) {
      SCOPED_TRACE(expected["name"].get<std::string>());
      OptimiserConfig config;
      from_json(expected["config"].dump(), config, "golden");
      Model model = golden_model();
      Optimiser optimiser(config, list_weights(model));
      for (int step = 0; step < 5; ++step) {
        set_gradients(model, step);
        const double factor = expected["factors"][static_cast<size_t>(step)];
        const double norm = optimiser.step({.factor = factor});
        EXPECT_NEAR(norm, expected["norms"][static_cast<size_t>(step)].get<double>(), 1e-6);
        for (int i : {0, 1}) {
          EXPECT_FALSE(model[i].gradient());
          const std::vector<double> found = model[i].values<double>();
          const std::vector<double> wanted = expected["after"][static_cast<size_t>(step)][static_cast<size_t>(i)];
          for (size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], wanted[k], 2e-6) << "step " << step;
        }
      }
    }
  });
}

TEST(Optimiser, TheDivisorScalesTheGradients) {
  Model one = golden_model(), other = golden_model();
  const OptimiserConfig config = {.kind = "sgd", .learning_rate = 0.1, .weight_decay = 0, .momentum = 0, .clip = 0};
  Optimiser first(config, list_weights(one)), second(config, list_weights(other));
  set_gradients(one, 0), set_gradients(other, 0);
  const double norm = first.step({}), divided = second.step({.divisor = 8});
  EXPECT_NEAR(divided, norm / 8, 1e-12);
  const std::vector<double> start = golden_model().matrix.values<double>();
  const std::vector<double> a = one.matrix.values<double>(), b = other.matrix.values<double>();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(8 * (b[i] - start[i]), a[i] - start[i], 1e-6);
}

TEST(Optimiser, BiasesAndNormsDoNotDecay) {
  for (const char* kind : {"adamw", "adam", "sgd"}) {
    Model model = golden_model();
    Optimiser optimiser({.kind = kind, .learning_rate = 0.1, .weight_decay = 0.5}, list_weights(model));
    for (int i : {0, 1}) model[i].set_gradient(zeros(model[i].shape()));
    optimiser.step({});
    expect_same_bits(model.bias, golden_model().bias);
    EXPECT_NE(model.matrix.values<float>(), golden_model().matrix.values<float>()) << kind;
  }
}

TEST(Optimiser, AStateThatWentThroughAFileGoesOnWithTheSameBits) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("fovea_optimiser_" + std::to_string(getpid()) + ".safetensors");
  for (const char* kind : {"adamw", "adam", "sgd"}) {
    Model straight = golden_model(), broken = golden_model();
    Optimiser a({.kind = kind}, list_weights(straight)), b({.kind = kind}, list_weights(broken));
    for (int step = 0; step < 3; ++step) {
      set_gradients(straight, step), set_gradients(broken, step);
      a.step({}), b.step({});
    }
    write_safetensors(path, b.state());
    Optimiser restored({.kind = kind}, list_weights(broken));
    restored.restore(SafeTensors(path).tensors());
    EXPECT_EQ(restored.steps(), 3);
    for (int step = 3; step < 6; ++step) {
      set_gradients(straight, step), set_gradients(broken, step);
      a.step({}), restored.step({});
    }
    for (int i : {0, 1}) expect_same_bits(straight[i], broken[i]);
  }
  std::filesystem::remove(path);
}

TEST(Optimiser, GradientsThatAreNotFiniteChangeNothing) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Model model = golden_model();
    Optimiser optimiser({}, list_weights(model));
    set_gradients(model, 0);
    model.bias.gradient().data<float>()[3] = bad;
    EXPECT_FALSE(std::isfinite(optimiser.step({})));
    EXPECT_EQ(optimiser.steps(), 0);
    for (int i : {0, 1}) expect_same_bits(model[i], golden_model()[i]);
  }
}

TEST(Optimiser, AWeightWithoutAGradientStays) {
  Model model = golden_model();
  Optimiser optimiser({}, list_weights(model));
  model.bias.set_gradient(ones({5}));
  optimiser.step({});
  expect_same_bits(model.matrix, golden_model().matrix);
  EXPECT_NE(model.bias.values<float>(), golden_model().bias.values<float>());
}

TEST(Optimiser, BadValuesAndSharedWeightsAreErrors) {
  Model model;
  const std::vector<NamedWeight> weights = list_weights(model);
  EXPECT_THROW(Optimiser({.kind = "adamv"}, weights), Error);
  EXPECT_THROW(Optimiser({.learning_rate = -1}, weights), Error);
  EXPECT_THROW(Optimiser({.learning_rate = std::nan("")}, weights), Error);
  EXPECT_THROW(Optimiser({.beta2 = 1}, weights), Error);
  EXPECT_THROW(Optimiser({}, {weights[0], weights[0]}), Error);
  EXPECT_THROW(Optimiser({}, {{"w", zeros({2, 3}).transpose(0, 1)}}), Error);
  Optimiser adam({}, weights), sgd({.kind = "sgd"}, weights);
  EXPECT_THROW(adam.restore(sgd.state()), Error);
}

}  // namespace
}  // namespace fovea
