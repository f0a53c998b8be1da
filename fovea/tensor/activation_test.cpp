#include "fovea/tensor/activation.h"

#include "fovea/tensor/gradient_check.h"

namespace fovea {
namespace {

constexpr Activation all[] = {Activation::none, Activation::relu, Activation::gelu,   Activation::gelu_tanh,
                              Activation::silu, Activation::tanh, Activation::sigmoid};

TEST(Activation, Gradients) {
  for (Activation a : all) {
    SCOPED_TRACE(static_cast<int>(a));
    check_gradient([a](const Inputs& x) { return activate(a, x[0]); }, {random_input({3, 17})});
    check_gradient([a](const Inputs& x) { return activate(a, x[0]); }, {random_input({0})});
  }
}

TEST(Activation, KnownValues) {
  const Tensor x = tensor({3}, std::vector<double>{-1, 0, 2});
  const auto expect = [](const Tensor& y, const std::vector<double>& expected) {
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(y.values<double>()[i], expected[i], 1e-12);
  };
  expect(relu(x), {0, 0, 2});
  expect(gelu(x), {-0.15865525393145705, 0, 1.9544997361036416});
  expect(gelu_tanh(x), {-0.15880800939172324, 0, 1.954597694087775});
  expect(silu(x), {-0.2689414213699951, 0, 1.7615941559557649});
  expect(tanh(x), {-0.7615941559557649, 0, 0.9640275800758169});
  expect(sigmoid(x), {0.2689414213699951, 0.5, 0.8807970779778823});
}

TEST(Activation, ANanStaysVisible) {
  for (Activation a : all) {
    for (DType type : {DType::f32, DType::f64}) {
      EXPECT_TRUE(std::isnan(activate(a, full({5}, NAN, type)).values<float>()[3])) << static_cast<int>(a);
    }
  }
}

TEST(Activation, SameBitsForAnyThreads) {
  expect_same_bits_for_any_threads([] {
    std::vector<Tensor> results;
    for (Activation a : all) {
      Tensor x = normal({123, 321}, Random(1)).require_gradient();
      Tensor y = activate(a, x);
      y.backward(normal(y.shape(), Random(2)));
      results.push_back(y);
      results.push_back(x.gradient());
    }
    return results;
  });
}

}  // namespace
}  // namespace fovea
