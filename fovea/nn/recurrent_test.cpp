#include "fovea/nn/recurrent.h"

#include <cstring>
#include <limits>

#include "fovea/nn/golden.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

Tensor lengths(const std::vector<int64_t>& values) { return tensor({static_cast<int64_t>(values.size())}, values); }

// Outputs and last states side by side, as the golden script puts them.
Tensor everything(const RecurrentOutput& found) {
  std::vector<Tensor> parts = {found.outputs.reshape({-1}), found.last.hidden.reshape({-1})};
  if (found.last.cell) parts.push_back(found.last.cell.reshape({-1}));
  return concat(parts, 0);
}

template <class Layers>
void check_against_pytorch(const std::string& kind) {
  for (const bool stacked : {false, true}) {
    for (const bool padded : {false, true}) {
      typename Layers::Config config = {.inputs = 4, .width = 3};
      if (stacked) config.layers = 2, config.bidirectional = true;
      check_golden(
          kind + (stacked ? "_stacked" : "_single") + (padded ? "_padded" : ""), [&] { return Layers(config); },
          [&](const Layers& m, In in) {
            const Tensor cell = in.count("cell") ? in.at("cell") : Tensor();
            return everything(m(in.at("x"), {},
                                {.first = {in.at("hidden"), cell}, .lengths = padded ? lengths({5, 2, 1}) : Tensor()}));
          });
    }
  }
}

TEST(Recurrent, LstmEqualsPyTorch) { check_against_pytorch<Lstm>("lstm"); }
TEST(Recurrent, GruEqualsPyTorch) { check_against_pytorch<Gru>("gru"); }

// What its products multiply; bf16 rounds each operand by 1/256 at most.
constexpr GradientCheck tolerance_of(Precision p) { return {.f32_tolerance = p == Precision::f32 ? 1e-4 : 0.03}; }

// The kernel on every shape of call against the formula in f64, whose own gradient is held to differences.
void check_gradients(Precision precision) {
  for (const RecurrentCell cell : {RecurrentCell::lstm, RecurrentCell::gru}) {
    const int64_t columns = (cell == RecurrentCell::lstm ? 4 : 3) * 3;
    for (const bool reverse : {false, true}) {
      auto run = [&](const Inputs& x) {
        RecurrentWalk walk = {.first_hidden = x[5], .lengths = lengths({4, 0, 2}), .reverse = reverse};
        if (cell == RecurrentCell::lstm) walk.first_cell = x[6];
        const RecurrentResult r = recurrent(cell, x[0], {x[1], x[2], x[3], x[4], precision}, walk);
        std::vector<Tensor> parts = {r.outputs.reshape({-1}), r.last_hidden.reshape({-1})};
        if (r.last_cell) parts.push_back(r.last_cell.reshape({-1}));
        return concat(parts, 0);
      };
      Inputs inputs = {random_input({3, 4, 2}),    random_input({columns, 2}), random_input({columns, 3}),
                       random_input({columns}, 7), random_input({columns}, 8), random_input({3, 3}, 9)};
      if (cell == RecurrentCell::lstm) inputs.push_back(random_input({3, 3}, 10));
      check_gradient(run, inputs, tolerance_of(precision));
    }
  }
}

TEST(Recurrent, GradientsEqualDifferences) { check_gradients(Precision::f32); }

TEST(Recurrent, GradientsInBf16AreNearDifferences) {
  for_each_simd([] { check_gradients(Precision::bf16); }, emulated_simds());
}

// Step by step with packed weights in f32, against the whole sequence by the formula in f64. The last step is a call of
// two, and one call leads nowhere.
void check_packed_steps(Precision precision) {
  for (const RecurrentCell cell : {RecurrentCell::lstm, RecurrentCell::gru}) {
    const int64_t columns = (cell == RecurrentCell::lstm ? 4 : 3) * 5;
    auto run = [&](const Inputs& x) {
      const CellWeights w = {x[1], x[2], x[3], x[4], precision};
      if (x[0].dtype() == DType::f64) return recurrent(cell, x[0], w, {.first_hidden = x[5]}).outputs;
      const PackedCell packed(cell, w);
      RecurrentWalk walk = {.first_hidden = x[5], .packed = &packed};
      std::vector<Tensor> outputs;
      for (const Tensor& step : split(x[0], 1, {1, 1, 1, 2})) {
        recurrent(cell, step, w, walk);
        const RecurrentResult r = recurrent(cell, step, w, walk);
        walk.first_hidden = r.last_hidden, walk.first_cell = r.last_cell;
        outputs.push_back(r.outputs);
      }
      return concat(outputs, 1);
    };
    check_gradient(run,
                   {random_input({3, 5, 2}), random_input({columns, 2}), random_input({columns, 5}),
                    random_input({columns}, 7), random_input({columns}, 8), random_input({3, 5}, 9)},
                   tolerance_of(precision));
  }
}

TEST(Recurrent, PackedStepsHaveTheGradientsOfTheWhole) { check_packed_steps(Precision::f32); }

TEST(Recurrent, PackedStepsInBf16HaveNearlyTheGradientsOfTheWhole) {
  for_each_simd([] { check_packed_steps(Precision::bf16); }, emulated_simds());
}

TEST(Recurrent, APackedCellServesOneBackwardPass) {
  CellWeights w = {normal({12, 2}, Random(1)), normal({12, 3}, Random(2))};
  w.input.require_gradient(), w.hidden.require_gradient();
  const Tensor x = normal({5, 2, 2}, Random(3));
  const PackedCell packed(RecurrentCell::lstm, w);
  auto outputs = [&](const PackedCell& cell) {
    return recurrent(RecurrentCell::lstm, x, w, {.packed = &cell}).outputs;
  };
  outputs(packed).backward(ones({5, 2, 3}));
  const std::vector<float> once = w.hidden.gradient().values<float>();
  const Tensor again = outputs(packed);
  EXPECT_NE(error_of([&] { again.backward(ones({5, 2, 3})); }).find("used up"), std::string::npos);
  EXPECT_EQ(w.hidden.gradient().values<float>(), once);
  outputs(PackedCell(RecurrentCell::lstm, w)).backward(ones({5, 2, 3}));
  EXPECT_EQ(w.hidden.gradient().values<float>()[0], 2 * once[0]);
}

TEST(Recurrent, ImpossibleSizesAreErrors) {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_THROW(Lstm({.inputs = 2, .width = huge}), Error);
  EXPECT_THROW(Lstm({.inputs = huge, .width = 2, .bidirectional = true}), Error);
  EXPECT_THROW(Gru({.inputs = 2, .width = huge / 3, .layers = 2, .bidirectional = true}), Error);
  EXPECT_THROW(Gru({.inputs = 2, .width = 2, .layers = huge, .bidirectional = true}), Error);
}

TEST(Recurrent, PackedStepsHaveTheSameBitsForAnyThreads) {
  expect_same_bits_for_any_threads([] {
    CellWeights w = {normal({4 * 33, 17}, Random(1)), normal({4 * 33, 33}, Random(2))};
    w.input.require_gradient(), w.hidden.require_gradient();
    Tensor x = normal({21, 3, 17}, Random(3)).require_gradient();
    const PackedCell packed(RecurrentCell::lstm, w);
    RecurrentWalk walk = {.packed = &packed};
    for (const Tensor& step : split(x, 1, {1, 1, 1})) {
      const RecurrentResult r = recurrent(RecurrentCell::lstm, step, w, walk);
      walk.first_hidden = r.last_hidden, walk.first_cell = r.last_cell;
    }
    walk.first_hidden.backward(normal({21, 33}, Random(4)));
    return std::vector<Tensor>{walk.first_hidden, x.gradient(), w.input.gradient(), w.hidden.gradient()};
  });
}

template <class Layers>
Layers made(typename Layers::Config config, uint64_t seed = 1) {
  Layers layers(config);
  initialise(layers, Random(seed));
  return layers;
}

// A decoder's way: one step at a time, packed weights, the state handed on.
template <class Layers>
void check_steps() {
  const auto layers = made<Layers>({.inputs = 17, .width = 33, .layers = 2});
  const Tensor x = random_input({3, 7, 17}).to(DType::f32);
  const RecurrentOutput whole = layers(x, {});
  const std::vector<PackedCell> packed = layers.pack();
  RecurrentState state;
  for (int64_t t = 0; t < 7; ++t) {
    const RecurrentOutput one = layers(x.slice(1, t, t + 1), {}, {.first = state, .packed = t % 2 ? &packed : nullptr});
    EXPECT_TRUE(same_bits(one.outputs, whole.outputs.slice(1, t, t + 1))) << t;
    state = one.last;
  }
  EXPECT_TRUE(same_bits(state.hidden, whole.last.hidden));
  if (state.cell) {
    EXPECT_TRUE(same_bits(state.cell, whole.last.cell));
  }
}

TEST(Recurrent, StepByStepGivesTheBitsOfTheWhole) {
  for_each_simd([&] {
    check_steps<Lstm>();
    check_steps<Gru>();
  });
}

TEST(Recurrent, PaddingAndBatchDoNotChangeABit) {
  const auto layers = made<Lstm>({.inputs = 5, .width = 9, .layers = 2, .bidirectional = true});
  Tensor x = random_input({3, 6, 5}).to(DType::f32);
  x.select(0, 1).slice(0, 4, 6).fill(std::numeric_limits<double>::quiet_NaN());  // behind the end of item 1
  const RecurrentOutput padded = layers(x, {}, {.lengths = lengths({6, 4, 0})});
  const RecurrentOutput alone = layers(x.slice(0, 1, 2).slice(1, 0, 4), {});
  EXPECT_TRUE(same_bits(padded.outputs.slice(0, 1, 2).slice(1, 0, 4), alone.outputs));
  EXPECT_TRUE(same_bits(padded.last.hidden.slice(1, 1, 2), alone.last.hidden));
  EXPECT_TRUE(same_bits(padded.last.cell.slice(1, 1, 2), alone.last.cell));
  for (float v : padded.outputs.slice(0, 1, 2).slice(1, 4, 6).values<float>()) EXPECT_EQ(v, 0);
  for (float v : padded.outputs.slice(0, 2, 3).values<float>()) EXPECT_EQ(v, 0);
}

TEST(Recurrent, SameBitsForAnyThreadCount) {
  const Tensor x = random_input({13, 6, 10}).to(DType::f32);
  expect_same_bits_for_any_threads([&] {
    auto layers = made<Gru>({.inputs = 10, .width = 20, .bidirectional = true});
    require_gradients(layers);
    Tensor input = x.clone().require_gradient();
    Tensor y = everything(layers(input, {}));
    y.backward(golden_numbers(y.shape(), 1).to(DType::f32));
    std::vector<Tensor> all = {y.detach(), input.gradient()};
    for_each_tensor(layers, [&](const std::string&, Tensor& w, const Init&) { all.push_back(w.gradient()); });
    return all;
  });
}

TEST(Recurrent, DropsBetweenLayersInTrainingOnly) {
  const Tensor x = random_input({2, 3, 4}).to(DType::f32);
  const auto plain = made<Gru>({.inputs = 4, .width = 8, .layers = 2});
  const auto dropping = made<Gru>({.inputs = 4, .width = 8, .layers = 2, .dropout = 0.5});
  const auto single = made<Gru>({.inputs = 4, .width = 8, .dropout = 0.5});
  EXPECT_TRUE(same_bits(dropping(x, {}).outputs, plain(x, {}).outputs));
  EXPECT_FALSE(same_bits(dropping(x, {.training = true}).outputs, plain(x, {}).outputs));
  // The first layer's state does not see it, and a single layer has nothing between.
  EXPECT_TRUE(
      same_bits(dropping(x, {.training = true}).last.hidden.select(0, 0), plain(x, {}).last.hidden.select(0, 0)));
  EXPECT_TRUE(same_bits(single(x, {.training = true}).outputs, single(x, {}).outputs));
}

TEST(Recurrent, SaysWhatDoesNotFit) {
  const auto layers = made<Lstm>({.inputs = 4, .width = 3});
  const Tensor x = zeros({2, 5, 4});
  EXPECT_THROW(layers(zeros({2, 5, 3}), {}), Error);
  EXPECT_NE(error_of([&] { layers(x, {}, {.lengths = lengths({5, 6})}); }).find("length of 6"), std::string::npos);
  EXPECT_NE(error_of([&] { layers(x, {}, {.first = {zeros({2, 2, 3})}}); }).find("[1, batch, 3]"), std::string::npos);
  EXPECT_NE(error_of([&] { layers(x, {}, {.first = {zeros({1, 3, 3})}}); }).find("[2, 3]"), std::string::npos);
  EXPECT_THROW(made<Gru>({.inputs = 4, .width = 3})(x, {}, {.first = {{}, zeros({1, 2, 3})}}), Error);
  EXPECT_EQ(layers(zeros({2, 0, 4}), {}).outputs.shape(), (Shape{2, 0, 3}));
}

}  // namespace
}  // namespace fovea
