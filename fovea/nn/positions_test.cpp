#include "fovea/nn/positions.h"

#include <cstring>

#include "fovea/nn/golden.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

// A module without weights, so that check_golden can take it.
struct Rotation {
  RotaryPositions rotate;
  void weights(Weights&) {}
};

TEST(Positions, SinusoidsEqualTheirFormulaInPyTorch) {
  gradient_check::expect_near(SinusoidalPositions({.width = 8}).table(positions_from(0, 12)),
                              golden_file()["sinusoidal.output"], 1e-7, "interleaved");
  gradient_check::expect_near(SinusoidalPositions({.width = 8, .halves = true}).table(positions_from(0, 12)),
                              golden_file()["sinusoidal_halves.output"], 1e-7, "halves");
}

TEST(Positions, SinusoidsContinueFromAnOffset) {
  const SinusoidalPositions add({.width = 8});
  const Tensor x = zeros({2, 3, 8});
  const std::vector<float> y = add(x, 9).values<float>();
  const std::vector<float> rows = golden_file()["sinusoidal.output"].slice(0, 9, 12).values<float>();
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], rows[i % rows.size()], 1e-6);
}

TEST(Positions, LearnedOnesLearnFromTheirOwnTokens) {
  LearnedPositions add({.positions = 5, .width = 2});
  load(add, {{"weight", golden_numbers({5, 2}, 3)}});
  require_gradients(add);
  Tensor y = add(zeros({2, 3, 2}), 1);
  const std::vector<float> table = golden_numbers({5, 2}, 3).values<float>(), found = y.values<float>();
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], table[2 + i % 6]);
  y.backward(ones(y.shape()));
  for_each_tensor(add, [](const std::string&, Tensor& w, const Init&) {
    EXPECT_EQ(w.gradient().values<float>(), (std::vector<float>{0, 0, 2, 2, 2, 2, 2, 2, 0, 0}));
  });
  EXPECT_NE(error_of([&] { add(zeros({1, 3, 2}), 3); }).find("position 5"), std::string::npos);
}

TEST(Positions, RotationEqualsLlamasAndGptJs) {
  for (bool interleaved : {false, true}) {
    check_golden(
        interleaved ? "rotary_interleaved" : "rotary_halves",
        [&] { return Rotation{RotaryPositions({.width = 8, .interleaved = interleaved})}; },
        [](const Rotation& m, In x) { return m.rotate(x.at("x"), 70); });
  }
}

TEST(Positions, RotationGradientEqualsDifferences) {
  const RotaryPositions rotate({.width = 4, .base = 100});
  check_gradient([&](const Inputs& x) { return rotate(x[0], 5); }, {random_input({2, 3, 1, 5})});
}

// The bits of a token do not depend on where the call began: a cache's offset gives those of the full pass.
TEST(Positions, RotationHasTheSameBitsFromAnyOffset) {
  const RotaryPositions rotate({.width = 6});
  const Tensor x = random_input({1, 150, 2, 6}).to(DType::f32);
  const Tensor whole = rotate(x);
  for (int64_t t : {0, 1, 63, 64, 65, 127, 128, 149}) {
    const std::vector<float> a = rotate(x.slice(1, t, t + 1), t).values<float>();
    const std::vector<float> b = whole.slice(1, t, t + 1).values<float>();
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0) << t;
  }
}

TEST(Positions, RotationKeepsDistances) {
  // q·k depends on the distance alone, also far from the beginning.
  const RotaryPositions rotate({.width = 16});
  const Tensor q = random_input({1, 1, 1, 16}, 1), k = random_input({1, 1, 1, 16}, 2);
  auto product = [&](int64_t i, int64_t j) {
    const std::vector<double> a = rotate(q, i).values<double>(), b = rotate(k, j).values<double>();
    double sum = 0;
    for (size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
    return sum;
  };
  EXPECT_NEAR(product(7, 3), product(100007, 100003), 1e-9);
  EXPECT_GT(std::abs(product(7, 3) - product(7, 4)), 1e-3);
}

TEST(Positions, SayWhatDoesNotFit) {
  EXPECT_THROW(SinusoidalPositions({.width = 7}), Error);
  EXPECT_THROW(RotaryPositions({.width = 3}), Error);
  EXPECT_THROW(RotaryPositions({.width = 8})(zeros({1, 2, 3, 6})), Error);
  EXPECT_THROW(SinusoidalPositions({.width = 8})(zeros({2, 8}), -1), Error);
  EXPECT_EQ(RotaryPositions({.width = 8})(zeros({1, 0, 3, 8})).shape(), (Shape{1, 0, 3, 8}));
}

}  // namespace
}  // namespace fovea
