#include "fovea/models/families/bag_of_words.h"

#include "fovea/models/labels_golden.h"
#include "fovea/models/pretrained.h"

namespace fovea {
namespace {

const std::vector<std::string> four = {"bad", "good", "mixed", "none"};

BagOfWords bag() {
  BagOfWords model({.vocabulary = 33, .labels = four});
  randomise(model);
  return model;
}

TEST(BagOfWords, CountsEachTokenThatIsNotPadding) {
  BagOfWords model = bag();
  LabelledTexts texts;
  texts.source.ids.data<int64_t>()[2] = 0;  // padding inside a text
  const NamedTensors weights = save(model);
  const std::vector<double> w = weights.at("words").values<double>(), b = weights.at("bias").values<double>();
  const std::vector<double> found = model.logits(texts.source, {}).values<double>();
  for (size_t row = 0; row < 5; ++row) {
    std::vector<double> sums(4);
    double tokens = 0;
    for (int64_t t = 0; t < texts.lengths[row]; ++t) {
      const int64_t id = texts.source.ids.data<int64_t>()[static_cast<int64_t>(row) * 17 + t];
      if (id == 0) continue;
      tokens += 1;
      for (size_t l = 0; l < 4; ++l) sums[l] += w[static_cast<size_t>(id) * 4 + l];
    }
    for (size_t l = 0; l < 4; ++l)
      EXPECT_NEAR(found[row * 4 + l], b[l] + (tokens > 0 ? sums[l] / std::sqrt(tokens) : 0), 1e-5);
  }
}

TEST(BagOfWords, GradientsOfAllWeightsEqualFiniteDifferences) {
  BagOfWords model = bag();
  const LabelledTexts texts;
  convert(model, DType::f64);
  check_weight_gradients(model, [&] { return model.loss(texts.source, {texts.labels}, {}); });
}

TEST(BagOfWords, TokenWeightsAreSharesOfWhatMovesTheBestLabel) {
  BagOfWords model({.vocabulary = 5, .labels = {"bad", "good"}});
  initialise(model, Random(1));
  NamedTensors w = save(model);
  w["words"] = tensor({5, 2}, std::vector<double>{9, 9, 0, 2, 1, 0, 0, 0, 1, 1});
  load(model, w);
  const Tensor ids = tensor({2, 4}, std::vector<int64_t>{1, 2, 3, 0, 3, 4, 0, 0});
  const Tensor found = model.token_weights({ids, {}}, {});
  const std::vector<double> expected = {2.0 / 3, 1.0 / 3, 0, 0, 0.5, 0.5, 0, 0};
  gradient_check::expect_near(found, tensor({2, 4}, expected), 1e-6, "token weights");
}

TEST(BagOfWords, BeginsAsZerosAndKeepsItsBits) {
  BagOfWords model({.vocabulary = 33, .labels = four});
  initialise(model, Random(1));
  const LabelledTexts texts;
  EXPECT_EQ(model.logits(texts.source, {}).values<float>(), std::vector<float>(20));
  model = bag();
  const Tensor together = model.logits(texts.source, {});
  for (int64_t b = 0; b < 5; ++b)
    EXPECT_TRUE(same_bits(model.logits(texts.alone(b), {}), together.slice(0, b, b + 1))) << b;
  const std::filesystem::path folder = fresh_model_folder("bag");
  save_model(folder, model);
  const auto loaded = load_model(folder);
  EXPECT_EQ(loaded->config(), model.config());
  EXPECT_TRUE(same_bits(as<TextLabeller>(*loaded).logits(texts.source, {}), together));
  std::filesystem::remove_all(folder);
  EXPECT_THROW(BagOfWords({.vocabulary = 0, .labels = four}), Error);
  EXPECT_THROW(BagOfWords({.vocabulary = 9, .labels = {"one"}}), Error);
  EXPECT_THROW(BagOfWords({.vocabulary = 9, .labels = four, .padding = 9}), Error);
}

}  // namespace
}  // namespace fovea
