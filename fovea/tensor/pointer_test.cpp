#include "fovea/tensor/pointer.h"

#include <limits>

#include "fovea/tensor/gradient_check.h"
#include "fovea/tensor/loss.h"
#include "fovea/tensor/softmax.h"

namespace fovea {
namespace {

// Two sources of a vocabulary of 5: tokens that come twice, one that is nothing, and words 5 and 6 that only a source has.
Tensor ids() { return tensor({2, 4}, std::vector<int64_t>{1, 3, 1, 5, 6, 2, -1, 6}); }

Inputs inputs() { return {random_input({2, 3, 5}), random_input({2, 3, 1}), softmax(random_input({2, 3, 4}, 2))}; }

double share(double gate) { return 1 / (1 + std::exp(-gate)); }

// P of one row, as the header's formula says it.
std::vector<double> by_formula(const double* logits, double gate, const double* weights, const int64_t* source) {
  std::vector<double> p(7);
  double sum = 0;
  for (int v = 0; v < 5; ++v) sum += std::exp(logits[v]);
  for (size_t v = 0; v < 5; ++v) p[v] = share(gate) * std::exp(logits[v]) / sum;
  for (int j = 0; j < 4; ++j)
    if (source[j] >= 0) p[static_cast<size_t>(source[j])] += (1 - share(gate)) * weights[j];
  return p;
}

TEST(MixCopies, IsTheFormulasDistribution) {
  const Inputs x = inputs();
  const Tensor source = ids();
  for (DType type : {DType::f64, DType::f32}) {
    const Tensor y = mix_copies(x[0].to(type), x[1].to(type), x[2].to(type), source);
    ASSERT_EQ(y.shape(), (Shape{2, 3, 7}));
    const std::vector<double> found = y.values<double>();
    for (int64_t row = 0; row < 6; ++row) {
      const std::vector<double> p = by_formula(x[0].data<double>() + row * 5, x[1].data<double>()[row],
                                               x[2].data<double>() + row * 4, source.data<int64_t>() + row / 3 * 4);
      for (size_t v = 0; v < 7; ++v)
        EXPECT_NEAR(std::exp(found[static_cast<size_t>(row) * 7 + v]), p[v], type == DType::f64 ? 1e-14 : 1e-6);
    }
  }
}

// Outside of the operation a column of −∞ would be 0 · ∞.
Tensor mixed_and_finite(const Inputs& x) {
  const Tensor y = mix_copies(x[0], x[1], x[2], ids());
  return y.slice(0, 1, 2).slice(2, 0, 5);
}

TEST(MixCopies, GradientsAreFiniteDifferences) {
  check_gradient(mixed_and_finite, inputs());
  check_gradient(
      [](const Inputs& x) {
        const Tensor wanted = tensor({2, 3}, std::vector<int64_t>{5, 1, 4, 6, 6, 2});
        return cross_entropy(mix_copies(x[0], x[1], x[2], ids()), wanted,
                             {.smoothing = 0.1, .reduction = Reduction::none});
      },
      inputs());
}

TEST(MixCopies, WhatIsNotCopiedKeepsItsLogarithm) {
  Tensor weights = zeros({1, 1, 2});
  weights.data<float>()[0] = 1;
  const Tensor logits = tensor({1, 1, 4}, std::vector<float>{-200, 0, 3, -150});
  const Tensor y = mix_copies(logits, tensor({1, 1, 1}, std::vector<float>{-90}), weights,
                              tensor({1, 2}, std::vector<int64_t>{1, 2}));
  const std::vector<float> found = y.values<float>();
  const double sum = std::log(1 + std::exp(3.0));
  EXPECT_NEAR(found[0], -90 - 200 - sum, 1e-3);
  EXPECT_NEAR(found[1], 0, 1e-6);
  EXPECT_NEAR(found[2], -90 + 3 - sum, 1e-4);  // a token of the source without weight
  EXPECT_NEAR(found[3], -90 - 150 - sum, 1e-3);
}

TEST(MixCopies, ExtremesHaveFiniteGradients) {
  for (const float gate : {-100.0f, 0.0f, 100.0f}) {
    Tensor logits = tensor({1, 1, 3}, std::vector<float>{-300, 0, 300}).require_gradient();
    Tensor gates = tensor({1, 1, 1}, std::vector<float>{gate}).require_gradient();
    Tensor weights = tensor({1, 1, 3}, std::vector<float>{0, 1, 0}).require_gradient();
    const Tensor y = mix_copies(logits, gates, weights, tensor({1, 3}, std::vector<int64_t>{0, 1, 3}));
    for (int64_t wanted : {0, 1, 2, 3}) {
      const Tensor loss =
          cross_entropy(mix_copies(logits, gates, weights, tensor({1, 3}, std::vector<int64_t>{0, 1, 3})),
                        tensor({1, 1}, std::vector<int64_t>{wanted}), {.smoothing = 0.1});
      EXPECT_TRUE(std::isfinite(loss.item())) << gate << ", " << wanted;
      loss.backward();
      for (const Tensor& x : {logits, gates, weights})
        for (double d : x.gradient().values<double>()) EXPECT_TRUE(std::isfinite(d)) << gate << ", " << wanted;
      logits.clear_gradient(), gates.clear_gradient(), weights.clear_gradient();
    }
  }
}

TEST(MixCopies, ARowHasTheSameBitsBesideOthersAndBehindPadding) {
  const Inputs x = inputs();
  const Tensor logits = x[0].to(DType::f32), gate = x[1].to(DType::f32), weights = x[2].to(DType::f32);
  const Tensor both = mix_copies(logits, gate, weights, ids());
  const Tensor first =
      mix_copies(logits.slice(0, 0, 1), gate.slice(0, 0, 1), weights.slice(0, 0, 1), ids().slice(0, 0, 1));
  ASSERT_EQ(first.size(2), 6);
  EXPECT_EQ(both.slice(0, 0, 1).slice(2, 0, 6).values<float>(), first.values<float>());
  for (float value : both.slice(0, 0, 1).slice(2, 6, 7).values<float>()) EXPECT_EQ(value, -HUGE_VALF);
  expect_same_bits_for_any_threads([&] {
    Tensor l = logits.clone().require_gradient(), g = gate.clone().require_gradient(),
           w = weights.clone().require_gradient();
    const Tensor y = mix_copies(l, g, w, ids());
    cross_entropy(y, tensor({2, 3}, std::vector<int64_t>{5, 1, 4, 6, 6, 2})).backward();
    return std::vector<Tensor>{y.detach(), l.gradient(), g.gradient(), w.gradient()};
  });
}

TEST(MixCopies, ANanStaysVisible) {
  Tensor weights = full({1, 1, 1}, std::numeric_limits<double>::quiet_NaN());
  const Tensor y = mix_copies(zeros({1, 1, 3}), zeros({1, 1, 1}), weights, tensor({1, 1}, std::vector<int64_t>{2}));
  EXPECT_TRUE(std::isnan(y.values<float>()[2]));
}

TEST(MixCopies, ShapesAndIdsAreChecked) {
  const Tensor logits = zeros({2, 3, 5}), gate = zeros({2, 3, 1}), weights = zeros({2, 3, 4});
  EXPECT_NE(error_of([&] {
              mix_copies(logits, zeros({2, 3}), weights, ids());
            }).find("a gate [2, 3]"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              mix_copies(logits, gate, zeros({2, 3, 3}), ids());
            }).find("expected I64 [2, 3]"),
            std::string::npos);
  const Tensor far = tensor({2, 4}, std::vector<int64_t>{1, 3, 1, 5, 6, 2, -1, int64_t{1} << 40});
  EXPECT_NE(error_of([&] { mix_copies(logits, gate, weights, far); }).find("numbered one after another"),
            std::string::npos);
}

// A class that cannot be gets nothing of what smoothing spreads.
TEST(CrossEntropy, SmoothingPassesOverClassesOfMinusInfinity) {
  const double none = -std::numeric_limits<double>::infinity();
  const std::vector<double> plain = {0.3, -1, 2, 0.5, 1, -0.2}, wide = {0.3, -1, none, 2, 0.5, 1, none, -0.2};
  const CrossEntropyOptions options = {.smoothing = 0.3};
  for (DType type : {DType::f64, DType::f32}) {
    Tensor a = tensor({2, 3}, plain).to(type).require_gradient(), b = tensor({2, 4}, wide).to(type).require_gradient();
    const Tensor x = cross_entropy(a, tensor({2}, std::vector<int64_t>{1, 1}), options);
    const Tensor y = cross_entropy(b, tensor({2}, std::vector<int64_t>{1, 1}), options);
    EXPECT_NEAR(x.item(), y.item(), 1e-6);
    x.backward(), y.backward();
    const std::vector<double> da = a.gradient().values<double>(), db = b.gradient().values<double>();
    const size_t place[] = {0, 1, 3, 4, 5, 7};
    for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(da[i], db[place[i]], 1e-6);
    EXPECT_EQ(db[2], 0);
    EXPECT_EQ(db[6], 0);
  }
}

}  // namespace
}  // namespace fovea
