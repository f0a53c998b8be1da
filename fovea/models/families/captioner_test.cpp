// The captioner against PyTorch's numbers (tests/golden/make_captioner.py) and finite differences.
#include "fovea/models/families/captioner.h"

#include "fovea/models/labels_golden.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

const SafeTensors& file() {
  static const SafeTensors all(std::filesystem::path(test_data) / "golden" / "captioner.safetensors");
  return all;
}

PictureCaptioner::Config config_of(const std::string& name) {
  PictureCaptioner::Config c = {.vocabulary = 11, .image_size = 12, .patch_size = 4, .encoder_width = 16};
  c.cell = name == "ungated" ? "gru" : "lstm";
  c.embedding = 4, c.decoder_width = 5, c.attention_width = 7;
  if (name == "none") c.attention = "none";
  if (name == "hard") c.selection = "hard";
  if (name == "ungated") c.context_gate = false;
  if (name == "doubly" || name == "ungated") c.doubly_stochastic = 0.7;
  return c;
}

const CrossEntropyOptions mean_loss = {.ignored = 0};

TEST(Captioner, LogitsLossesAndGradientsArePyTorchs) {
  for (const std::string name : {"soft", "doubly", "ungated", "none"}) {
    SCOPED_TRACE(name);
    for_each_arithmetic([&](DType type) {
      const double allowed = type == DType::f64 ? 1e-6 : 2e-5;
      PictureCaptioner model(config_of(name));
      load(model, golden(file(), name + ".weight."));
      convert(model, type);
      require_gradients(model);
      const Source source = {.pixels = file()["pixels"].to(type)};
      const Tensor inputs = file()["inputs"], targets = file()["targets"];
      gradient_check::expect_near(model.logits(source, inputs, {}), file()[name + ".logits"], allowed, "logits");
      const Tensor loss = model.loss(source, inputs, targets, mean_loss, {.training = true});
      EXPECT_NEAR(loss.item(), file()[name + ".loss"].item(), 4 * allowed);
      loss.backward();
      size_t weights = 0;
      for_each_tensor(model, [&](const std::string& path, Tensor& w, const Init&) {
        const Tensor gradient = w.gradient() ? w.gradient() : zeros(w.shape());
        gradient_check::expect_near(gradient, file()[name + ".gradient." + path], 4 * allowed, "gradient of " + path);
        ++weights;
      });
      EXPECT_EQ(weights, golden(file(), name + ".gradient.").size());
    });
  }
}

TEST(Captioner, LooksWherePyTorchLooks) {
  for (const std::string name : {"soft", "hard"}) {
    SCOPED_TRACE(name);
    PictureCaptioner model(config_of(name));
    load(model, golden(file(), name + ".weight."));
    Trace trace;
    const Tensor logits = model.logits({.pixels = file()["pixels"]}, file()["inputs"], {.trace = &trace});
    gradient_check::expect_near(logits, file()[name + ".logits"], 2e-5, "logits");
    const Tensor seen = joined_weights(trace.results().at("decoder.attention")).squeeze(1);
    const Tensor wanted = file()[name + ".looked"];
    ASSERT_EQ(seen.shape(), wanted.shape());
    if (name == "soft") {
      gradient_check::expect_near(seen, wanted, 2e-5, "weights");
      continue;
    }
    const std::vector<float> found = seen.values<float>(), chosen = wanted.values<float>();  // weights, and one of them
    for (size_t row = 0; row < found.size() / 9; ++row)
      EXPECT_EQ(chosen[row * 9 + static_cast<size_t>(std::max_element(found.begin() + static_cast<long>(row) * 9,
                                                                      found.begin() + static_cast<long>(row + 1) * 9) -
                                                     found.begin() - static_cast<long>(row) * 9)],
                1);
  }
}

// Of everything that soft attention learns from, by its value in training.
TEST(Captioner, GradientsOfTheLossAreFiniteDifferences) {
  for (const std::string encoder : {"convolutions", "vit"}) {
    SCOPED_TRACE(encoder);
    PictureCaptioner::Config c = {
        .vocabulary = 6, .image_size = 4, .num_channels = 1, .patch_size = 2, .encoder = encoder};
    c.encoder_width = 4, c.encoder_heads = 2, c.embedding = 2, c.decoder_width = 3, c.doubly_stochastic = 0.5;
    PictureCaptioner model(c);
    randomise(model);
    convert(model, DType::f64);
    const Source source = {.pixels = normal({2, 1, 4, 4}, Random(3)).to(DType::f64)};
    const Tensor inputs = tensor({2, 3}, std::vector<int64_t>{1, 3, 4, 1, 5, 0}),
                 wanted = tensor({2, 3}, std::vector<int64_t>{3, 4, 2, 5, 2, 0});
    check_weight_gradients(model, [&] { return model.loss(source, inputs, wanted, mean_loss, {.training = true}); });
  }
}

// REINFORCE adds to the gradient, and nothing to the value.
TEST(Captioner, AHardChoiceHasTheValueOfItsChoices) {
  for (const std::string gradient : {"reinforce", "marginal", "straight-through"}) {
    SCOPED_TRACE(gradient);
    PictureCaptioner::Config c = config_of("hard");
    c.hard_gradient = gradient;
    PictureCaptioner model(c);
    randomise(model);
    require_gradients(model);
    const Source source = {.pixels = file()["pixels"]};
    const Tensor inputs = file()["inputs"], targets = file()["targets"];
    const Context training = {.training = true, .random = Random(4)};
    const double plain = cross_entropy(model.logits(source, inputs, training), targets, mean_loss).item();
    const Tensor loss = model.loss(source, inputs, targets, mean_loss, training);
    EXPECT_NEAR(loss.item(), plain, 1e-5);
    loss.backward();
    double query = 0;
    for_each_tensor(model, [&](const std::string& path, Tensor& w, const Init&) {
      if (path == "attention.query" && w.gradient()) query = sum(w.gradient() * w.gradient()).item();
    });
    EXPECT_GT(query, 0) << "the choice learns nothing";
  }
}

TEST(Captioner, OutsideOfTrainingALossIsTheCrossEntropy) {
  PictureCaptioner model(config_of("doubly"));
  randomise(model);
  const Source source = {.pixels = file()["pixels"]};
  EXPECT_EQ(model.loss(source, file()["inputs"], file()["targets"], mean_loss, {}).item(),
            cross_entropy(model.logits(source, file()["inputs"], {}), file()["targets"], mean_loss).item());
}

TEST(Captioner, SaysWhatDoesNotGoTogether) {
  const auto make = [](auto change) {
    PictureCaptioner::Config c = config_of("soft");
    change(c);
    return PictureCaptioner(c);
  };
  EXPECT_THROW(make([](auto& c) { c.patch_size = 5; }), Error);
  EXPECT_THROW(make([](auto& c) { c.image_size = 13; }), Error);
  EXPECT_THROW(make([](auto& c) { c.encoder = "resnet"; }), Error);
  EXPECT_THROW(make([](auto& c) { c.selection = "hard", c.doubly_stochastic = 1; }), Error);
  EXPECT_THROW(make([](auto& c) { c.attention = "none", c.doubly_stochastic = 1; }), Error);
  EXPECT_THROW(make([](auto& c) { c.decoder_layers = 0; }), Error);
  const PictureCaptioner model(config_of("soft"));
  EXPECT_THROW(model.logits({.pixels = zeros({1, 3, 12, 13})}, file()["inputs"], {}), Error);
  EXPECT_THROW(model.logits({}, file()["inputs"], {}), Error);
}

}  // namespace
}  // namespace fovea
