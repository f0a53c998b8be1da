#include "fovea/tensor/norm.h"

#include "fovea/kernels/every_simd.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient_check.h"

namespace fovea {
namespace {

TEST(Norm, GradientsWithAndWithoutParameters) {
  for (const Shape& shape : {Shape{3, 7}, Shape{2, 3, 5}, Shape{4}, Shape{0, 3}, Shape{40, 3}}) {
    SCOPED_TRACE(shape.text());
    const Shape width = {shape[-1]};
    const Inputs inputs = {random_input(shape, 1), random_input(width, 2), random_input(width, 3)};
    check_gradient([](const Inputs& x) { return layer_norm(x[0], x[1], x[2]); }, inputs);
    check_gradient([](const Inputs& x) { return layer_norm(x[0], {}, x[1]); }, {inputs[0], inputs[2]});
    check_gradient([](const Inputs& x) { return layer_norm(x[0], x[1], {}); }, {inputs[0], inputs[1]});
    check_gradient([](const Inputs& x) { return layer_norm(x[0], {}, {}, 0.5); }, {inputs[0]});
    check_gradient([](const Inputs& x) { return rms_norm(x[0], x[1]); }, {inputs[0], inputs[1]});
    check_gradient([](const Inputs& x) { return rms_norm(x[0], {}, 0.5); }, {inputs[0]});
  }
}

// The rows are written out here in f64, apart from the library's own f64 path.
TEST(Norm, EqualsItsFormulaOnEveryInstructionSet) {
  for_each_simd([&] {
    for (int64_t width : {1, 7, 8, 17, 33, 64, 768}) {
      const size_t n = static_cast<size_t>(width), rows = 11;
      const Tensor x = normal({static_cast<int64_t>(rows), width}, Random(1)) + 100.0;
      const Tensor w = normal({width}, Random(2)), b = normal({width}, Random(3));
      const std::vector<float> layer = layer_norm(x, w, b, 1e-5).values<float>(), rms = rms_norm(x, w).values<float>();
      const std::vector<double> v = x.values<double>(), p = w.values<double>(), q = b.values<double>();
      for (size_t row = 0; row < rows; ++row) {
        double mean = 0, variance = 0, square = 0;
        for (size_t i = 0; i < n; ++i) mean += v[row * n + i] / static_cast<double>(n);
        for (size_t i = 0; i < n; ++i) {
          variance += (v[row * n + i] - mean) * (v[row * n + i] - mean) / static_cast<double>(n);
          square += v[row * n + i] * v[row * n + i] / static_cast<double>(n);
        }
        for (size_t i = 0; i < n; ++i) {
          ASSERT_NEAR(layer[row * n + i], (v[row * n + i] - mean) / std::sqrt(variance + 1e-5) * p[i] + q[i], 2e-4)
              << width;
          ASSERT_NEAR(rms[row * n + i], v[row * n + i] / std::sqrt(square + 1e-6) * p[i], 2e-6) << width;
        }
      }
    }
  });
}

TEST(Norm, OverwritesOnlyWhatNobodyElseHolds) {
  const Tensor x = normal({11, 33}, Random(1)), w = normal({33}, Random(2)), b = normal({33}, Random(3));
  const std::vector<float> before = x.values<float>();
  const std::vector<float> layer = layer_norm(x, w, b).values<float>(), rms = rms_norm(x, w).values<float>();
  EXPECT_EQ(x.values<float>(), before);

  Tensor given = x + 0.0, other = x + 0.0;
  const float* const memory = given.data<float>();
  const Tensor y = layer_norm(std::move(given), w, b);
  EXPECT_EQ(y.data<float>(), memory);
  EXPECT_EQ(y.values<float>(), layer);
  EXPECT_EQ(rms_norm(std::move(other), w).values<float>(), rms);

  const std::vector<float> first(layer.begin(), layer.begin() + 33);
  EXPECT_EQ(layer_norm(x.slice(0, 0, 1), w, b).values<float>(), first);  // a view
  EXPECT_EQ(layer_norm((x + 0.0).transpose(0, 1).contiguous().transpose(0, 1), w, b).values<float>(), layer);
  EXPECT_EQ(x.values<float>(), before);

  Tensor learned = x + 0.0;
  learned.require_gradient();
  const Tensor doubled = learned * 2.0;
  const std::vector<float> seen = doubled.values<float>();
  Tensor held = doubled;
  layer_norm(std::move(held), w, b);
  EXPECT_EQ(doubled.values<float>(), seen);
}

TEST(Norm, GradientsOnEveryInstructionSet) {
  const Inputs inputs = {random_input({70, 33}, 1), random_input({33}, 2), random_input({33}, 3)};
  const auto layer = [](const Inputs& x) { return layer_norm(x[0], x[1], x[2]); };
  const auto rms = [](const Inputs& x) { return rms_norm(x[0], x[1]) + x[2]; };
  for (const Operation& operation : {Operation(layer), Operation(rms)}) {
    const auto exact = gradient_check::run(operation, inputs, DType::f64);
    for_each_simd([&] {
      const auto found = gradient_check::run(operation, inputs, DType::f32);
      for (size_t i = 0; i < inputs.size(); ++i)
        gradient_check::expect_near(found.gradients[i], exact.gradients[i], 1e-5, "gradient");
    });
  }
}

TEST(Norm, ANanStaysInItsRow) {
  Tensor x = normal({3, 20}, Random(1));
  x.slice(0, 1, 2).slice(1, 5, 6).fill(NAN);
  for (const Tensor& y : {layer_norm(x, {}, {}), rms_norm(x, {})}) {
    const std::vector<float> v = y.values<float>();
    for (size_t i = 0; i < 60; ++i) EXPECT_EQ(std::isnan(v[i]), i / 20 == 1);
  }
}

TEST(Norm, EqualNumbersGiveTheBias) {
  EXPECT_EQ(layer_norm(full({2, 5}, 3), ones({5}), full({5}, 7)).values<float>(), std::vector<float>(10, 7.0f));
}

TEST(Norm, ErrorsNameTheParameter) {
  EXPECT_EQ(error_of([] {
              layer_norm(zeros({2, 3}), zeros({2}), {});
            }),
            "layer_norm: found weight [2] for x [2, 3], expected [3]");
  EXPECT_EQ(error_of([] {
              layer_norm(zeros({2, 3}), {}, zeros({3, 1}));
            }),
            "layer_norm: found bias [3, 1] for x [2, 3], expected [3]");
  EXPECT_EQ(error_of([] {
              rms_norm(zeros({2, 3}), zeros({3}, DType::f64));
            }),
            "rms_norm: found F32 and F64, expected two tensors of one type");
  EXPECT_EQ(error_of([] { rms_norm(zeros({}), {}); }), "rms_norm: found a single number, expected [..., width]");
}

TEST(Norm, SameBitsForAnyThreads) {
  expect_same_bits_for_any_threads([] {
    std::vector<Tensor> all;
    for (int layer : {0, 1}) {
      Tensor x = normal({1000, 65}, Random(1)).require_gradient(), w = normal({65}, Random(2)).require_gradient();
      Tensor b = normal({65}, Random(3)).require_gradient();
      Tensor y = layer ? layer_norm(x, w, b) : rms_norm(x, w) + b;
      y.backward(normal(y.shape(), Random(4)));
      for (const Tensor& t : {y, x.gradient(), w.gradient(), b.gradient()}) all.push_back(t);
    }
    return all;
  });
}

TEST(Norm, ARowsBitsDoNotDependOnTheBatch) {
  const Tensor x = normal({50, 37}, Random(1));
  const std::vector<float> all = layer_norm(x, {}, {}).values<float>();
  const std::vector<float> one = layer_norm(x.slice(0, 31, 32), {}, {}).values<float>();
  EXPECT_EQ(std::memcmp(all.data() + 31 * 37, one.data(), one.size() * sizeof(float)), 0);
}

}  // namespace
}  // namespace fovea
