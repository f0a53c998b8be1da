#include "fovea/tensor/matmul.h"

#include <limits>

#include "fovea/tensor/activation.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient_check.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

Tensor product_of(const Inputs& x) { return matmul(x[0], x[1]); }

TEST(Matmul, GradientsOfMatricesVectorsAndBatches) {
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{3, 4}, {4, 5}},    {{1, 1}, {1, 1}},       {{4}, {4, 3}},          {{3, 4}, {4}},
      {{4}, {4}},          {{2, 3, 4}, {4, 5}},    {{2, 3, 4}, {2, 4, 5}}, {{2, 1, 3, 4}, {2, 4, 2}},
      {{3, 4}, {2, 4, 5}}, {{1, 3, 4}, {2, 4, 5}}, {{2, 3, 4}, {1, 4, 5}}, {{4}, {2, 4, 3}},
      {{2, 3, 4}, {4}},    {{0, 4}, {4, 5}},       {{2, 0, 4}, {2, 4, 3}}, {{7, 17}, {17, 33}}};
  for (const auto& [p, q] : shapes) {
    SCOPED_TRACE(p.text() + " times " + q.text());
    check_gradient(product_of, {random_input(p, 1), random_input(q, 2)});
  }
}

TEST(Matmul, ShapesOfTheResult) {
  EXPECT_EQ(matmul(zeros({4}), zeros({4})).shape(), Shape{});
  EXPECT_EQ(matmul(zeros({4}), zeros({2, 4, 3})).shape(), (Shape{2, 3}));
  EXPECT_EQ(matmul(zeros({5, 1, 3, 4}), zeros({2, 4, 6})).shape(), (Shape{5, 2, 3, 6}));
}

TEST(Matmul, NoDepthGivesZeros) {
  EXPECT_EQ(matmul(zeros({2, 0}), zeros({0, 3})).values<float>(), std::vector<float>(6, 0.0f));
  EXPECT_EQ(matmul(zeros({2, 2, 0}), zeros({2, 0, 1})).values<float>(), std::vector<float>(4, 0.0f));
  const Tensor y = linear(zeros({2, 0}), zeros({3, 0}), ones({3}));
  EXPECT_EQ(y.values<float>(), std::vector<float>(6, 1.0f));
}

TEST(Matmul, ReadsHeadsThroughTheirStrides) {
  const Tensor q = normal({2, 5, 3, 4}, Random(1), 0, 1, DType::f64),
               k = normal({2, 7, 3, 4}, Random(2), 0, 1, DType::f64);
  auto scores = [](const Tensor& q, const Tensor& k) {
    return matmul(q.permute({0, 2, 1, 3}), k.permute({0, 2, 3, 1}));
  };
  const std::vector<double> y = scores(q.to(DType::f32), k.to(DType::f32)).values<double>();
  const std::vector<double> a = q.values<double>(), b = k.values<double>();
  for (size_t batch = 0; batch < 2; ++batch)
    for (size_t head = 0; head < 3; ++head)
      for (size_t i = 0; i < 5; ++i)
        for (size_t j = 0; j < 7; ++j) {
          double sum = 0;
          for (size_t w = 0; w < 4; ++w)
            sum += a[((batch * 5 + i) * 3 + head) * 4 + w] * b[((batch * 7 + j) * 3 + head) * 4 + w];
          EXPECT_NEAR(y[((batch * 3 + head) * 5 + i) * 7 + j], sum, 1e-5);
        }
}

TEST(Matmul, ErrorsNameBothShapes) {
  EXPECT_EQ(error_of([] {
              matmul(zeros({2, 3}), zeros({4, 5}));
            }),
            "matmul: found [2, 3] and [4, 5], expected [..., rows, depth] and [..., depth, columns]");
  EXPECT_EQ(error_of([] {
              matmul(zeros({2, 3, 4}), zeros({3, 4, 5}));
            }),
            "matmul: found [2, 3, 4] and [3, 4, 5], expected [..., rows, depth] and [..., depth, columns]");
  EXPECT_EQ(error_of([] { matmul(zeros({}), zeros({3})); }),
            "matmul: found [] and [3], expected [..., rows, depth] and [..., depth, columns]");
  EXPECT_EQ(error_of([] {
              matmul(zeros({2, 3}), zeros({3, 2}, DType::f64));
            }),
            "matmul: found F32 and F64, expected two tensors of one type");
  EXPECT_EQ(error_of([] { matmul(arange(3), arange(3)); }), "matmul: found numbers of type I64, expected F32 or F64");
  EXPECT_EQ(error_of([] {
              linear(zeros({2, 3}), zeros({5, 4}));
            }),
            "linear: found x [2, 3] and weight [5, 4], expected [..., inputs] and [outputs, inputs]");
  EXPECT_EQ(error_of([] { linear(zeros({2, 3}), zeros({5, 3}), zeros({3})); }), "linear: found bias [3], expected [5]");
}

TEST(Linear, GradientsWithEveryActivation) {
  for (Activation a : {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu,
                       Activation::tanh, Activation::sigmoid}) {
    SCOPED_TRACE(static_cast<int>(a));
    check_gradient([a](const Inputs& x) { return linear(x[0], x[1], x[2], a); },
                   {random_input({2, 3, 5}, 1), random_input({4, 5}, 2), random_input({4}, 3)});
    check_gradient([a](const Inputs& x) { return linear(x[0], x[1], {}, a); },
                   {random_input({5}, 1), random_input({3, 5}, 2)});
  }
}

TEST(Linear, EqualsItsFormula) {
  const Tensor x = normal({7, 33}, Random(1)), w = normal({17, 33}, Random(2)), b = normal({17}, Random(3));
  const std::vector<double> y = linear(x, w, b, Activation::silu).values<double>();
  const std::vector<double> p = x.values<double>(), q = w.values<double>(), r = b.values<double>();
  for (size_t i = 0; i < 7; ++i) {
    for (size_t j = 0; j < 17; ++j) {
      double sum = r[j];
      for (size_t k = 0; k < 33; ++k) sum += p[i * 33 + k] * q[j * 33 + k];
      EXPECT_NEAR(y[i * 17 + j], sum / (1 + std::exp(-sum)), 1e-5);
    }
  }
}

TEST(Linears, GradientsEqualDifferences) {
  auto run = [](const Inputs& x) {
    std::vector<Tensor> y = linears(x[0], {{x[1], x[2]}, {x[3], {}}, {x[4], x[5]}});
    return concat({y[0], y[1] * 2.0, y[2]}, -1);
  };
  check_gradient(run, {random_input({2, 5, 7}), random_input({3, 7}), random_input({3}), random_input({17, 7}),
                       random_input({33, 7}), random_input({33})});
}

TEST(Linears, SameResultsAsOneByOneAndOnlyTheNeededGradients) {
  Tensor x = normal({9, 20}, Random(1)), b = normal({33}, Random(4)).require_gradient();
  Tensor v = normal({33, 20}, Random(2)).require_gradient(), w = normal({7, 20}, Random(3)).require_gradient();
  const std::vector<Tensor> y = linears(x, {{v, b}, {w, {}}});
  EXPECT_EQ(y[0].values<float>(), linear(x, v, b).values<float>());
  EXPECT_EQ(y[1].values<float>(), linear(x, w).values<float>());
  sum(y[0]).backward();
  EXPECT_TRUE(v.gradient() && b.gradient());
  EXPECT_FALSE(x.gradient() || w.gradient());
  EXPECT_EQ(linears(zeros({0, 20}), {{v, b}})[0].shape(), (Shape{0, 33}));
}

TEST(Linear, OnlyTheNeededGradientsAreMade) {
  Tensor x = normal({3, 4}, Random(1)), w = normal({2, 4}, Random(2)).require_gradient();
  sum(linear(x, w)).backward();
  EXPECT_TRUE(w.gradient());
  EXPECT_FALSE(x.gradient());
}

TEST(Linear, ANanStaysInItsRow) {
  Tensor x = ones({3, 4});
  x.slice(0, 1, 2).slice(1, 2, 3).fill(std::numeric_limits<double>::quiet_NaN());
  const std::vector<float> y = linear(x, ones({2, 4})).values<float>();
  EXPECT_EQ(y[0], 4);
  EXPECT_TRUE(std::isnan(y[2]) && std::isnan(y[3]));
  EXPECT_EQ(y[5], 4);
}

TEST(Linear, SameBitsForAnyThreads) {
  expect_same_bits_for_any_threads([] {
    Tensor x = normal({3, 50, 65}, Random(1)).require_gradient(), w = normal({130, 65}, Random(2)).require_gradient();
    Tensor b = normal({130}, Random(3)).require_gradient();
    Tensor y = linear(x, w, b, Activation::gelu);
    Tensor z = matmul(y, y.transpose(-1, -2));
    z.backward(normal(z.shape(), Random(4)));
    return std::vector<Tensor>{y, z, x.gradient(), w.gradient(), b.gradient()};
  });
}

}  // namespace
}  // namespace fovea
