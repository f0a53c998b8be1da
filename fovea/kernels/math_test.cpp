// The vector functions against libm in float64, over all of float's range: every 4999th bit pattern and the special
// values.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fovea/kernels/every_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/math_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Function>
void map(const std::vector<float>& x, std::vector<float>& y, Function f) {
  const hn::ScalableTag<float> d;
  for (size_t i = 0; i < x.size(); i += hn::Lanes(d)) hn::StoreU(f(d, hn::LoadU(d, x.data() + i)), d, y.data() + i);
}

void evaluate(int function, const std::vector<float>& x, std::vector<float>& y) {
  switch (function) {
    case 0:
      return map(x, y, [](auto d, auto v) HWY_ATTR { return exp(d, v); });
    case 1:
      return map(x, y, [](auto d, auto v) HWY_ATTR { return log(d, v); });
    case 2:
      return map(x, y, [](auto d, auto v) HWY_ATTR { return tanh(d, v); });
    case 3:
      return map(x, y, [](auto d, auto v) HWY_ATTR { return sigmoid(d, v); });
    case 4:
      return map(x, y, [](auto d, auto v) HWY_ATTR { return gelu(d, v); });
    default:
      return map(x, y, [](auto d, auto v) HWY_ATTR { return exp_of_negative(d, v); });
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(evaluate);

struct Function {
  const char* name;
  int number;
  double (*exact)(double);
  double relative, absolute, of_argument = 0;  // an error within any of them is fine
};

const Function functions[] = {
    {"exp", 0, [](double x) { return std::exp(x); }, 1.0e-7, 1.5e-45},
    {"log", 1, [](double x) { return std::log(x); }, 1.0e-7, 0},
    {"tanh", 2, [](double x) { return std::tanh(x); }, 2.0e-7, 1e-40},
    {"sigmoid", 3, [](double x) { return 1 / (1 + std::exp(-x)); }, 1.5e-7, 1e-38},
    {"gelu", 4, [](double x) { return x < -9 ? 0.0 : x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }, 0, 1e-38, 1.6e-7},
    {"exp_of_negative", 5, [](double x) { return x > 0 ? 1.0 : std::exp(x); }, 1.0e-7, 1.3e-38},
};

class VectorMath : public testing::TestWithParam<Function> {};
INSTANTIATE_TEST_SUITE_P(, VectorMath, testing::ValuesIn(functions),
                         [](const auto& i) { return std::string(i.param.name); });

std::vector<float> all_floats() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 4999) x.push_back(std::bit_cast<float>(uint32_t(bits)));
  const float infinity = std::numeric_limits<float>::infinity();
  for (float v : {0.0f, 1.0f, 0.5f, 1e-45f, 1.1754942e-38f, 87.0f, 88.7f, 88.73f, 89.0f, 100.0f, 103.9f, 104.0f,
                  3.4e38f, infinity, std::numeric_limits<float>::quiet_NaN()}) {
    x.push_back(v), x.push_back(-v);
  }
  while (x.size() % 64) x.push_back(2.0f);
  return x;
}

TEST_P(VectorMath, EqualsLibmInFloat64OnEveryInstructionSet) {
  const Function& f = GetParam();
  const std::vector<float> x = all_floats();
  std::vector<float> y(x.size());
  for_each_simd([&] {
    HWY_DYNAMIC_DISPATCH(evaluate)(f.number, x, y);
    int failures = 0;
    for (size_t i = 0; i < x.size() && failures < 5; ++i) {
      const double exact = f.exact(double(x[i])), error = std::abs(y[i] - exact);
      const float rounded = static_cast<float>(exact);
      bool fine = error <= f.relative * std::abs(exact) || error <= f.absolute ||
                  error <= f.of_argument * std::abs(double(x[i]));
      if (std::isinf(rounded)) fine = y[i] == rounded;
      if (std::isnan(exact)) fine = std::isnan(y[i]);
      if (!fine) ++failures, ADD_FAILURE() << f.name << "(" << x[i] << ") = " << y[i] << ", not " << exact;
    }
  });
}

}  // namespace
}  // namespace fovea::kernels
#endif
