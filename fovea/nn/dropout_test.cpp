#include "fovea/nn/dropout.h"

#include "fovea/nn/golden.h"

namespace fovea {
namespace {

TEST(DropoutModule, DoesNothingOutsideTraining) {
  const Tensor x = ones({100});
  EXPECT_TRUE(Dropout(0.9)(x, {}).shares_storage_with(x));
  EXPECT_TRUE(Dropout(0)(x, {.training = true}).shares_storage_with(x));
}

TEST(DropoutModule, DropsItsShareAndScalesTheRest) {
  const std::vector<double> y = Dropout(0.25)(ones({40000}), {.training = true, .random = Random(5)}).values<double>();
  double dropped = 0;
  for (double v : y) {
    if (v == 0)
      ++dropped;
    else
      EXPECT_FLOAT_EQ(static_cast<float>(v), 4.0f / 3);
  }
  EXPECT_NEAR(dropped / 40000, 0.25, 0.01);
}

TEST(DropoutModule, PlacesHaveNumbersOfTheirOwn) {
  const Context c = {.training = true};
  const Dropout drop(0.5);
  const Tensor x = ones({64});
  EXPECT_EQ(drop(x, c.at("a")).values<float>(), drop(x, c.at("a")).values<float>());
  EXPECT_NE(drop(x, c.at("a")).values<float>(), drop(x, c.at("b")).values<float>());
  EXPECT_THROW(Dropout(1), Error);
  EXPECT_THROW(Dropout(-0.1), Error);
}

}  // namespace
}  // namespace fovea
