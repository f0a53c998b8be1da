#include "fovea/tensor/dropout.h"

#include <limits>

#include "fovea/kernels/every_simd.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient_check.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

TEST(Dropout, GradientsAreThoseOfTheSameDraw) {
  check_gradient([](const Inputs& x) { return dropout(x[0], 0.4f, Random(5)); }, {random_input({3, 7})});
  check_gradient([](const Inputs& x) { return dropout(x[0], 1, Random(5)); }, {random_input({3})});
  check_gradient([](const Inputs& x) { return dropout(x[0], 0, Random(5)); }, {random_input({3})});
}

TEST(Dropout, EachElementDependsOnItsOwnNumberOnEveryInstructionSet) {
  const Random random(11);
  for_each_simd([&] {
    for (int64_t count : {0, 1, 3, 4, 5, 17, 63, 64, 65, 103, 1000}) {
      const std::vector<float> y = dropout(ones({count}), 0.25f, random).values<float>();
      for (size_t i = 0; i < y.size(); ++i) EXPECT_FLOAT_EQ(y[i], random.uniform(i) < 0.25f ? 0 : 4.0f / 3);
    }
  });
}

TEST(Dropout, KeepsTheMean) { EXPECT_NEAR(mean(dropout(ones({200000}), 0.3f, Random(1))).item(), 1, 0.01); }

TEST(Dropout, ADroppedNanIsGone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> y = dropout(full({1000}, nan), 0.5f, Random(1)).values<float>();
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(std::isnan(y[i]), Random(1).uniform(i) >= 0.5f);
}

TEST(Dropout, ErrorsNameTheProbability) {
  EXPECT_EQ(error_of([] { dropout(zeros({2}), 1.5f, Random(1)); }),
            "dropout: found a probability of 1.5, expected 0 to 1");
}

TEST(Dropout, SameBitsForAnyThreads) {
  expect_same_bits_for_any_threads([] {
    Tensor x = normal({100, 333}, Random(1)).require_gradient();
    Tensor y = dropout(x, 0.1f, Random(2));
    y.backward(normal(y.shape(), Random(3)));
    return std::vector<Tensor>{y, x.gradient()};
  });
}

}  // namespace
}  // namespace fovea
