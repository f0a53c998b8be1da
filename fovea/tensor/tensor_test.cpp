#include "fovea/tensor/tensor.h"

#include <bit>
#include <limits>

#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/gradient_check.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

using Values = std::vector<int64_t>;

Tensor counted(const Shape& shape) { return arange(shape.elements()).reshape(shape); }

TEST(Shape, AxesCountFromBothEnds) {
  Shape s = {2, 3, 4};
  EXPECT_EQ(s[-1], 4);
  EXPECT_EQ(s.elements(), 24);
  EXPECT_EQ(s.text(), "[2, 3, 4]");
  EXPECT_EQ(s.contiguous_strides(), (Shape{12, 4, 1}));
  s.insert(1, 5);
  s.erase(-1);
  EXPECT_EQ(s, (Shape{2, 5, 3}));
  EXPECT_EQ(Shape{}.elements(), 1);
  EXPECT_EQ(error_of([&] { s[3]; }), "axis 3: the shape [2, 5, 3] has 3 axes");
  EXPECT_EQ(error_of([] { Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; }),
            "shape [1, 1, 1, 1, 1, 1, 1, 1]: found one more axis, expected at most 8");
}

TEST(Shape, BroadcastAsNumPyDoesIt) {
  EXPECT_EQ(broadcast({2, 1, 4}, {3, 1}, "test"), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast({}, {3}, "test"), Shape{3});
  EXPECT_EQ(broadcast({0, 1}, {1, 3}, "test"), (Shape{0, 3}));
  EXPECT_EQ(error_of([] { broadcast({2}, {3}, "test"); }),
            "test: found shapes [2] and [3], expected axes that are equal or 1");
}

TEST(Tensor, ViewsShareTheNumbers) {
  const Tensor x = counted({2, 3, 4});
  const auto expect = [&](const Tensor& y, const Shape& shape, const Values& values) {
    EXPECT_TRUE(y.shares_storage_with(x));
    EXPECT_EQ(y.shape(), shape);
    EXPECT_EQ(y.values<int64_t>(), values);
  };
  expect(x.slice(2, 1, 4, 2), {2, 3, 2}, {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23});
  expect(x.select(1, 2), {2, 4}, {8, 9, 10, 11, 20, 21, 22, 23});
  expect(x.select(0, 1).transpose(0, 1), {4, 3}, {12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23});
  expect(x.permute({2, 0, 1}).select(0, 3), {2, 3}, {3, 7, 11, 15, 19, 23});
  expect(x.reshape({4, -1}).select(0, 3), {6}, {18, 19, 20, 21, 22, 23});
  expect(x.select(0, 0).select(0, 0).unsqueeze(-1).expand({4, 2}), {4, 2}, {0, 0, 1, 1, 2, 2, 3, 3});
  expect(x.slice(1, 3, 3), {2, 0, 4}, {});
}

TEST(Tensor, ReshapeCopiesOnlyWhenItMust) {
  const Tensor x = counted({2, 3});
  EXPECT_TRUE(x.reshape({3, 2}).shares_storage_with(x));
  const Tensor y = x.transpose(0, 1).reshape({6});
  EXPECT_FALSE(y.shares_storage_with(x));
  EXPECT_EQ(y.values<int64_t>(), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(zeros({0, 3}).reshape({3, -1}).shape(), (Shape{3, 0}));
}

TEST(Tensor, WritingThroughAView) {
  Tensor x = zeros({2, 3}, DType::i64);
  x.select(1, 1).copy_from(tensor({2}, Values{5, 6}));
  x.slice(0, 1, 2).slice(1, 2, 3).fill(9);
  EXPECT_EQ(x.values<int64_t>(), (Values{0, 5, 0, 0, 6, 9}));
}

TEST(Tensor, ContiguousAndClone) {
  const Tensor x = counted({2, 3});
  EXPECT_TRUE(x.contiguous().shares_storage_with(x));
  EXPECT_FALSE(x.clone().shares_storage_with(x));
  EXPECT_FALSE(x.transpose(0, 1).is_contiguous());
  EXPECT_TRUE(x.transpose(0, 1).contiguous().is_contiguous());
  EXPECT_TRUE(x.slice(0, 1, 2).transpose(0, 1).is_contiguous());  // an axis of size 1 has no say
  EXPECT_FALSE(zeros({1}).expand({3}).is_contiguous());
}

TEST(Tensor, GradientsThroughViews) {
  const Inputs inputs = {random_input({2, 3, 4})};
  check_gradient([](const Inputs& x) { return x[0].reshape({4, 6}); }, inputs);
  check_gradient([](const Inputs& x) { return x[0].permute({2, 0, 1}); }, inputs);
  check_gradient([](const Inputs& x) { return x[0].transpose(0, -1); }, inputs);
  check_gradient([](const Inputs& x) { return x[0].transpose(0, 2).reshape({6, 4}); }, inputs);
  check_gradient([](const Inputs& x) { return x[0].slice(1, 1, 3).slice(2, 0, 4, 3); }, inputs);
  check_gradient([](const Inputs& x) { return x[0].select(1, 2) * x[0].select(1, 0); }, inputs);
  check_gradient([](const Inputs& x) { return x[0].unsqueeze(2).squeeze(2).unsqueeze(0); }, inputs);
  check_gradient([](const Inputs& x) { return x[0].unsqueeze(1).expand({5, 2, 2, 3, 4}); }, inputs);
  check_gradient([](const Inputs& x) { return x[0].clone() + x[0].contiguous(); }, inputs);
}

TEST(Tensor, GradientsBetweenTypes) {
  Tensor x = tensor({2}, std::vector<float>{1, 2}).require_gradient();
  Tensor y = x.to(DType::f64) * 3.0;
  y.backward(tensor({2}, std::vector<double>{1, 10}));
  EXPECT_EQ(x.gradient().dtype(), DType::f32);
  EXPECT_EQ(x.gradient().values<float>(), (std::vector<float>{3, 30}));
}

TEST(Gradient, AddsUpOverCallsAndIsClearedOnRequest) {
  Tensor x = ones({2}).require_gradient();
  for (int i = 0; i < 2; ++i) sum(x * 2.0).backward();
  EXPECT_EQ(x.gradient().values<float>(), (std::vector<float>{4, 4}));
  x.clear_gradient();
  EXPECT_FALSE(x.gradient());
  x.set_gradient(ones({2}));
  EXPECT_EQ(x.gradient().values<float>(), (std::vector<float>{1, 1}));
}

TEST(Gradient, EachLeafHasItsOwn) {
  Tensor a = ones({2, 2}).require_gradient(), b = ones({2, 2}).require_gradient();
  const Tensor seed = ones({2, 2});
  (a + b).backward(seed);
  EXPECT_FALSE(a.gradient().shares_storage_with(b.gradient()));
  EXPECT_FALSE(a.gradient().shares_storage_with(seed));
  a.gradient().fill(7);
  EXPECT_EQ(b.gradient().values<float>(), std::vector<float>(4, 1.0f));
  b.clear_gradient();
  sum(b.transpose(0, 1)).backward();
  EXPECT_TRUE(b.gradient().is_contiguous());
}

TEST(Gradient, ADiamondIsWalkedOnce) {
  Tensor x = tensor({}, std::vector<double>{1}).require_gradient();
  Tensor y = x;
  for (int i = 0; i < 50; ++i) y = y + y;
  y.backward();
  EXPECT_EQ(x.gradient().item(), std::pow(2.0, 50));
}

TEST(Gradient, ALongTapeNeedsNoStack) {
  Tensor x = ones({}).require_gradient(), factor = ones({}).require_gradient();
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = y * factor + 0.0;
  y.backward();
  EXPECT_EQ(x.gradient().item(), 1);
  EXPECT_EQ(factor.gradient().item(), 100000);
  y = {};
  Tensor never_used = x;
  for (int i = 0; i < 100000; ++i) never_used = never_used * factor;
}

TEST(Gradient, TheTapeIsFreedAfterUse) {
  Tensor x = ones({3}).require_gradient();
  Tensor y = exp(x * x);
  EXPECT_FALSE(x.owns_alone());  // the product keeps its factors
  sum(y).backward();
  EXPECT_TRUE(x.owns_alone());
  EXPECT_EQ(error_of([&] { y.backward(ones({3})); }),
            "backward: the tape through 'exp' was used up by an earlier backward()");
}

TEST(Gradient, ATapeThatIsNeverUsedIsFreedToo) {
  Tensor x = ones({3}).require_gradient();
  { Tensor y = exp(x * x) / x; }
  EXPECT_TRUE(x.owns_alone());
}

TEST(Gradient, WithoutNeedNothingIsKept) {
  const Tensor x = ones({3});
  const Tensor y = x * x;
  EXPECT_FALSE(y.needs_gradient());
  EXPECT_TRUE(x.owns_alone());
  Tensor leaf = ones({3}).require_gradient();
  EXPECT_FALSE((leaf.detach() * 2.0).needs_gradient());
  EXPECT_TRUE(leaf.detach().shares_storage_with(leaf));
}

TEST(Gradient, SeveralResults) {
  Tensor x = tensor({2}, std::vector<double>{3, 4}).require_gradient();
  auto both = [](const Tensor& x) {
    const Tensor v = x.detach();
    return with_gradient("both", std::vector<Tensor>{v * 2.0, v * 3.0}, {x}, [](std::span<const Tensor> dy) {
      Tensor dx = zeros({2}, DType::f64);
      if (dy[0]) add_into(dx, dy[0] * 2.0);
      if (dy[1]) add_into(dx, dy[1] * 3.0);
      return Gradients{dx};
    });
  };
  sum(both(x)[1]).backward();
  EXPECT_EQ(x.gradient().values<double>(), (std::vector<double>{3, 3}));
  x.clear_gradient();
  const std::vector<Tensor> y = both(x);
  sum(y[0] * y[1]).backward();
  EXPECT_EQ(x.gradient().values<double>(), (std::vector<double>{36, 48}));
}

TEST(Tensor, ErrorsSayWhatWasFound) {
  const Tensor x = zeros({2, 3});
  EXPECT_EQ(error_of([&] { x.data<double>(); }), "tensor: found numbers of type F32, expected F64");
  EXPECT_EQ(error_of([&] { Tensor().data<float>(); }), "tensor: found no tensor, expected one of F32");
  EXPECT_EQ(error_of([&] { x.item(); }), "item: found a tensor [2, 3], expected a single number");
  EXPECT_EQ(error_of([&] { x.reshape({4}); }), "reshape: found [4], expected 6 elements as in [2, 3]");
  EXPECT_EQ(error_of([&] {
              x.reshape({-2, -3});
            }),
            "reshape: found [-2, -3], expected sizes of 0 or more and at most one −1");
  EXPECT_EQ(error_of([&] { x.slice(1, 2, 4); }),
            "slice: found 2:4:1, expected 0 ≤ begin ≤ end ≤ 3 and a positive step");
  EXPECT_EQ(error_of([&] { x.select(0, 2); }), "select: found index 2, expected 0 to 1");
  EXPECT_EQ(error_of([&] { x.squeeze(0); }), "squeeze: axis 0 has size 2, expected 1");
  EXPECT_EQ(error_of([&] { x.unsqueeze(4); }), "unsqueeze: found axis 4, expected 0 to 2");
  EXPECT_EQ(error_of([&] { x.permute({0, 0}); }), "permute: axis 0 is named twice");
  EXPECT_EQ(error_of([&] { x.expand({3}); }), "expand: found [3], expected a shape that [2, 3] can be repeated to");
  EXPECT_EQ(error_of([&] { tensor({2}, std::vector<float>{1}); }),
            "tensor: found 1 numbers, expected 2 for the shape [2]");
  EXPECT_EQ(error_of([&] { zeros({-1}); }), "tensor: found shape [-1], expected sizes of 0 or more");
  EXPECT_EQ(error_of([&] {
              zeros({int64_t{1} << 40, int64_t{1} << 40});
            }),
            "tensor: the shape [1099511627776, 1099511627776] is too large");
  EXPECT_EQ(error_of([&] { arange(3).require_gradient(); }), "require_gradient: found I64, expected F32 or F64");
  EXPECT_EQ(error_of([&] { ones({}).backward(); }),
            "backward: the tensor depends on nothing that needs a gradient; call require_gradient()");
  EXPECT_EQ(error_of([&] { zeros({2}).require_gradient().backward(); }),
            "backward: found a tensor [2], expected a single number (or give a seed)");
  EXPECT_EQ(error_of([&] { zeros({2}).require_gradient().backward(zeros({3})); }),
            "backward: found a seed F32 [3], expected F32 [2]");
}

TEST(DType, EveryFloat16IsItsValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double sign = bits & 0x8000 ? -1 : 1;
    const float f = to_float(Float16{static_cast<uint16_t>(bits)});
    if (exponent == 31) {
      EXPECT_TRUE(fraction ? std::isnan(f) : f == sign * INFINITY);
    } else {
      const double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      EXPECT_EQ(f, sign * value);
    }
    if (!std::isnan(f)) {
      EXPECT_EQ(to_float16(f).bits, bits);
    }
  }
}

// Between two neighbours the nearer is taken, in the middle the even one.
TEST(DType, Float16RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const double low = to_float(Float16{static_cast<uint16_t>(bits)});
    const double high = bits == 0x7bff ? 65536 : to_float(Float16{static_cast<uint16_t>(bits + 1)});
    const float middle = static_cast<float>((low + high) / 2);
    EXPECT_EQ(to_float16(middle).bits, bits % 2 ? bits + 1 : bits);
    EXPECT_EQ(to_float16(std::nextafter(middle, 0.0f)).bits, bits);
    EXPECT_EQ(to_float16(std::nextafter(middle, INFINITY)).bits, bits + 1);
  }
  EXPECT_EQ(to_float16(1e30f).bits, 0x7c00);
  EXPECT_EQ(to_float16(-INFINITY).bits, 0xfc00);
  EXPECT_TRUE(std::isnan(to_float(to_float16(NAN))));
}

TEST(DType, BFloat16RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7f80; ++bits) {
    const float low = to_float(BFloat16{static_cast<uint16_t>(bits)});
    EXPECT_EQ(std::bit_cast<uint32_t>(low), bits << 16);
    EXPECT_EQ(to_bfloat16(low).bits, bits);
    const uint32_t middle = bits << 16 | 0x8000;
    EXPECT_EQ(to_bfloat16(std::bit_cast<float>(middle)).bits, bits % 2 ? bits + 1 : bits);
    EXPECT_EQ(to_bfloat16(std::bit_cast<float>(middle - 1)).bits, bits);
    EXPECT_EQ(to_bfloat16(std::bit_cast<float>(middle + 1)).bits, bits + 1);
  }
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(std::bit_cast<float>(0x7f800001)))));
  EXPECT_EQ(to_bfloat16(-INFINITY).bits, 0xff80);
}

TEST(Tensor, ConversionsRoundTrip) {
  const Tensor x = tensor({2, 3}, std::vector<float>{0, 1, -2, 3, 100, -128});
  for (DType type : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8, DType::i64}) {
    EXPECT_EQ(x.to(type).dtype(), type);
    EXPECT_EQ(x.to(type).to(DType::f32).values<float>(), x.values<float>());
    EXPECT_EQ(x.transpose(0, 1).to(type).values<float>(), x.transpose(0, 1).values<float>());
  }
}

TEST(Tensor, RandomNumbersAreThoseOfTheirElements) {
  const Random random(3);
  const std::vector<float> u = uniform({3, 50}, random).values<float>(),
                           n = normal({3, 50}, random, 1, 2).values<float>();
  for (uint64_t i = 0; i < 150; ++i) {
    EXPECT_EQ(u[i], random.uniform(i));
    EXPECT_FLOAT_EQ(n[i], 1 + 2 * random.normal(i));
  }
}

}  // namespace
}  // namespace fovea
