#include "fovea/models/families/classifier.h"

#include "fovea/base/file.h"
#include "fovea/models/labels_golden.h"
#include "fovea/models/pretrained.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/reduce.h"
#include "fovea/tensor/softmax.h"

namespace fovea {
namespace {

const std::vector<std::string> four = {"bad", "good", "mixed", "none"};

PooledClassifier::Config golden_config(const std::string& encoder, const std::string& pooling,
                                       const std::string& form) {
  return {.vocabulary = 11,
          .labels = four,
          .encoder = encoder,
          .embedding = 6,
          .width = encoder == "transformer" ? 6 : 4,
          .layers = encoder == "transformer" ? 2 : 1,
          .heads = 2,
          .hidden = 7,
          .pooling = pooling,
          .attention = form};
}

Source golden_source() { return {label_golden_file()["words"], label_golden_file()["lengths"]}; }
Tensor golden_classes() { return label_golden_file()["classes"]; }

TEST(Classifier, EqualsPyTorch) {
  auto check = [](const std::string& name, const PooledClassifier::Config& c) {
    check_label_golden(
        name, [&] { return PooledClassifier(c); },
        [](const PooledClassifier& m) { return m.logits(golden_source(), {}); },
        [](const PooledClassifier& m) { return m.loss(golden_source(), {golden_classes()}, {}); });
  };
  check("classifier_lstm_additive", golden_config("lstm", "attention", "additive"));
  check("classifier_gru_general", golden_config("gru", "attention", "general"));
  check("classifier_gru_last", golden_config("gru", "last", "additive"));
  check("classifier_lstm_mean", golden_config("lstm", "mean", "additive"));
  check("classifier_transformer_scaled_dot", golden_config("transformer", "attention", "scaled-dot"));
  check("classifier_transformer_mean", golden_config("transformer", "mean", "additive"));
  check("classifier_none_concat", golden_config("none", "attention", "concat"));
  check("classifier_none_dot", golden_config("none", "attention", "dot"));
  auto forward = [](PooledClassifier::Config c, int64_t layers) {
    c.bidirectional = false, c.layers = layers;
    return c;
  };
  check("classifier_forward_lstm_last", forward(golden_config("lstm", "last", "additive"), 1));
  check("classifier_forward_lstm_additive", forward(golden_config("lstm", "attention", "additive"), 1));
  check("classifier_forward_gru_last", forward(golden_config("gru", "last", "additive"), 2));
}

struct Kind {
  std::string name;
  PooledClassifier::Config config;
  friend void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
};

// Every encoder with every way to pool that it has.
std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (const std::string encoder : {"lstm", "gru", "transformer", "none"}) {
    for (const std::string pooling : {"additive", "dot", "general", "concat", "scaled-dot", "hard", "last", "mean"}) {
      if (pooling == "last" && (encoder == "transformer" || encoder == "none")) continue;
      const bool attends = pooling != "last" && pooling != "mean";
      PooledClassifier::Config c = {.vocabulary = 33, .labels = four, .encoder = encoder, .embedding = 9, .width = 10};
      c.heads = 2, c.hidden = 17, c.dropout = 0, c.layers = encoder == "gru" ? 2 : 1;
      c.pooling = attends ? "attention" : pooling;
      if (pooling == "hard") c.selection = "hard";
      if (attends && pooling != "hard") c.attention = pooling;
      std::string name = encoder + "_" + pooling;
      std::replace(name.begin(), name.end(), '-', '_');
      all.push_back({name, c});
      if (pooling != "last" && !(pooling == "hard" && encoder == "lstm")) continue;
      c.bidirectional = false;
      all.push_back({name + "_forward", c});
    }
  }
  return all;
}

class EveryClassifier : public testing::TestWithParam<Kind> {
 protected:
  EveryClassifier() : model(GetParam().config) { randomise(model); }
  PooledClassifier model;
  LabelledTexts texts;
};
INSTANTIATE_TEST_SUITE_P(Models, EveryClassifier, testing::ValuesIn(kinds()),
                         [](const auto& info) { return info.param.name; });

TEST_P(EveryClassifier, PaddedHasTheBitsOfAlone) {
  for_each_simd([&] {
    const Tensor together = model.logits(texts.source, {}), weights = model.token_weights(texts.source, {});
    for (int64_t b = 0; b < 5; ++b) {
      const int64_t n = texts.lengths[static_cast<size_t>(b)];
      ASSERT_TRUE(same_bits(model.logits(texts.alone(b), {}), together.slice(0, b, b + 1))) << "text " << b;
      if (!weights) continue;
      const Tensor found = model.token_weights(texts.alone(b), {});
      ASSERT_TRUE(same_bits(found, weights.slice(0, b, b + 1).slice(1, 0, n))) << "text " << b;
    }
  });
}

TEST_P(EveryClassifier, SameBitsForAnyThreadCount) {
  expect_same_bits_for_any_threads([&] {
    require_gradients(model);
    const Tensor loss = model.loss(texts.source, {texts.labels}, {.training = true, .random = Random(3)});
    loss.backward();
    std::vector<Tensor> seen = {loss.detach(), model.logits(texts.source, {}).detach()};
    for_each_tensor(model, [&](const std::string&, Tensor& w, const Init&) { seen.push_back(w.gradient()); });
    return seen;
  });
}

TEST_P(EveryClassifier, TokenWeightsSumToOne) {
  const Tensor w = model.token_weights(texts.source, {});
  if (GetParam().config.pooling != "attention") {
    EXPECT_FALSE(w);
    return;
  }
  ASSERT_EQ(w.shape(), Shape({5, 17}));
  for (int64_t b = 0; b < 5; ++b) {
    const int64_t n = texts.lengths[static_cast<size_t>(b)];
    EXPECT_NEAR(sum(w.select(0, b).slice(0, 0, n)).item(), n > 0 ? 1 : 0, 1e-5);
    EXPECT_EQ(sum(w.select(0, b).slice(0, n, 17)).item(), 0);
  }
  Trace trace;
  trace.places = {"pooling"};
  model.logits(texts.source, {.trace = &trace});
  EXPECT_TRUE(same_bits(trace["pooling"].weights.reshape({5, 17}), w));
}

TEST_P(EveryClassifier, SavedAndLoadedHasTheSameBits) {
  const std::filesystem::path folder = fresh_model_folder("classifier_" + GetParam().name);
  save_model(folder, model);
  const auto loaded = load_model(folder);
  EXPECT_EQ(loaded->config(), model.config());
  EXPECT_EQ(as<TextLabeller>(*loaded).labels().names(), four);
  EXPECT_TRUE(same_bits(as<TextLabeller>(*loaded).logits(texts.source, {}), model.logits(texts.source, {})));
  std::filesystem::remove_all(folder);
}

TEST_P(EveryClassifier, GradientsOfAllWeightsEqualFiniteDifferences) {
  PooledClassifier::Config c = GetParam().config;
  if (c.selection == "hard") return;  // a sampled gradient; below
  c.vocabulary = 11, c.width = 4, c.embedding = 4, c.hidden = 3, c.layers = 1;
  PooledClassifier tiny(c);
  randomise(tiny);
  convert(tiny, DType::f64);
  check_weight_gradients(tiny, [&] { return tiny.loss(golden_source(), {golden_classes()}, {}); });
}

TEST(Classifier, LossIsTheSumOfCrossEntropies) {
  const LabelledTexts texts;
  PooledClassifier model(kinds()[0].config);
  randomise(model);
  const std::vector<double> p = softmax(model.logits(texts.source, {})).values<double>();
  double expected = 0;
  for (size_t b = 0; b < 5; ++b) expected -= std::log(p[b * 4 + static_cast<size_t>(texts.labels.data<int64_t>()[b])]);
  EXPECT_NEAR(model.loss(texts.source, {texts.labels}, {}).item(), expected, 1e-5);
}

TEST(Classifier, AModelOfBeforeTheFieldReadsBothWays) {
  const LabelledTexts texts;
  PooledClassifier::Config c = {.vocabulary = 33, .labels = four, .embedding = 9, .width = 10, .pooling = "last"};
  PooledClassifier model(c);
  randomise(model);
  const std::filesystem::path folder = fresh_model_folder("classifier_before_bidirectional");
  save_model(folder, model);
  std::string config = read_text(folder / "config.json");
  const size_t at = config.find("\"bidirectional\"");
  ASSERT_NE(at, std::string::npos);
  config.erase(at, config.find('\n', at) - at);
  write_text(folder / "config.json", config);
  const auto loaded = load_model(folder);
  EXPECT_TRUE(same_bits(as<TextLabeller>(*loaded).logits(texts.source, {}), model.logits(texts.source, {})));
  std::filesystem::remove_all(folder);
}

TEST(Classifier, OnlyTheLongestIsRead) {
  PooledClassifier::Config c = {.vocabulary = 33, .labels = four, .embedding = 9, .width = 10, .longest = 6};
  PooledClassifier model(c);
  randomise(model);
  const LabelledTexts texts;
  const Source cut = {texts.source.ids.slice(1, 0, 6).contiguous(), tensor({5}, std::vector<int64_t>{6, 1, 6, 0, 5})};
  EXPECT_TRUE(same_bits(model.logits(texts.source, {}), model.logits(cut, {})));
  const Tensor w = model.token_weights(texts.source, {});
  EXPECT_EQ(w.shape(), Shape({5, 17}));
  EXPECT_TRUE(same_bits(w.slice(1, 0, 6), model.token_weights(cut, {})));
  EXPECT_EQ(sum(w.slice(1, 6, 17)).item(), 0);
}

TEST(Classifier, DropoutAndSmoothingActInTrainingOnly) {
  const LabelledTexts texts;
  for (const std::string what : {"dropout", "word_dropout", "smoothing"}) {
    PooledClassifier::Config c = {.vocabulary = 33, .labels = four, .embedding = 9, .width = 10, .dropout = 0};
    (what == "dropout" ? c.dropout : what == "smoothing" ? c.smoothing : c.word_dropout) = 0.3;
    PooledClassifier model(c);
    randomise(model);
    auto run = [&](bool training, uint64_t seed) {
      return model.loss(texts.source, {texts.labels}, {.training = training, .random = Random(seed)}).item();
    };
    EXPECT_EQ(run(false, 1), run(false, 2)) << what;
    EXPECT_EQ(run(true, 1), run(true, 1)) << what;
    EXPECT_EQ(run(true, 1) == run(true, 2), what == "smoothing") << what;
    EXPECT_NE(run(true, 1), run(false, 1)) << what;
  }
}

TEST(Classifier, WhatDoesNotFitIsAnError) {
  auto with = [](auto change) {
    PooledClassifier::Config c = {.vocabulary = 33, .labels = four};
    change(c);
    return error_of([&] { PooledClassifier model(c); });
  };
  EXPECT_NE(with([](auto& c) { c.labels = {"good"}; }).find("1 labels"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.labels = {"a", "a"}; }).find("'a' twice"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.encoder = "lstn"; }).find("'lstm'"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.encoder = "none", c.pooling = "last"; }).find("no last state"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.encoder = "transformer", c.pooling = "last"; }).find("no last"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.encoder = "none", c.bidirectional = false; }).find("no direction"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.pooling = "mean", c.selection = "hard"; }).find("hard"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.encoder = "transformer", c.heads = 3; }).find("3 heads"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.attention = "none"; }).find("attention"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.hard_gradient = "reinforced"; }).find("'reinforce'"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.smoothing = 1; }).find("smoothing of 1"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.entropy_bonus = -1; }).find("entropy_bonus"), std::string::npos);
  EXPECT_NE(with([](auto& c) { c.longest = 0; }).find("longest of 0"), std::string::npos);
  const PooledClassifier model({.vocabulary = 33, .labels = four});
  EXPECT_THROW(model.logits({zeros({3}, DType::i64), {}}, {}), Error);
  EXPECT_THROW(model.loss({zeros({1, 3}, DType::i64), {}}, {tensor({1}, std::vector<int64_t>{4})}, {}), Error);
}

// Three words, two labels, nothing between the words' vectors and the choice: the expected loss can be written down.
//   w = softmax(q · h),   J = Σⱼ w[j] ℓ(j) − bonus · H(w),   ℓ(j) = −log softmax(W h[j] + b)[label]
struct Enumerated {
  static constexpr int width = 3;
  std::vector<double> h, q, output, bias;  // [3, width], [width], [2, width], [2]
  double bonus;

  std::vector<double> weights() const {
    std::vector<double> w;
    double total = 0;
    for (size_t j = 0; j < 3; ++j) {
      double e = 0;
      for (size_t d = 0; d < width; ++d) e += q[d] * h[j * width + d];
      w.push_back(std::exp(e)), total += w.back();
    }
    for (double& x : w) x /= total;
    return w;
  }
  double loss(size_t j, size_t label) const {
    double logits[2] = {bias[0], bias[1]};
    for (size_t l = 0; l < 2; ++l)
      for (size_t d = 0; d < width; ++d) logits[l] += output[l * width + d] * h[j * width + d];
    return std::log(std::exp(logits[0]) + std::exp(logits[1])) - logits[label];
  }
  double expected(size_t label) const {
    double sum = 0;
    const std::vector<double> w = weights();
    for (size_t j = 0; j < 3; ++j) sum += w[j] * loss(j, label) + bonus * w[j] * std::log(w[j]);
    return sum;
  }
  std::vector<double> gradient(std::vector<double> Enumerated::*of, size_t label) {
    std::vector<double> found;
    for (double& x : this->*of) {
      const double before = x;
      x = before + 1e-5;
      const double above = expected(label);
      x = before - 1e-5;
      found.push_back((above - expected(label)) / 2e-5);
      x = before;
    }
    return found;
  }
};

struct HardCase {
  PooledClassifier model;
  Enumerated truth;
  static constexpr int64_t copies = 256;
  Source source = {tensor({1, 3}, std::vector<int64_t>{4, 5, 6}).expand({copies, 3}).contiguous(), {}};
  Tensor labels = full({copies}, 1, DType::i64);

  explicit HardCase(double bonus)
      : model({.vocabulary = 7,
               .labels = {"bad", "good"},
               .encoder = "none",
               .embedding = Enumerated::width,
               .attention = "dot",
               .selection = "hard",
               .entropy_bonus = bonus,
               .dropout = 0}) {
    randomise(model, 3);
    for_each_tensor(model, [](const std::string&, Tensor& w, const Init&) { w.copy_from(w * 2.5); });
    const NamedTensors w = save(model);
    truth = {w.at("embedding.weight").slice(0, 4, 7).values<double>(), w.at("pooling.learned_query").values<double>(),
             w.at("output.weight").values<double>(), w.at("output.bias").values<double>(), bonus};
  }
};

// The mean of many sampled gradients, and how far off it may be by chance.
struct Sampled {
  std::vector<double> mean, deviation;
};

std::map<std::string, Sampled> sampled_gradients(HardCase& c, int rounds) {
  std::map<std::string, std::vector<std::vector<double>>> all;
  for (int round = 0; round < rounds; ++round) {
    require_gradients(c.model);
    c.model.loss(c.source, {c.labels}, {.training = true, .random = Random(5).fork(static_cast<uint64_t>(round))})
        .backward();
    for_each_tensor(c.model, [&](const std::string& path, Tensor& w, const Init&) {
      all[path].push_back((w.gradient() / static_cast<double>(HardCase::copies)).values<double>());
    });
  }
  std::map<std::string, Sampled> result;
  for (const auto& [path, samples] : all) {
    Sampled s = {std::vector<double>(samples[0].size()), std::vector<double>(samples[0].size())};
    for (size_t i = 0; i < s.mean.size(); ++i) {
      for (const auto& sample : samples) s.mean[i] += sample[i] / rounds;
      for (const auto& sample : samples) s.deviation[i] += std::pow(sample[i] - s.mean[i], 2) / (rounds - 1);
      s.deviation[i] = std::sqrt(s.deviation[i] / rounds);
    }
    result[path] = s;
  }
  return result;
}

TEST(Classifier, ReinforceApproachesTheGradientOfTheExpectedLoss) {
  for (const double bonus : {0.0, 0.5}) {
    HardCase c(bonus);
    auto sampled = sampled_gradients(c, 60);
    auto check = [&](const std::string& path, std::vector<double> Enumerated::*of, size_t first) {
      const std::vector<double> exact = c.truth.gradient(of, 1);
      const Sampled& s = sampled.at(path);
      double size = 0;
      for (size_t i = 0; i < exact.size(); ++i) {
        EXPECT_NEAR(s.mean[first + i], exact[i], 5 * s.deviation[first + i] + 1e-5) << path << " at " << i;
        size = std::max(size, std::abs(exact[i]) / (s.deviation[first + i] + 1e-9));
      }
      EXPECT_GT(size, 10) << path << " is lost in the noise";
    };
    check("pooling.learned_query", &Enumerated::q, 0);
    check("embedding.weight", &Enumerated::h, 4 * Enumerated::width);
    check("output.weight", &Enumerated::output, 0);
    check("output.bias", &Enumerated::bias, 0);
  }
}

TEST(Classifier, TheValueOfAHardLossIsThatOfTheChoice) {
  HardCase c(0.3);
  const std::vector<double> w = c.truth.weights();
  std::vector<int> chosen(3);
  constexpr int rounds = 400;
  for (int round = 0; round < rounds; ++round) {
    const double found = c.model
                             .loss({c.source.ids.slice(0, 0, 1), {}}, {c.labels.slice(0, 0, 1)},
                                   {.training = true, .random = Random(9).fork(static_cast<uint64_t>(round))})
                             .item();
    size_t which = 3;
    for (size_t j = 0; j < 3; ++j)
      if (std::abs(found - c.truth.loss(j, 1)) < 1e-5) which = j;
    ASSERT_LT(which, 3u) << found;
    ++chosen[which];
  }
  for (size_t j = 0; j < 3; ++j)
    EXPECT_NEAR(chosen[j], rounds * w[j], 5 * std::sqrt(rounds * w[j] * (1 - w[j])) + 1) << j;
  const size_t best = static_cast<size_t>(std::max_element(w.begin(), w.end()) - w.begin());
  EXPECT_NEAR(c.model.loss({c.source.ids.slice(0, 0, 1), {}}, {c.labels.slice(0, 0, 1)}, {}).item(),
              c.truth.loss(best, 1), 1e-5);
}

}  // namespace
}  // namespace fovea
