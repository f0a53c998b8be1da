#include "fovea/nn/norm.h"

#include "fovea/nn/golden.h"

namespace fovea {
namespace {

TEST(Norm, LayerNormEqualsPyTorch) {
  check_golden(
      "layer_norm", [] { return LayerNorm({.width = 9}); }, [](const LayerNorm& m, In x) { return m(x.at("x")); });
}

TEST(Norm, RmsNormEqualsPyTorch) {
  check_golden(
      "rms_norm", [] { return RmsNorm({.width = 9}); }, [](const RmsNorm& m, In x) { return m(x.at("x")); });
}

TEST(Norm, BeginsAsThePlainNormalisation) {
  LayerNorm norm({.width = 2, .epsilon = 0});
  initialise(norm, Random(1));
  EXPECT_EQ(norm(tensor({1, 2}, std::vector<float>{1, 5})).values<float>(), (std::vector<float>{-1, 1}));
  LayerNorm unshifted({.width = 2, .bias = false});
  EXPECT_EQ(count(norm), 4);
  EXPECT_EQ(count(unshifted), 2);
  EXPECT_THROW(LayerNorm({.width = 0}), Error);
  EXPECT_THROW(RmsNorm({.width = 4, .epsilon = -1}), Error);
}

}  // namespace
}  // namespace fovea
