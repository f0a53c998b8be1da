#include "fovea/nn/weight.h"

#include <cmath>

#include "fovea/formats/block_matrix.h"
#include "fovea/kernels/packed.h"
#include "fovea/kernels/unit.h"
#include "fovea/nn/golden.h"
#include "fovea/nn/linear.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/matmul.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

constexpr Precision all_precisions[] = {Precision::f32, Precision::bf16, Precision::int8};

Weight bound(const Tensor& numbers, Precision precision) {
  Weight w(numbers.shape(), Weight::Use::product);
  w.bind(numbers, precision);
  return w;
}

TEST(Weight, HasAShapeThenNumbersThenIsPacked) {
  EXPECT_FALSE(Weight());
  Weight w({3, 5}, Weight::Use::product);
  EXPECT_TRUE(w);
  EXPECT_EQ(w.elements(), 15);
  EXPECT_NE(error_of([&] { *w; }).find("initialise or load"), std::string::npos);
  EXPECT_EQ(w.numbers().values<float>(), std::vector<float>(15, 0.0f));
  EXPECT_EQ(w->shape(), (Shape{3, 5}));
  w.bind(golden_numbers({3, 5}, 1), Precision::f32);
  EXPECT_NE(error_of([&] { *w; }).find("packed"), std::string::npos);
  EXPECT_THROW(w.numbers(), Error);
  EXPECT_EQ(Weight(w).packed(), w.packed());
  EXPECT_EQ(w.unpacked().values<float>(), golden_numbers({3, 5}, 1).values<float>());
  EXPECT_THROW(w.bind(golden_numbers({5, 3}, 1), Precision::f32), Error);
}

// A shape of 4 terabytes takes nothing, whatever asks for it.
TEST(Weight, AShapeTakesNoMemory) {
  std::vector<Linear> huge;
  for (int i = 0; i < 100; ++i) huge.emplace_back(Linear::Config{.inputs = 1 << 20, .outputs = 1 << 20});
  EXPECT_EQ(count(huge[0]), (int64_t{1} << 40) + (1 << 20));
}

TEST(Weight, OfOtherUseStaysNumbers) {
  Weight bias({5});
  const Tensor numbers = golden_numbers({5}, 2).to(DType::f32);
  bias.bind(numbers, Precision::int8);
  EXPECT_FALSE(bias.packed());
  EXPECT_EQ(bias->values<float>(), numbers.values<float>());
  EXPECT_FALSE(bias->shares_storage_with(numbers));
}

TEST(Weight, PackedInF32HasTheBitsOfTheNumbers) {
  const Tensor w = golden_numbers({37, 29}, 1).to(DType::f32), b = golden_numbers({37}, 2).to(DType::f32);
  const Tensor x = golden_numbers({3, 7, 29}, 3).to(DType::f32);
  for_each_simd([&] {
    EXPECT_TRUE(
        same_bits(linear(x, bound(w, Precision::f32), Weight(b), Activation::gelu), linear(x, w, b, Activation::gelu)));
    EXPECT_TRUE(same_bits(linear(x.transpose(0, 1), bound(w, Precision::f32)), linear(x.transpose(0, 1), w)));
  });
}

// Against float64 of what the weight has become; int8 rounds x, too: each element by at most half of its row's step; and so does bf16
// on tiles, by 1/512 of it.
TEST(Weight, PackedIsTheProductWithWhatItBecame) {
  const Tensor w = golden_numbers({37, 29}, 1).to(DType::f32), x = golden_numbers({6, 29}, 3).to(DType::f32);
  for (Precision precision : all_precisions) {
    SCOPED_TRACE(std::string(name(precision)));
    const Weight packed = bound(w, precision);
    const std::vector<double> u = packed.unpacked().values<double>(), v = x.values<double>();
    const double step = precision == Precision::int8 ? 1.0 / 254 : precision == Precision::bf16 ? 1.0 / 256 : 0;
    for (size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(u[i], w.values<double>()[i], step + 1e-6);
    for_each_simd(
        [&] {
          const std::vector<double> y = linear(x, packed).values<double>();
          for (size_t r = 0; r < 6; ++r) {
            double largest = 0;
            for (size_t k = 0; k < 29; ++k) largest = std::max(largest, std::abs(v[r * 29 + k]));
            for (size_t j = 0; j < 37; ++j) {
              double sum = 0, sizes = 0;
              for (size_t k = 0; k < 29; ++k) sum += v[r * 29 + k] * u[j * 29 + k], sizes += std::abs(u[j * 29 + k]);
              const bool unit = kernels::unit_of(precision) != kernels::Unit::vectors;  // of bf16: rounds x
              const double rounding = precision == Precision::int8           ? sizes * largest / 254
                                      : precision == Precision::bf16 && unit ? sizes * largest / 512
                                                                             : 0;
              EXPECT_NEAR(y[r * 37 + j], sum, rounding + 1e-5);
            }
          }
        },
        emulated_simds());
  }
}

// Few rows and many, whole tiles and not, sums over one block of depth and over several; f32 also against float64.
TEST(Weight, OntoAResidualIsTheSumOfBoth) {
  for (const auto& [rows, columns, depth] : {std::tuple(1, 64, 29), {3, 64, 29}, {30, 64, 1600}, {30, 37, 1600}}) {
    const Tensor x = golden_numbers({rows, depth}, 1).to(DType::f32), w = golden_numbers({columns, depth}, 2);
    const Tensor residual = golden_numbers({rows, columns}, 3).to(DType::f32), numbers = golden_numbers({columns}, 4);
    const Weight none, bias(numbers.to(DType::f32));
    for (Precision precision : all_precisions) {
      SCOPED_TRACE(fmt::format("{} {}x{}x{}", name(precision), rows, columns, depth));
      const Weight packed = bound(w.to(DType::f32), precision);
      for_each_simd([&] {
        EXPECT_TRUE(same_bits(linear_onto(residual, x, packed, none), residual + linear(x, packed)));
        EXPECT_TRUE(same_bits(linear_onto(residual, x, packed, bias), residual + linear(x, packed, bias)));
      });
      if (precision != Precision::f32) continue;
      const Tensor exact = residual.to(DType::f64) + linear(x.to(DType::f64), w, numbers);
      const std::vector<double> y = linear_onto(residual, x, packed, bias).values<double>();
      for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], exact.values<double>()[i], 1e-4);
    }
  }
}

TEST(Weight, SeveralOverOneXAreThoseAlone) {
  const Tensor x = golden_numbers({5, 24}, 3).to(DType::f32), bias = golden_numbers({9}, 4).to(DType::f32);
  for (Precision precision : all_precisions) {
    const Weight a = bound(golden_numbers({9, 24}, 1), precision), b = bound(golden_numbers({20, 24}, 2), precision);
    const Weight none, with(bias);
    const std::vector<Tensor> both = linears(x, std::vector<WeightAndBias>{{a, with}, {b, none}});
    EXPECT_TRUE(same_bits(both[0], linear(x, a, with)));
    EXPECT_TRUE(same_bits(both[1], linear(x, b)));
  }
}

TEST(Weight, RowsAreThoseOfTheUnpacked) {
  const Tensor ids = tensor({2, 2}, std::vector<int64_t>{0, 18, 3, 18});
  for (Precision precision : all_precisions) {
    const Weight table = bound(golden_numbers({19, 13}, 1), precision);
    EXPECT_TRUE(same_bits(rows(table, ids), rows(table.unpacked(), ids)));
    EXPECT_THROW(rows(table, tensor({1}, std::vector<int64_t>{19})), Error);
    EXPECT_THROW(rows(table, tensor({1}, std::vector<int64_t>{-1})), Error);
  }
}

TEST(Weight, PackedNumbersComeBackFromAFile) {
  const Tensor x = golden_numbers({4, 24}, 3).to(DType::f32);
  for (Precision precision : all_precisions) {
    SCOPED_TRACE(std::string(name(precision)));
    const Weight given = bound(golden_numbers({20, 24}, 1), precision);
    const Tensor bytes = given.packed_numbers();
    Weight again({20, 24}, Weight::Use::product);
    again.bind_packed(bytes, precision);
    EXPECT_TRUE(same_bits(linear(x, again), linear(x, given)));
    // From an odd place.
    Tensor longer({bytes.elements() + 1}, DType::i8);
    longer.slice(0, 1, longer.elements()).copy_from(bytes);
    again.bind_packed(longer.slice(0, 1, longer.elements()), precision);
    EXPECT_TRUE(same_bits(linear(x, again), linear(x, given)));
    EXPECT_THROW(again.bind_packed(bytes.slice(0, 0, bytes.elements() - 1), precision), Error);
    Tensor damaged = bytes.clone();
    std::fill_n(damaged.data<int8_t>() + damaged.elements() - 64, 64, int8_t{-1});  // NaN, or a scale that is
    EXPECT_NE(error_of([&] { again.bind_packed(damaged, precision); }).find("finite"), std::string::npos);
  }
}

TEST(Weight, InPartsIsTheSameMatrix) {
  const Tensor numbers = golden_numbers({21, 6}, 1).to(DType::f32), x = golden_numbers({3, 6}, 3).to(DType::f32);
  Weight parts({21, 6}, {14, 7});
  parts.bind(numbers, Precision::f32);
  EXPECT_EQ(parts.unpacked().values<float>(), numbers.values<float>());
  ASSERT_TRUE(parts.packed(1));
  EXPECT_FALSE(parts.packed(2));
  EXPECT_EQ(parts.packed()->columns, 14);
  Tensor y({3, 7}, DType::f32);
  kernels::multiply(3, {x.data<float>(), 6, 1}, *parts.packed(1), {y.data<float>(), 7});
  EXPECT_TRUE(same_bits(y, linear(x, numbers.slice(0, 14, 21))));
}

// Blocks are as the file has them: no number is rounded again. x is, in groups of 32, by at most half of its step.
TEST(Weight, BoundToBlocksIsTheProductWithWhatTheyStandFor) {
  const Tensor numbers = golden_numbers({37, 256}, 1).to(DType::f32), x = golden_numbers({6, 256}, 3).to(DType::f32);
  for (BlockType type : {BlockType::q8_0, BlockType::q4_0, BlockType::q4_K, BlockType::q6_K}) {
    SCOPED_TRACE(std::string(name(type)));
    const BlockMatrix blocks = quantised(numbers, type);
    Weight w({37, 256}, Weight::Use::product);
    w.bind(blocks);
    EXPECT_TRUE(same_bits(w.unpacked(), blocks.numbers()));
    const Tensor ids = tensor({2, 2}, std::vector<int64_t>{0, 36, 3, 36});
    EXPECT_TRUE(same_bits(rows(w, ids), rows(blocks.numbers(), ids)));
    EXPECT_EQ(w.bytes_in(type), kernels::packed_bytes(type, 256, 37));
    EXPECT_THROW(w.packed_numbers(), Error);
    const std::vector<double> exact = linear(x, blocks.numbers()).values<double>();
    const std::vector<double> u = blocks.numbers().values<double>();
    for_each_simd([&] {
      const std::vector<double> y = linear(x, w).values<double>();
      for (size_t i = 0; i < y.size(); ++i) {
        double sizes = 0;
        for (size_t k = 0; k < 256; ++k) sizes += std::abs(u[i % 37 * 256 + k]);
        EXPECT_NEAR(y[i], exact[i], sizes / 254 + 1e-4);
      }
    });
  }
}

TEST(Weight, BlocksOfAnotherShapeOrUse) {
  const Tensor numbers = golden_numbers({4, 64}, 1).to(DType::f32);
  const BlockMatrix blocks = quantised(numbers, BlockType::q8_0);
  Weight other({64, 4}, Weight::Use::product), table({4, 64}), parts({4, 64}, {3, 1});
  EXPECT_NE(error_of([&] { other.bind(blocks); }).find("expected [64, 4]"), std::string::npos);
  table.bind(blocks);
  EXPECT_FALSE(table.packed());
  EXPECT_EQ(table.bytes_in(BlockType::q8_0), 4 * 4 * 64);
  EXPECT_TRUE(same_bits(*table, blocks.numbers()));
  parts.bind(blocks);
  ASSERT_TRUE(parts.packed(1));
  EXPECT_EQ(parts.packed(1)->columns, 1);
  EXPECT_TRUE(same_bits(parts.unpacked(), blocks.numbers()));
  std::shared_ptr<std::byte> bytes(new std::byte[size_t(blocks.bytes())], std::default_delete<std::byte[]>());
  std::fill_n(bytes.get(), blocks.bytes(), std::byte{0xff});
  EXPECT_NE(error_of([&] {
              parts.bind(BlockMatrix{BlockType::q8_0, {4, 64}, bytes});
            }).find("finite"),
            std::string::npos);
}

TEST(Weight, PackedLeadsBackToItsInputsAsNumbersDo) {
  for (const Precision precision : {Precision::f32, Precision::bf16, Precision::int8}) {
    const Weight packed = bound(golden_numbers({20, 24}, 1), precision), b(golden_numbers({20}, 2).to(DType::f32));
    const Tensor w = packed.unpacked(), seed = golden_numbers({4, 20}, 5).to(DType::f32);
    auto gradient = [&](auto&& y_of) {
      Tensor x = golden_numbers({4, 24}, 3).to(DType::f32).clone();
      y_of(x.require_gradient()).backward(seed);
      return x.gradient().values<double>();
    };
    const auto given = gradient([&](const Tensor& x) { return linear(x, packed, b, Activation::gelu); });
    const auto wanted = gradient([&](const Tensor& x) { return linear(x, w, *b, Activation::gelu); });
    const auto both = gradient([&](const Tensor& x) {
      return linears(x, std::vector<WeightAndBias>{{packed, b}, {packed, b}})[1];
    });
    const auto plain = gradient([&](const Tensor& x) { return linear(x, w, *b); });
    // gelu'(x) of a rounded product differs by as much as the product does
    const double apart = precision == Precision::f32 ? 1e-5 : 0.05;
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(given[i], wanted[i], apart);
      EXPECT_NEAR(both[i], plain[i], 1e-5);
    }
  }
}

// Eighths have few digits: bf16 holds them, and f32 their products' sums. So rounding changes nothing, and every gradient is that of
// the formula; of other numbers the result shows that they were rounded.
TEST(Weight, LearnsInBf16AsTheFormulaSaysOfRoundedNumbers) {
  auto eighths = [](const Shape& shape, uint64_t seed) {
    Tensor numbers(shape, DType::f64);
    for (int64_t i = 0; i < numbers.elements(); ++i)
      numbers.data<double>()[i] = (static_cast<double>(Random(seed).below(33, static_cast<uint64_t>(i))) - 16) / 8;
    return numbers;
  };
  const Tensor x = eighths({3, 13, 29}, 1), v = eighths({37, 29}, 2), w = eighths({5, 29}, 3), b = eighths({37}, 4);
  const Tensor dv = eighths({3, 13, 37}, 5), dw = eighths({3, 13, 5}, 6);
  auto run = [&](DType type, Precision precision) {
    std::vector<Tensor> inputs;
    for (const Tensor& t : {x, v, w, b}) inputs.push_back(t.to(type).clone().require_gradient());
    Weight first(inputs[1]), second(inputs[2]);
    const Weight none, bias(inputs[3]);
    first.multiply_in(precision), second.multiply_in(precision);
    std::vector<Tensor> results = linears(inputs[0], std::vector<WeightAndBias>{{first, bias}, {second, none}});
    results.push_back(linear(inputs[0], first, bias));
    (sum(results[0] * dv.to(type) + results[2]) + sum(results[1] * dw.to(type))).backward();
    for (const Tensor& input : inputs) results.push_back(input.gradient());
    return results;
  };
  const std::vector<Tensor> wanted = run(DType::f64, Precision::f32);
  const Tensor thirds = uniform({4, 29}, Random(7));
  for_each_simd(
      [&] {
        const std::vector<Tensor> found = run(DType::f32, Precision::bf16);
        for (size_t i = 0; i < wanted.size(); ++i)
          EXPECT_EQ(found[i].values<double>(), wanted[i].values<double>()) << i;
        Weight plain(uniform({6, 29}, Random(8))), rounded = plain;
        rounded.multiply_in(Precision::bf16);
        const std::vector<double> y = linear(thirds, plain).values<double>(),
                                  z = linear(thirds, rounded).values<double>();
        EXPECT_NE(y, z);
        for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], z[i], 29.0 / 128);
      },
      emulated_simds());
}

}  // namespace
}  // namespace fovea
