#include "fovea/models/labels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/gradient_check.h"

namespace fovea {
namespace {

const std::vector<double> logits = {0.3, -1.2, 2.5, -40, 55, 0.1};

// −Σ w y ln σ(x) + w (1 − y) ln(1 − σ(x)), as its definition has it.
double cross_entropy_of(double x, double y) {
  const double p = 1 / (1 + std::exp(-x)), q = 1 / (1 + std::exp(x));
  return (y == 0 ? 0 : -y * std::log(p)) + (y == 1 ? 0 : -(1 - y) * std::log(q));
}

TEST(Labels, SeveralAreBinaryCrossEntropies) {
  const Labels labels("test", {.names = {"a", "b", "c"}, .kind = "several"});
  const std::vector<double> wanted = {1, 0, 0, 0, 1, 1}, weights = {1, 2, 0.5};
  const Tensor found = labels.losses(tensor({2, 3}, logits), {tensor({2, 3}, wanted), tensor({3}, weights)});
  for (size_t row = 0; row < 2; ++row) {
    double expected = 0;
    for (size_t i = 0; i < 3; ++i) expected += weights[i] * cross_entropy_of(logits[3 * row + i], wanted[3 * row + i]);
    EXPECT_NEAR(found.values<double>()[row], expected, 1e-12);
  }
  const std::vector<double> p = labels.answers(tensor({2, 3}, logits)).values<double>();
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(p[i], 1 / (1 + std::exp(-logits[i])), 1e-12);
}

TEST(Labels, ANumberIsMeanAndDeviation) {
  const Labels labels("test", {.names = {"stars"}, .kind = "number", .mean = 3, .deviation = 2});
  const Tensor x = tensor({2, 1}, std::vector<double>{0.5, -1});
  EXPECT_EQ(labels.answers(x).values<double>(), (std::vector<double>{4, 1}));
  // ((4 − 3) / 2 − 0.5)² and ((5 − 3) / 2 + 1)²
  EXPECT_EQ(labels.losses(x, {tensor({2, 1}, std::vector<double>{4, 5})}).values<double>(),
            (std::vector<double>{0, 4}));
}

TEST(Labels, WeightsMultiplyTheLossOfTheirLabel) {
  const Labels labels("test", {.names = {"a", "b"}});
  const Tensor x = tensor({2, 2}, std::vector<double>{1, 2, 0, 3}), y = tensor({2}, std::vector<int64_t>{0, 1});
  const std::vector<double> plain = labels.losses(x, {y}).values<double>();
  EXPECT_NEAR(plain[0], std::log(std::exp(1.0) + std::exp(2.0)) - 1, 1e-12);
  const std::vector<double> weighted =
      labels.losses(x, {y, tensor({2}, std::vector<double>{3, 0.25})}).values<double>();
  EXPECT_NEAR(weighted[0], 3 * plain[0], 1e-12);
  EXPECT_NEAR(weighted[1], 0.25 * plain[1], 1e-12);
}

TEST(Labels, GradientsEqualFiniteDifferences) {
  const Labels several("test", {.names = {"a", "b", "c"}, .kind = "several"});
  const Labels number("test", {.names = {"n"}, .kind = "number", .mean = 1, .deviation = 3});
  const Tensor wanted = tensor({2, 3}, std::vector<double>{1, 0, 0, 0, 1, 1});
  check_gradient([&](const Inputs& x) { return several.losses(x[0], {wanted}, 0.1); },
                 {normal({2, 3}, Random(1), 0, 2, DType::f64)});
  check_gradient(
      [&](const Inputs& x) {
        return number.losses(x[0], {tensor({2, 1}, std::vector<double>{4, -1})});
      },
      {normal({2, 1}, Random(2), 0, 2, DType::f64)});
}

TEST(Labels, WhatMakesNoSenseIsAnError) {
  EXPECT_THROW(Labels("test", {.names = {"a"}}), Error);
  EXPECT_THROW(Labels("test", {.names = {"a", "a"}}), Error);
  EXPECT_THROW(Labels("test", {.names = {"a", "b"}, .kind = "number"}), Error);
  EXPECT_THROW(Labels("test", {.names = {"a"}, .kind = "number", .deviation = 0}), Error);
  EXPECT_THROW(Labels("test", {.names = {"a", "b"}, .kind = "all"}), Error);
}

}  // namespace
}  // namespace fovea
