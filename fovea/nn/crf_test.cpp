#include "fovea/nn/crf.h"

#include "fovea/nn/golden.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

struct Numbers {
  std::vector<double> start, transition, stop;
};

NamedTensors named(const Numbers& w) {
  const int64_t n = static_cast<int64_t>(w.start.size());
  return {{"start", tensor({n}, w.start)}, {"transition", tensor({n, n}, w.transition)}, {"stop", tensor({n}, w.stop)}};
}

Crf crf_of(const NamedTensors& weights, DType type) {
  Crf crf({.labels = weights.at("start").size(0)});
  convert(crf, type);
  load(crf, weights);
  return crf;
}

NamedTensors random_weights(int64_t labels, double scale = 1) {
  return {{"start", random_input({labels}, 1) * scale},
          {"transition", random_input({labels, labels}, 2) * scale},
          {"stop", random_input({labels}, 3) * scale}};
}

// Every sequence of `labels` labels and `length` words, in rising order.
std::vector<std::vector<int64_t>> every_sequence(int64_t labels, int64_t length) {
  std::vector<std::vector<int64_t>> all = {{}};
  for (int64_t t = 0; t < length; ++t) {
    std::vector<std::vector<int64_t>> longer;
    for (const auto& begun : all) {
      for (int64_t label = 0; label < labels; ++label) {
        longer.push_back(begun);
        longer.back().push_back(label);
      }
    }
    all = longer;
  }
  return all;
}

// By trying all sequences: s(y) as the header writes it.
struct Tried {
  std::vector<std::vector<int64_t>> sequences;
  std::vector<double> scores, probabilities;
  double total = 0;  // log Σ exp s

  Tried(const NamedTensors& w, const Tensor& emissions, int64_t row, int64_t length) {
    const int64_t labels = emissions.size(2);
    const std::vector<double> start = w.at("start").values<double>(), move = w.at("transition").values<double>(),
                              stop = w.at("stop").values<double>(), e = emissions.select(0, row).values<double>();
    auto at = [](const std::vector<double>& x, int64_t i) { return x[static_cast<size_t>(i)]; };
    sequences = every_sequence(labels, length);
    for (const auto& y : sequences) {
      double s = length > 0 ? at(start, y.front()) + at(stop, y.back()) : 0;
      for (int64_t t = 0; t < length; ++t) s += at(e, t * labels + y[static_cast<size_t>(t)]);
      for (size_t t = 1; t < y.size(); ++t) s += at(move, y[t - 1] * labels + y[t]);
      scores.push_back(s);
    }
    const double m = *std::max_element(scores.begin(), scores.end());
    for (double s : scores) total += std::exp(s - m);
    total = m + std::log(total);
    for (double s : scores) probabilities.push_back(std::exp(s - total));
  }
};

constexpr int64_t labels = 4, words = 5;
const std::vector<int64_t> lengths = {5, 1, 0, 3, 2, 4};

Tensor length_tensor() { return tensor({6}, lengths); }
Tensor emissions() { return random_input({6, words, labels}, 5); }
Tensor wanted() {
  Tensor y({6, words}, DType::i64);
  for (int64_t i = 0; i < y.elements(); ++i)
    y.data<int64_t>()[i] = static_cast<int64_t>(Random(4).below(labels, static_cast<uint64_t>(i)));
  return y;
}

double tried_loss(const NamedTensors& w, const Tensor& e, const Tensor& y) {
  double loss = 0;
  for (int64_t b = 0; b < e.size(0); ++b) {
    const int64_t n = lengths[static_cast<size_t>(b)];
    const Tried tried(w, e, b, n);
    const std::vector<int64_t> row = y.select(0, b).slice(0, 0, n).values<int64_t>();
    const auto found = std::find(tried.sequences.begin(), tried.sequences.end(), row);
    loss += tried.total - tried.scores[static_cast<size_t>(found - tried.sequences.begin())];
  }
  return loss;
}

TEST(Crf, LossEqualsTheSumOverAllSequences) {
  for (const double scale : {1.0, 30.0, 500.0}) {
    const NamedTensors w = random_weights(labels, scale);
    const Tensor e = emissions() * scale;
    const double expected = tried_loss(w, e, wanted());
    EXPECT_NEAR(crf_of(w, DType::f64).loss(e, wanted(), length_tensor()).item(), expected, 1e-11 * (1 + expected));
    EXPECT_NEAR(crf_of(w, DType::f32).loss(e.to(DType::f32), wanted(), length_tensor()).item(), expected,
                2e-6 * (1 + expected) * scale);
  }
}

TEST(Crf, ProbabilitiesAreThoseOfAllSequences) {
  for (const double scale : {1.0, 500.0}) {
    const NamedTensors w = random_weights(labels, scale);
    const Tensor e = emissions() * scale;
    const std::vector<double> p = crf_of(w, DType::f64).probabilities(e, length_tensor()).values<double>();
    for (int64_t b = 0; b < 6; ++b) {
      const int64_t n = lengths[static_cast<size_t>(b)];
      std::vector<double> expected(static_cast<size_t>(words * labels));
      const Tried tried(w, e, b, n);
      for (size_t i = 0; i < tried.sequences.size(); ++i) {
        for (int64_t t = 0; t < n; ++t)
          expected[static_cast<size_t>(t * labels + tried.sequences[i][static_cast<size_t>(t)])] +=
              tried.probabilities[i];
      }
      for (int64_t i = 0; i < words * labels; ++i)
        EXPECT_NEAR(p[static_cast<size_t>(b * words * labels + i)], expected[static_cast<size_t>(i)], 1e-11);
    }
  }
}

TEST(Crf, LogOddsAreThoseOfAllSequencesWithTheirGradient) {
  const NamedTensors w = random_weights(labels);
  const Crf crf = crf_of(w, DType::f64);
  const Tensor e = emissions().slice(0, 0, 2), n = tensor({2}, std::vector<int64_t>{5, 1});
  const std::vector<int64_t> places = {2, 0};
  for (int64_t label = 0; label < labels; ++label) {
    const std::vector<double> odds = crf.log_odds(e, n, places, label).values<double>();
    for (int64_t b = 0; b < 2; ++b) {
      const Tried tried(w, e, b, n.values<int64_t>()[static_cast<size_t>(b)]);
      double p = 0;
      for (size_t i = 0; i < tried.sequences.size(); ++i)
        if (tried.sequences[i][static_cast<size_t>(places[static_cast<size_t>(b)])] == label)
          p += tried.probabilities[i];
      EXPECT_NEAR(odds[static_cast<size_t>(b)], std::log(p / (1 - p)), 1e-9);
    }
  }
  check_gradient([&](const Inputs& x) { return crf_of(w, x[0].dtype()).log_odds(x[0], n, places, 1); }, {e});
}

TEST(Crf, BestIsTheBestOfAllSequences) {
  const NamedTensors w = random_weights(labels);
  const std::vector<int64_t> found = crf_of(w, DType::f64).best(emissions(), length_tensor()).values<int64_t>();
  for (int64_t b = 0; b < 6; ++b) {
    const int64_t n = lengths[static_cast<size_t>(b)];
    const Tried tried(w, emissions(), b, n);
    const auto best = std::max_element(tried.scores.begin(), tried.scores.end()) - tried.scores.begin();
    std::vector<int64_t> expected = tried.sequences[static_cast<size_t>(best)];
    expected.resize(words);
    const auto begin = found.begin() + b * words;
    EXPECT_EQ(std::vector<int64_t>(begin, begin + words), expected) << "sentence " << b;
  }
}

TEST(Crf, OfEquallyGoodLabelsTheLowest) {
  Crf crf({.labels = 3});
  initialise(crf, Random(1));
  const Tensor e = tensor({1, 3, 3}, std::vector<double>{0, 1, 1, 2, 2, 0, 1, 1, 1});
  EXPECT_EQ(crf.best(e, {}).values<int64_t>(), (std::vector<int64_t>{1, 0, 0}));
}

TEST(Crf, GradientsEqualFiniteDifferences) {
  const NamedTensors w = random_weights(labels);
  check_gradient(
      [](const Inputs& x) {
        Crf crf({.labels = labels});
        std::vector<Tensor> given(x.begin() + 1, x.end());
        size_t next = 0;
        for_each_tensor(crf, [&](const std::string&, Tensor& weight, const Init&) { weight = given[next++]; });
        return crf.loss(x[0], wanted(), length_tensor());
      },
      {emissions(), w.at("start"), w.at("transition"), w.at("stop")});
}

// Weights so far apart that a product of their exponentials under- or overflows.
TEST(Crf, ExtremeWeightsStayExact) {
  Numbers extreme = {{0, -2000, 0}, {0, -3000, -3000, 900, 0, -3000, -3000, 1500, 0}, {0, 0, -1000}};
  const NamedTensors w = named(extreme);
  const Tensor e = tensor({1, 4, 3}, std::vector<double>{-900, 0, 3, 800, -700, 0, 1, 2, 3, 0, -1200, 5});
  const Tensor y = tensor({1, 4}, std::vector<int64_t>{2, 1, 0, 0});
  const Tried tried(w, e, 0, 4);
  Crf crf = crf_of(w, DType::f64);
  require_gradients(crf);
  const Tensor loss = crf.loss(e, y, {});
  const std::vector<int64_t> row = y.values<int64_t>();
  const auto at = std::find(tried.sequences.begin(), tried.sequences.end(), row) - tried.sequences.begin();
  const double expected = tried.total - tried.scores[static_cast<size_t>(at)];
  EXPECT_NEAR(loss.item(), expected, 1e-9 * (1 + std::abs(expected)));
  loss.backward();
  std::vector<double> moves(9);
  for (size_t i = 0; i < tried.sequences.size(); ++i)
    for (size_t t = 1; t < 4; ++t)
      moves[static_cast<size_t>(tried.sequences[i][t - 1] * 3 + tried.sequences[i][t])] += tried.probabilities[i];
  for (size_t t = 1; t < 4; ++t) moves[static_cast<size_t>(row[t - 1] * 3 + row[t])] -= 1;
  for_each_tensor(crf, [&](const std::string& path, Tensor& weight, const Init&) {
    if (path == "transition") gradient_check::expect_near(weight.gradient(), tensor({3, 3}, moves), 1e-9, path);
  });
}

TEST(Crf, ForbiddenMovesAreNeverTaken) {
  const double never = -std::numeric_limits<double>::infinity();
  Numbers numbers = {{0, 0}, {0, never, 0, 0}, {0, 0}};
  Crf crf = crf_of(named(numbers), DType::f64);
  const Tensor e = tensor({1, 3, 2}, std::vector<double>{9, 0, 0, 9, 0, 9});
  EXPECT_EQ(crf.best(e, {}).values<int64_t>(), (std::vector<int64_t>{1, 1, 1}));
  require_gradients(crf);
  const Tensor loss = crf.loss(e, tensor({1, 3}, std::vector<int64_t>{1, 1, 0}), {});
  loss.backward();
  for_each_tensor(crf, [&](const std::string& path, Tensor& w, const Init&) {
    for (double g : w.gradient().values<double>()) EXPECT_TRUE(std::isfinite(g)) << path;
  });
}

TEST(Crf, PaddingAndNeighboursAndThreadsDoNotChangeABit) {
  const int64_t many = 33;
  const Tensor e = normal({many, 17, 7}, Random(1)), n = [&] {
    Tensor t({many}, DType::i64);
    for (int64_t i = 0; i < many; ++i) t.data<int64_t>()[i] = i % 18;
    return t;
  }();
  Tensor y = zeros({many, 17}, DType::i64);
  for (int64_t i = 0; i < y.elements(); ++i) y.data<int64_t>()[i] = i % 7;
  Crf crf = crf_of(random_weights(7), DType::f32);
  expect_same_bits_for_any_threads([&] {
    require_gradients(crf);
    Tensor input = e.clone().require_gradient();
    const Tensor loss = crf.loss(input, y, n);
    loss.backward();
    std::vector<Tensor> seen = {loss.detach(), input.gradient(), crf.probabilities(e, n)};
    for_each_tensor(crf, [&](const std::string&, Tensor& w, const Init&) { seen.push_back(w.gradient()); });
    return seen;
  });
  const Tensor together = crf.probabilities(e, n);
  for (int64_t b = 0; b < many; ++b) {
    const Tensor alone = crf.probabilities(e.slice(0, b, b + 1).slice(1, 0, b % 18), {});
    EXPECT_EQ(alone.values<float>(), together.slice(0, b, b + 1).slice(1, 0, b % 18).values<float>()) << b;
  }
  Tensor dirty = e.clone();
  dirty.slice(0, 3, 4).slice(1, 3, 17).fill(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(crf.loss(dirty, y, n).item(), crf.loss(e, y, n).item());
  dirty.slice(0, 3, 4).slice(1, 2, 3).fill(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(crf.loss(dirty, y, n).item()));
}

TEST(Crf, NoSentencesAndNoWordsHaveNoLoss) {
  Crf crf({.labels = 3});
  initialise(crf, Random(1));
  EXPECT_EQ(crf.loss(zeros({0, 4, 3}), zeros({0, 4}, DType::i64), {}).item(), 0);
  EXPECT_EQ(crf.loss(zeros({2, 0, 3}), zeros({2, 0}, DType::i64), {}).item(), 0);
  EXPECT_EQ(crf.best(zeros({2, 0, 3}), {}).shape(), Shape({2, 0}));
}

TEST(Crf, WhatDoesNotFitIsAnError) {
  EXPECT_THROW(Crf({.labels = 0}), Error);
  Crf crf({.labels = 3});
  initialise(crf, Random(1));
  const Tensor e = zeros({2, 4, 3}), y = zeros({2, 4}, DType::i64);
  EXPECT_NE(error_of([&] { crf.best(zeros({2, 4, 2}), {}); }).find("[batch, words, 3]"), std::string::npos);
  EXPECT_NE(error_of([&] { crf.loss(e, full({2, 4}, 3, DType::i64), {}); }).find("found label 3"), std::string::npos);
  EXPECT_NE(error_of([&] {
              crf.loss(e, y, tensor({2}, std::vector<int64_t>{4, 5}));
            }).find("length of 5"),
            std::string::npos);
  EXPECT_NE(error_of([&] { crf.loss(e, zeros({2, 3}, DType::i64), {}); }).find("labels"), std::string::npos);
}

}  // namespace
}  // namespace fovea
