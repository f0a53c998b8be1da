// The attention call by itself: hard choices, wrong inputs, empty ones.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/attention/attention.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient_check.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

const Context training = {.training = true, .random = Random(3)};

// E[(loss − baseline) ∇ log w(choice)] = ∇ Σ w · loss, for whatever baseline (Williams 1992).
TEST(HardAttention, TheMeanReinforceGradientIsTheExactMarginalGradient) {
  const int64_t samples = 40000;
  const Tensor q = normal({1, 1, 1, 4}, Random(1)), k = normal({1, 5, 1, 4}, Random(2)),
               v = normal({1, 5, 1, 3}, Random(3));
  const Tensor direction = normal({1, 1, 1, 3}, Random(4));
  auto loss_of = [&](const Tensor& output) { return sum(output * direction, {-1}); };

  Tensor exact_q = q.clone().require_gradient();
  sum(loss_of(attend(exact_q, k, v, {}, {}).output)).backward();

  // All samples at once: a batch of the same query.
  for (double baseline : {0.0, 0.7}) {
    Tensor many_q = q.expand({samples, 1, 1, 4}).clone().require_gradient();
    AttentionResult sampled = attend(many_q, k.expand({samples, 5, 1, 4}), v.expand({samples, 5, 1, 3}),
                                     {.selection = Selection::hard}, training);
    const Tensor loss = loss_of(sampled.output).reshape(sampled.log_probability.shape());
    mean((loss.detach() - baseline) * sampled.log_probability).backward();
    const Tensor mean_gradient = sum(many_q.gradient(), {0}, Axes::keep);
    gradient_check::expect_near_in_size(mean_gradient, exact_q.gradient(), 0, 0.02, "mean gradient");
  }
}

TEST(HardAttention, TakesTheLargestWeightWhenNotTrainingAndSamplesByWeightWhenTraining) {
  const Tensor q = tensor({1, 1, 1, 1}, std::vector<float>{1}), k = tensor({1, 3, 1, 1}, std::vector<float>{0, 2, 1}),
               v = k;
  const AttentionOptions hard = {.form = &dot, .selection = Selection::hard};
  EXPECT_EQ(attend(q, k, v, hard, {}).output.item(), 2);
  EXPECT_EQ(attend(q, k, v, hard, {}).selected.item(), 1);
  const int64_t n = 20000;
  const Tensor many =
      attend(q.expand({n, 1, 1, 1}), k.expand({n, 3, 1, 1}), v.expand({n, 3, 1, 1}), hard, training).selected;
  double counts[3] = {};
  for (int64_t s : many.values<int64_t>()) ++counts[s];
  const double total = 1 + std::exp(2) + std::exp(1);
  EXPECT_NEAR(counts[0] / n, 1 / total, 0.01);
  EXPECT_NEAR(counts[1] / n, std::exp(2) / total, 0.01);
}

TEST(Attend, WrongInputsSayWhatWasFoundAndExpected) {
  auto error = [](const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o) {
    try {
      attend(q, k, v, o, {});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  const Tensor x = zeros({2, 3, 4, 8});
  EXPECT_EQ(error(x, x, x, {}), "no error");
  EXPECT_EQ(error(x, zeros({2, 3, 4, 7}), x, {}),
            "scaled-dot attention: found queries of width 8 and keys of width 7, expected equal ones");
  EXPECT_EQ(error(x, x, zeros({2, 5, 4, 8}), {}), "attention: found 3 keys and 5 values, expected as many");
  EXPECT_EQ(error(x, zeros({2, 3, 3, 8}), zeros({2, 3, 3, 8}), {}),
            "attention: found 4 heads of queries, 3 of keys and 3 of values, expected a multiple of equal numbers");
  EXPECT_EQ(error(x, x, x, {.form = &general}), "general attention: the weight 'query' is missing, expected [4, 8, 8]");
  EXPECT_NE(error(x, x, x, {.mask = {.key_lengths = tensor({2}, std::vector<int64_t>{3, 4})}}).find("expected 0 to 3"),
            std::string::npos);
  EXPECT_NE(error(x, x, x.to(DType::f64), {}), "no error");
  EXPECT_NE(error(x, x, x, {.probe = Probe{.heads = {4}}}).find("expected 0 to 3"), std::string::npos);
}

TEST(Attend, EmptySequencesGiveZerosOrNothing) {
  EXPECT_EQ(attend(zeros({1, 0, 2, 4}), zeros({1, 3, 2, 4}), zeros({1, 3, 2, 4}), {}, {}).output.elements(), 0);
  const Tensor y = attend(ones({1, 2, 2, 4}), zeros({1, 0, 2, 4}), zeros({1, 0, 2, 5}), {}, {}).output;
  EXPECT_EQ(y.shape(), (Shape{1, 2, 2, 5}));
  EXPECT_EQ(sum(abs(y)).item(), 0);
}

}  // namespace
}  // namespace fovea
