#include "fovea/tensor/convolution.h"

#include <cstring>

#include "fovea/tensor/gradient_check.h"

namespace fovea {
namespace {

// The formula as loops in double precision, for batches and kernels that are not square.
std::vector<double> by_loops(const Tensor& x, const Tensor& w, const Tensor& b, const ConvolutionOptions& o,
                             Shape out) {
  const std::vector<double> in = x.values<double>(), weight = w.values<double>(), bias = b.values<double>();
  const int64_t each_in = x.size(1) / o.groups, each_out = w.size(0) / o.groups;
  std::vector<double> y;
  for (int64_t n = 0; n < out[0]; ++n)
    for (int64_t f = 0; f < out[1]; ++f)
      for (int64_t p = 0; p < out[2]; ++p)
        for (int64_t q = 0; q < out[3]; ++q) {
          double sum = bias[static_cast<size_t>(f)];
          for (int64_t c = 0; c < each_in; ++c)
            for (int64_t i = 0; i < w.size(2); ++i)
              for (int64_t j = 0; j < w.size(3); ++j) {
                const int64_t row = p * o.stride[0] + i * o.dilation[0] - o.padding[0];
                const int64_t column = q * o.stride[1] + j * o.dilation[1] - o.padding[1];
                if (row < 0 || row >= x.size(2) || column < 0 || column >= x.size(3)) continue;
                const int64_t channel = f / each_out * each_in + c;
                sum += weight[static_cast<size_t>(((f * each_in + c) * w.size(2) + i) * w.size(3) + j)] *
                       in[static_cast<size_t>(((n * x.size(1) + channel) * x.size(2) + row) * x.size(3) + column)];
              }
          y.push_back(sum);
        }
  return y;
}

TEST(ConvolutionOperation, EqualsItsFormulaForUnequalSides) {
  const ConvolutionOptions o = {.stride = {2, 1}, .padding = {3, 1}, .dilation = {1, 2}, .groups = 3};
  const Tensor x = random_input({2, 6, 9, 17}), w = random_input({9, 2, 3, 2}), b = random_input({9});
  const Tensor y = convolution(x.to(DType::f32), w.to(DType::f32), b.to(DType::f32), o);
  ASSERT_EQ(y.shape(), (Shape{2, 9, 7, 17}));
  gradient_check::expect_near(y, tensor(y.shape(), by_loops(x, w, b, o, y.shape())), 1e-5, "output");
}

TEST(ConvolutionOperation, GradientsEqualDifferences) {
  const ConvolutionOptions o = {.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2};
  check_gradient([&](const Inputs& x) { return convolution(x[0], x[1], x[2], o); },
                 {random_input({2, 2, 5, 4}), random_input({4, 1, 2, 3}), random_input({4})});
}

TEST(ConvolutionOperation, SameBitsForAnyBatchAndThreadCount) {
  const ConvolutionOptions o = {.padding = {1, 1}};
  const Tensor x = random_input({5, 3, 40, 33}).to(DType::f32), w = random_input({7, 3, 3, 3}).to(DType::f32);
  expect_same_bits_for_any_threads([&] {
    Tensor input = x.clone().require_gradient(), weight = w.clone().require_gradient();
    Tensor y = convolution(input, weight, {}, o);
    y.backward(random_input(y.shape(), 3).to(DType::f32));
    return std::vector<Tensor>{y.detach(), input.gradient(), weight.gradient()};
  });
  const std::vector<float> all = convolution(x, w, {}, o).slice(0, 3, 4).values<float>();
  const std::vector<float> one = convolution(x.slice(0, 3, 4), w, {}, o).values<float>();
  EXPECT_EQ(std::memcmp(all.data(), one.data(), all.size() * sizeof(float)), 0);
}

TEST(ConvolutionOperation, TakesAnEmptyBatch) {
  EXPECT_EQ(convolution(zeros({0, 2, 4, 4}), zeros({3, 2, 2, 2}), {}).shape(), (Shape{0, 3, 3, 3}));
}

}  // namespace
}  // namespace fovea
