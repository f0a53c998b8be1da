#include "fovea/nn/linear.h"

#include "fovea/nn/golden.h"

namespace fovea {
namespace {

TEST(Linear, EqualsPyTorch) {
  auto make = [] { return Linear({.inputs = 7, .outputs = 5}); };
  check_golden("linear_none", make, [](const Linear& m, In x) { return m(x.at("x")); });
}

TEST(Linear, FusedActivationEqualsPyTorch) {
  auto make = [] { return Linear({.inputs = 7, .outputs = 5}); };
  check_golden("linear_gelu", make, [](const Linear& m, In x) { return m(x.at("x"), Activation::gelu); });
}

TEST(Linear, WithoutBiasListsOneWeight) {
  Linear plain({.inputs = 3, .outputs = 4, .bias = false}), biased({.inputs = 3, .outputs = 4});
  EXPECT_EQ(count(plain), 12);
  EXPECT_EQ(count(biased), 16);
  initialise(plain, Random(1));
  EXPECT_EQ(save(plain).size(), 1u);
  const Tensor one = tensor({1, 3}, std::vector<float>{0, 1, 0});
  EXPECT_EQ(plain(one).values<float>(), plain.weight()->select(1, 1).values<float>());
}

TEST(Linear, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { Linear({.inputs = 0, .outputs = 4}); }),
            "Linear: found 0 inputs and 4 outputs, expected at least 1 of each");
  Linear linear({.inputs = 3, .outputs = 4});
  EXPECT_NE(error_of([&] { linear(zeros({2, 3})); }).find("initialise or load"), std::string::npos);
  initialise(linear, Random(1));
  EXPECT_NE(error_of([&] { linear(zeros({2, 5})); }).find("[2, 5]"), std::string::npos);
}

}  // namespace
}  // namespace fovea
