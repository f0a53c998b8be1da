#include "fovea/nn/adapter.h"

#include "fovea/nn/golden.h"
#include "fovea/nn/weight.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient_check.h"
#include "fovea/tensor/matmul.h"

namespace fovea {
namespace {

Adapter some_adapter(const Shape& weight, int64_t rank) {
  Adapter adapter = draw_adapter(weight, rank, Random(3));
  adapter.b = normal(adapter.b.shape(), Random(4));
  adapter.scale = 1.5;
  return adapter;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  double most = 0;
  const std::vector<double> x = a.values<double>(), y = b.values<double>();
  EXPECT_EQ(x.size(), y.size());
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) most = std::max(most, std::abs(x[i] - y[i]));
  return most;
}

Weight adapted(const Tensor& numbers, const Adapter& adapter) {
  Weight w(numbers.shape(), Weight::Use::product);
  w.numbers().copy_from(numbers);
  w.adapt(std::make_shared<Adapter>(adapter));
  return w;
}

TEST(AdapterTest, ItsGradientIsThatOfFiniteDifferences) {
  check_gradient([](const Inputs& x) { return added_by({.a = x[1], .b = x[2], .scale = 0.7}, x[0]); },
                 {random_input({2, 3, 6}), random_input({2, 6}, 2), random_input({5, 2}, 3)});
}

TEST(AdapterTest, BesideTheWeightAndMergedAreTheSameToRounding) {
  const Tensor numbers = normal({7, 6}, Random(1)), x = normal({4, 6}, Random(2)), bias = normal({7}, Random(5));
  const Adapter adapter = some_adapter({7, 6}, 2);
  const Weight beside = adapted(numbers, adapter);
  const Tensor whole = linear(x, merged(numbers, adapter), bias, Activation::gelu);
  const Weight own(bias);
  EXPECT_LT(largest_difference(linear(x, beside, own, Activation::gelu), whole), 1e-5);
  const std::vector<Tensor> two = linears(x, std::vector<WeightAndBias>{{beside, own}, {beside, own}});
  EXPECT_LT(largest_difference(two[1], linear(x, merged(numbers, adapter), bias)), 1e-5);
  EXPECT_TRUE(same_bits(beside.stored(), merged(numbers, adapter)));  // what is saved of it
}

TEST(AdapterTest, AtTheBeginningItChangesNothing) {
  const Tensor numbers = normal({7, 6}, Random(1)), x = normal({4, 6}, Random(2));
  const Weight w = adapted(numbers, draw_adapter({7, 6}, 3, Random(1)));
  EXPECT_EQ(largest_difference(linear(x, w), linear(x, numbers)), 0);
}

// The weight itself gets no gradient; A and B do, and so does x.
TEST(AdapterTest, OnlyTheAdditionLearns) {
  const Weight w = adapted(normal({7, 6}, Random(1)), some_adapter({7, 6}, 2));
  w.adapter()->a.require_gradient(), w.adapter()->b.require_gradient();
  Tensor x = normal({4, 6}, Random(2));
  x.require_gradient();
  const Tensor y = linear(x, w);
  y.backward(ones(y.shape()));
  EXPECT_TRUE(w.adapter()->a.gradient() && w.adapter()->b.gradient() && x.gradient());
  EXPECT_FALSE((*w).needs_gradient());
}

TEST(AdapterTest, WhatItReadsIsDroppedInAStepOfTrainingAlone) {
  const Tensor x = ones({2, 64});
  Adapter adapter = some_adapter({3, 64}, 2);
  adapter.dropout = 0.5;
  const Tensor all = added_by(adapter, x);
  adapter.random = Random(7);
  const Tensor some = added_by(adapter, x);
  EXPECT_GT(largest_difference(all, some), 0);
  EXPECT_TRUE(same_bits(some, added_by(adapter, x)));
}

TEST(AdapterTest, WhatDoesNotFitIsAnError) {
  for (int64_t rank : {-1, 0, 7}) EXPECT_THROW(draw_adapter({8, 6}, rank, Random(1)), Error) << rank;
  EXPECT_THROW(merged(zeros({8, 5}), some_adapter({8, 6}, 2)), Error);
  Weight table({8, 6}, Weight::Use::table), packed({8, 6}, Weight::Use::product);
  packed.bind(zeros({8, 6}), Precision::f32);
  EXPECT_THROW(table.adapt(std::make_shared<Adapter>(some_adapter({8, 6}, 2))), Error);
  EXPECT_THROW(packed.adapt(std::make_shared<Adapter>(some_adapter({8, 6}, 2))), Error);
  const Weight w = adapted(zeros({8, 6}), some_adapter({8, 6}, 2));
  EXPECT_THROW(rows(w, tensor({1}, std::vector<int64_t>{0})), Error);
}

}  // namespace
}  // namespace fovea
