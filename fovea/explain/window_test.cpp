#include "fovea/explain/window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fovea/attention/attention.h"
#include "fovea/base/threads.h"

namespace fovea {
namespace {

RecordedPlace kept_place(int64_t queries, int64_t keys, bool causal) {
  const Tensor q = normal({1, queries, 2, 8}, Random(1)), k = normal({1, keys, 1, 8}, Random(2)),
               v = normal({1, keys, 1, 8}, Random(3));
  const AttentionOptions options = {.mask = {.causal = causal}, .probe = Probe{.keep = true}};
  RecordedPlace p = {.place = {.path = "a", .heads = 2, .causal = causal}, .heads = {0, 1}};
  p.kept = attend(q, k, v, options, {}).probe.kept;
  return p;
}

// softmax(q·k / √8) in float64, a row at a time.
std::vector<double> formula(const RecordedPlace& p, size_t number, int64_t row) {
  const KeptAttention::Parts parts = parts_of(p, number);
  const std::vector<double> q = parts.q.slice(0, row, row + 1).values<double>(), k = parts.k.values<double>();
  std::vector<double> w(static_cast<size_t>(p.columns()));
  double sum = 0;
  for (size_t j = 0; j < w.size(); ++j) {
    double score = 0;
    for (size_t d = 0; d < q.size(); ++d) score += q[d] * k[j * q.size() + d];
    w[j] = p.place.causal && static_cast<int64_t>(j) > row ? 0 : std::exp(score / std::sqrt(8.0));
    sum += w[j];
  }
  for (double& x : w) x /= sum;
  return w;
}

void expect_formula(const RecordedPlace& p, size_t number, const Window& window) {
  SCOPED_TRACE(fmt::format("level {} from {}, {}", window.level, window.row, window.column));
  const Pooled found = pooled(p, number, window);
  const int64_t side = int64_t{1} << window.level;
  const int64_t row_end = std::min(p.rows(), window.row + window.rows * side),
                column_end = std::min(p.columns(), window.column + window.columns * side);
  ASSERT_EQ(found.rows, (row_end - window.row + side - 1) / side);
  ASSERT_EQ(found.columns, (column_end - window.column + side - 1) / side);
  std::vector<double> largest(found.largest.size()), sum(largest.size()), cells(largest.size());
  for (int64_t i = window.row; i < row_end; ++i) {
    const std::vector<double> w = formula(p, number, i);
    for (int64_t j = window.column; j < column_end; ++j) {
      const auto at = static_cast<size_t>((i - window.row) / side * found.columns + (j - window.column) / side);
      largest[at] = std::max(largest[at], w[static_cast<size_t>(j)]);
      sum[at] += w[static_cast<size_t>(j)], ++cells[at];
    }
  }
  for (size_t at = 0; at < largest.size(); ++at) {
    ASSERT_NEAR(static_cast<double>(found.largest[at]), largest[at], 1e-8 + 2e-5 * largest[at]) << at;
    ASSERT_NEAR(static_cast<double>(found.mean[at]), sum[at] / cells[at], 1e-9 + 2e-5 * sum[at] / cells[at]) << at;
  }
}

TEST(Window, OfThousandsOfRowsEqualsTheFormulaInFloat64) {
  for (const bool causal : {false, true}) {
    const RecordedPlace p = kept_place(5003, 5003, causal);
    expect_formula(p, 0, {.level = 0, .row = 4990, .column = 4000, .rows = 100, .columns = 2000});
    expect_formula(p, 1, {.level = 0, .row = 17, .column = 3, .rows = 1, .columns = 1});
    expect_formula(p, 1, {.level = 1, .row = 1000, .column = 900, .rows = 50, .columns = 90});
    expect_formula(p, 0, {.level = 4, .row = 2000, .column = 1000, .rows = 30, .columns = 300});
    expect_formula(p, 0, {.level = 7, .row = 4096, .column = 0, .rows = 64, .columns = 64});
    expect_formula(p, 0, {.level = 11, .row = 4500, .column = 100, .rows = 9, .columns = 9});
  }
  expect_formula(kept_place(40, 3000, false), 1, {.level = 3, .rows = 256, .columns = 1000});
}

TEST(Window, HasTheSameBitsForAnyNumberOfThreads) {
  const RecordedPlace p = kept_place(700, 700, true);
  const Pooled one = pooled(p, 0, {.level = 2});
  set_threads(3);
  const Pooled three = pooled(p, 0, {.level = 2});
  set_threads(0);
  EXPECT_EQ(one.largest, three.largest);
  EXPECT_EQ(one.mean, three.mean);
}

TEST(Window, OfWholeWeightsPoolsThem) {
  const RecordedPlace kept = kept_place(90, 70, false);
  RecordedPlace whole = {.place = kept.place, .heads = {0}, .weights = kept.part(1, {}, {}).unsqueeze(0)};
  for (const int64_t level : {0, 1, 3, 8}) {
    const Window window = {.level = level, .row = 10, .column = 5};
    const Pooled a = pooled(whole, 0, window), b = pooled(kept, 1, window);
    ASSERT_EQ(a.largest.size(), b.largest.size());
    for (size_t i = 0; i < a.largest.size(); ++i) {
      EXPECT_NEAR(a.largest[i], b.largest[i], 1e-6);
      EXPECT_NEAR(a.mean[i], b.mean[i], 1e-6);
    }
  }
}

// The largest of each row, sorted in float64, and the squares that a window of all has; whole weights give the same.
TEST(Window, ReducedHeadsHaveTheLargestOfEachRow) {
  for (const bool causal : {false, true}) {
    const RecordedPlace p = kept_place(2100, 2100, causal);
    const Reduced seen = reduced(p, 1, {.level = 5, .top = 7});
    const Pooled all = pooled(p, 1, {.level = 5});
    EXPECT_EQ(seen.squares.largest, all.largest);
    EXPECT_EQ(seen.squares.mean, all.mean);
    for (const int64_t row : {0, 3, 64, 1023, 2099}) {
      const std::vector<double> w = formula(p, 1, row);
      std::vector<double> falling = w;
      std::sort(falling.rbegin(), falling.rend());
      for (int64_t t = 0; t < 7; ++t) {
        const auto at = static_cast<size_t>(row * 7 + t);
        const int64_t column = seen.columns.data<int64_t>()[at];
        EXPECT_NEAR(static_cast<double>(seen.largest.data<float>()[at]), falling[static_cast<size_t>(t)], 1e-6);
        ASSERT_EQ(column < 0, falling[static_cast<size_t>(t)] == 0) << row << ", " << t;
        if (column >= 0) {
          EXPECT_NEAR(w[static_cast<size_t>(column)], falling[static_cast<size_t>(t)], 1e-6);
        }
      }
    }
    RecordedPlace whole = {.place = p.place, .heads = {0}, .weights = p.part(1, {}, {}).unsqueeze(0)};
    const Reduced again = reduced(whole, 0, {.level = 5, .top = 7});
    for (int64_t i = 0; i < seen.largest.elements(); ++i)
      ASSERT_NEAR(seen.largest.data<float>()[i], again.largest.data<float>()[i], 1e-6);
    EXPECT_THROW(reduced(whole, 0, {.top = 2101}), Error);
  }
}

// Squares that are there already are put together instead of computed anew.
TEST(Window, SquaresOfSquaresEqualThoseOfWeights) {
  RecordedPlace p = kept_place(777, 777, true), stored = p;
  const int64_t least = 3;
  const Pooled squares = pooled(p, 1, {.level = least, .rows = 100, .columns = 100});
  stored.heads = {1};
  stored.pooled = {least, tensor({1, squares.rows, squares.columns}, squares.largest),
                   tensor({1, squares.rows, squares.columns}, squares.mean)};
  for (const int64_t level : {least, least + 1, least + 3}) {
    const int64_t side = int64_t{1} << level;
    const Window window = {.level = level, .row = side, .column = 0};
    const Pooled a = pooled(stored, 0, window), b = pooled(p, 1, window);
    ASSERT_EQ(a.largest.size(), b.largest.size());
    for (size_t i = 0; i < a.largest.size(); ++i) {
      EXPECT_NEAR(a.largest[i], b.largest[i], 1e-6);
      EXPECT_NEAR(a.mean[i], b.mean[i], 1e-7);
    }
  }
}

TEST(Window, OutsideIsAnError) {
  const RecordedPlace p = kept_place(9, 9, true);
  for (const Window& bad : {Window{.row = 9}, Window{.column = -1}, Window{.level = 32}, Window{.rows = 0},
                            Window{.columns = int64_t{1} << 40}})
    EXPECT_THROW(pooled(p, 0, bad), Error);
  EXPECT_THROW(pooled(p, 2, {}), Error);
}

}  // namespace
}  // namespace fovea
