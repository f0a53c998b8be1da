// For tests: holds an operation's gradient to central finite differences in f64, and its f32 path to its f64 one.
//
//   check_gradient([](const Inputs& x) { return x[0] * x[1]; }, {random_input({2, 3}), random_input({3})});
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/base/threads.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

using Inputs = std::vector<Tensor>;
using Operation = std::function<Tensor(const Inputs&)>;

// Normally distributed numbers in f64; those of one seed are always the same.
inline Tensor random_input(const Shape& shape, uint64_t seed = 1) {
  return normal(shape, Random(seed).fork(shape.text()), 0, 1, DType::f64);
}

struct GradientCheck {
  double f32_tolerance = 1e-4, step = 1e-5;
};

namespace gradient_check {

// The result and the gradient of Σ result · weights for each input.
struct Outcome {
  Tensor result;
  std::vector<Tensor> gradients;
};

inline Tensor weights_for(const Tensor& y) { return random_input(y.shape(), 99).to(y.dtype()); }

inline Outcome run(const Operation& operation, const Inputs& given, DType type) {
  Inputs inputs;
  for (const Tensor& x : given) inputs.push_back(x.to(type).require_gradient());
  Tensor y = operation(inputs);
  y.backward(weights_for(y));
  Outcome outcome = {y.detach(), {}};
  for (const Tensor& x : inputs) {
    outcome.gradients.push_back(x.gradient() ? x.gradient() : zeros(x.shape(), x.dtype()));
    EXPECT_TRUE(outcome.gradients.back().is_contiguous());
  }
  return outcome;
}

inline double weighted(const Operation& operation, const Inputs& inputs) {
  const Tensor y = operation(inputs);
  const std::vector<double> values = y.values<double>(), weights = weights_for(y).values<double>();
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += values[i] * weights[i];
  return sum;
}

inline void expect_near(const Tensor& found, const Tensor& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(found.shape(), expected.shape()) << what;
  const std::vector<double> a = found.values<double>(), b = expected.values<double>();
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << what << " at " << i;
}

// Of gradients: relative to the size of the whole tensor's, so that small ones are held as well; what is 0 but for rounding
// may be as much as `rounding`.
inline void expect_near_in_size(const Tensor& found, const Tensor& expected, double tolerance, double rounding,
                                const std::string& what) {
  ASSERT_EQ(found.shape(), expected.shape()) << what;
  const std::vector<double> a = found.values<double>(), b = expected.values<double>();
  double size = 0;
  for (double x : b) size = std::max(size, std::abs(x));
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance * size + rounding) << what << " at " << i;
}

// The same numbers with the last two axes swapped in memory.
inline Tensor scattered(const Tensor& x) { return x.rank() < 2 ? x : x.transpose(-1, -2).clone().transpose(-1, -2); }

inline void check_differences(const Operation& operation, const Inputs& inputs, const Outcome& exact, double step) {
  for (size_t n = 0; n < inputs.size(); ++n) {
    const std::vector<double> gradient = exact.gradients[n].values<double>();
    const std::vector<double> original = inputs[n].values<double>();
    for (size_t i = 0; i < original.size(); ++i) {
      auto shifted = [&](double by) {
        std::vector<double> values = original;
        values[i] += by;
        Inputs changed = inputs;
        changed[n] = tensor(inputs[n].shape(), values);
        return weighted(operation, changed);
      };
      const double numeric = (shifted(step) - shifted(-step)) / (2 * step);
      EXPECT_NEAR(gradient[i], numeric, 1e-6 * (1 + std::abs(numeric))) << "input " << n << ", element " << i;
    }
  }
}

}  // namespace gradient_check

inline void check_gradient(const Operation& operation, const Inputs& inputs, const GradientCheck& options = {}) {
  using namespace gradient_check;
  const Outcome exact = run(operation, inputs, DType::f64);
  check_differences(operation, inputs, exact, options.step);

  const Outcome single = run(operation, inputs, DType::f32);
  EXPECT_EQ(single.result.dtype(), DType::f32);
  expect_near(single.result, exact.result, options.f32_tolerance, "f32 result");

  Inputs strided;
  for (const Tensor& x : inputs) strided.push_back(scattered(x));
  const Outcome from_views = run(operation, strided, DType::f64);
  Inputs strided32;
  for (const Tensor& x : inputs) strided32.push_back(scattered(x.to(DType::f32)));
  const Outcome from_views32 = run(operation, strided32, DType::f32);
  expect_near(from_views.result, exact.result, 1e-12, "result of strided inputs");
  expect_near(from_views32.result, exact.result, options.f32_tolerance, "f32 result of strided inputs");
  for (size_t n = 0; n < inputs.size(); ++n) {
    const std::string input = " for input " + std::to_string(n);
    auto expect_gradient = [&](const Tensor& found, double tolerance, double rounding, const char* what) {
      expect_near_in_size(found, exact.gradients[n], tolerance, rounding, what + input);
    };
    expect_gradient(single.gradients[n], options.f32_tolerance, 5e-6, "f32 gradient");
    expect_gradient(from_views.gradients[n], 1e-12, 1e-14, "gradient of strided inputs");
    expect_gradient(from_views32.gradients[n], options.f32_tolerance, 5e-6, "f32 gradient of strided inputs");
  }
}

// Runs `make` with one and with two threads; every tensor it gives must have the same bits.
inline void expect_same_bits_for_any_threads(const std::function<std::vector<Tensor>()>& make) {
  const int before = threads();
  set_threads(1);
  const std::vector<Tensor> one = make();
  for (int count : {2, 3}) {
    set_threads(count);
    const std::vector<Tensor> more = make();
    ASSERT_EQ(one.size(), more.size());
    for (size_t i = 0; i < one.size(); ++i) {
      const std::vector<float> a = one[i].values<float>(), b = more[i].values<float>();
      ASSERT_EQ(a.size(), b.size());
      EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0)
          << "tensor " << i << ", " << count << " threads";
    }
  }
  set_threads(before);
}

// The text of the Error that `call` throws.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

}  // namespace fovea
