#include "fovea/explain/steps.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/attention/attention.h"

namespace fovea {
namespace {

// softmax(q·k / √4) v of one row, by hand in float64.
TEST(WorkedRow, IsTheFormulaStepByStep) {
  const Tensor q = normal({1, 7, 2, 4}, Random(1)), k = normal({1, 7, 2, 4}, Random(2)),
               v = normal({1, 7, 2, 4}, Random(3));
  const ProbeResult seen = attend(q, k, v, {.probe = Probe{.weights = true, .keep = true}}, {}).probe;
  const RecordedPlace p = {.place = {.path = "a", .heads = 2},
                           .heads = {0, 1},
                           .weights = seen.weights.select(0, 0).contiguous(),
                           .kept = seen.kept};
  const WorkedRow row = worked_row(p, 1, 5, {.keys = 3, .numbers = 2});
  auto number = [](const Tensor& x, int64_t token, int64_t d) {
    return x.select(0, 0).select(0, token).select(0, 1).values<double>()[static_cast<size_t>(d)];
  };
  std::vector<double> scores;
  double sum = 0;
  for (int64_t j = 0; j < 7; ++j) {
    double product = 0;
    for (int64_t d = 0; d < 4; ++d) product += number(q, 5, d) * number(k, j, d);
    scores.push_back(product / 2), sum += std::exp(product / 2);
  }
  EXPECT_EQ(row.width, 4);
  EXPECT_DOUBLE_EQ(row.scale, 0.5);
  EXPECT_NEAR(row.lse, std::log(sum), 1e-6);
  ASSERT_EQ(row.q.size(), 2u);
  EXPECT_DOUBLE_EQ(row.q[1], number(q, 5, 1));
  ASSERT_EQ(row.keys.size(), 3u);
  double told = 0;
  for (const WorkedRow::Key& one : row.keys) {
    EXPECT_NEAR(one.score, scores[static_cast<size_t>(one.column)], 1e-6);
    EXPECT_NEAR(one.weight, std::exp(scores[static_cast<size_t>(one.column)]) / sum, 1e-6);
    EXPECT_DOUBLE_EQ(one.k[0], number(k, one.column, 0));
    EXPECT_DOUBLE_EQ(one.brings[1], number(v, one.column, 1));
    told += one.weight;
  }
  EXPECT_NEAR(row.others, 1 - told, 1e-6);
  for (size_t d = 0; d < 2; ++d) {
    double context = 0;
    for (int64_t j = 0; j < 7; ++j)
      context += std::exp(scores[static_cast<size_t>(j)]) / sum * number(v, j, static_cast<int64_t>(d));
    EXPECT_NEAR(row.context[d], context, 1e-6);
  }
  EXPECT_THROW(worked_row(p, 1, 7), Error);
  EXPECT_THROW(worked_row({.place = {.path = "a"}, .heads = {0}, .weights = p.weights}, 0, 0), Error);
}

}  // namespace
}  // namespace fovea
