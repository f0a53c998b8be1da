#include "fovea/train/averaging.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

TEST(Average, EqualsItsFormula) {
  struct One {
    Tensor w = zeros({1});
    void weights(Weights& visit) { visit("w", w, {Init::zeros}); }
  } one;
  Average average(0.75, list_weights(one));
  double expected = 0;
  for (int t = 1; t <= 40; ++t) {
    one.w.fill(t * t);
    average.update();
    expected += std::max(0.25, 9.0 / (9 + t)) * (t * t - expected);
    const Averaged inside(&average);
    EXPECT_NEAR(one.w.item(), expected, 1e-5 * expected);
  }
  EXPECT_EQ(one.w.item(), 1600);
}

}  // namespace
}  // namespace fovea
