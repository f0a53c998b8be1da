#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/attention_reference.h"
#include "fovea/kernels/every_simd.h"
#include "test_paths.h"

namespace fovea::kernels {
namespace {

// Everything that goes into and comes out of the backward pass of a case.
struct BackwardArrays {
  AttentionArrays inputs;
  ForwardArrays forward;
  std::vector<float> d_out, d_q, d_k, d_v, d_line, d_bias, d_sinks, d_vector, selected_gradient;
  std::vector<int64_t> selected;

  explicit BackwardArrays(const AttentionCase& c, const std::vector<double>& weights)
      : inputs(c),
        forward(c.shape),
        d_out(floats(AttentionCase::draw(forward.out.size(), 21, 2))),
        d_q(inputs.q.size(), 0.0f),
        d_k(inputs.k.size(), 0.0f),
        d_v(inputs.v.size(), 0.0f),
        d_line(inputs.line.size()),
        d_bias(inputs.bias.size()),
        d_sinks(inputs.sinks.size()),
        d_vector(inputs.vector.size()),
        selected_gradient(floats(weights)) {}
  BackwardArrays(const AttentionCase& c, std::vector<int64_t> chosen, const std::vector<double>& weights)
      : BackwardArrays(c, weights) {
    selected = std::move(chosen);
  }
  void run(const AttentionCase& c) {
    attention_forward(inputs.call, forward.result);
    go_back(c);
  }
  void go_back(const AttentionCase& c) {
    const AttentionShape& s = c.shape;
    auto like = [](std::vector<float>& x, const TokenArray& t) {
      return TokenArrayOut{x.data(), t.batch, t.token, t.head};
    };
    const TokenArrayOut& out = forward.result.out;
    AttentionGradients g = {.out = {out.data, out.batch, out.token, out.head},
                            .d_out = {d_out.data(), out.batch, out.token, out.head},
                            .sums = forward.sums.data(),
                            .d_q = like(d_q, inputs.call.q),
                            .d_k = like(d_k, inputs.call.k),
                            .d_v = like(d_v, inputs.call.v)};
    if (!selected.empty()) g.selected = selected.data(), g.selected_gradient = selected_gradient.data();
    if (!d_line.empty()) g.d_line = d_line.data();
    if (!d_bias.empty()) g.d_bias = {d_bias.data(), s.heads * s.queries * s.keys, s.queries * s.keys, s.keys, 1};
    if (!d_sinks.empty()) g.d_sinks = d_sinks.data();
    if (!d_vector.empty()) g.d_vector = d_vector.data();
    attention_backward(inputs.call, g);
  }
};

double loss(const AttentionCase& c, const ReferenceNumbers& n, const BackwardArrays& b) {
  ReferenceResult r = reference(c, n);
  double sum = 0;
  for (size_t i = 0; i < r.out.size(); ++i) sum += r.out[i] * b.d_out[i];
  if (b.selected.empty()) return sum;
  std::vector<SequenceSpan> list = c.list();
  for (size_t s = 0; s < list.size(); ++s) {
    for (int64_t h = 0; h < c.shape.heads; ++h) {
      for (int64_t i = 0; i < list[s].queries; ++i) {
        int64_t at = (list[s].batch * c.shape.heads + h) * c.shape.queries + list[s].query_begin + i;
        if (b.selected[at] >= 0) sum += b.selected_gradient[at] * std::log(r.weights[c.grid(s, h, i, b.selected[at])]);
      }
    }
  }
  return sum;
}

// Some elements of one gradient against central differences of the float64 formula.
void expect_gradient(const AttentionCase& c, const BackwardArrays& b, std::vector<double> ReferenceNumbers::*field,
                     const std::vector<float>& found, const char* what, int64_t samples) {
  int64_t size = found.size();
  ReferenceNumbers n = c.numbers;
  for (int64_t t = 0; t < samples && t < size; ++t) {
    int64_t at = samples >= size ? t : static_cast<int64_t>(Random(77).below(size, t));
    double& x = (n.*field)[at];
    double kept = x, step = 1e-5;
    x = kept + step;
    double up = loss(c, n, b);
    x = kept - step;
    double down = loss(c, n, b);
    x = kept;
    double expected = (up - down) / (2 * step);
    ASSERT_NEAR(found[at], expected, 3e-5 * (1 + std::abs(expected))) << what << " " << at;
  }
}

void expect_gradients(const AttentionCase& c, bool select = false, int64_t samples = 6) {
  std::vector<int64_t> selected;
  std::vector<double> weights;
  if (select) {
    ReferenceResult r = reference(c, c.numbers);
    weights = AttentionCase::draw(c.shape.batch * c.shape.heads * c.shape.queries, 31, 3);
    for (int64_t row = 0; row < static_cast<int64_t>(weights.size()); ++row) {
      int64_t key = row * 7 % c.shape.keys;
      selected.push_back(r.weights[row * c.shape.keys + key] > 0 ? key : -1);
    }
  }
  for_each_simd([&] {
    BackwardArrays b(c, selected, weights);
    b.run(c);
    expect_gradient(c, b, &ReferenceNumbers::q, b.d_q, "d_q", samples);
    expect_gradient(c, b, &ReferenceNumbers::k, b.d_k, "d_k", samples);
    expect_gradient(c, b, &ReferenceNumbers::v, b.d_v, "d_v", samples);
    expect_gradient(c, b, &ReferenceNumbers::vector, b.d_vector, "d_vector", samples);
    expect_gradient(c, b, &ReferenceNumbers::line, b.d_line, "d_line", samples);
    expect_gradient(c, b, &ReferenceNumbers::bias, b.d_bias, "d_bias", samples);
    expect_gradient(c, b, &ReferenceNumbers::sinks, b.d_sinks, "d_sinks", samples);
  });
}

AttentionCase a_case(int64_t queries = 19, int64_t keys = 23) {
  return AttentionCase(
      {.batch = 2, .queries = queries, .keys = keys, .heads = 4, .key_heads = 2, .width = 5, .value_width = 7});
}

TEST(AttentionBackward, EqualsFiniteDifferencesForOddSizes) {
  for (int64_t width : {1, 3, 17, 40, 64}) {
    for (auto [queries, keys] : {std::pair<int64_t, int64_t>{1, 1}, {7, 17}, {33, 7}, {60, 5}}) {
      SCOPED_TRACE(fmt::format("width {} queries {} keys {}", width, queries, keys));
      expect_gradients(AttentionCase::of_width(width, queries, keys, 1));
    }
  }
}

TEST(AttentionBackward, ManyBlocks) {
  for (bool causal : {false, true}) {
    AttentionCase c(
        {.batch = 1, .queries = 150, .keys = 290, .heads = 2, .key_heads = 1, .width = 6, .value_width = 4});
    c.causal = causal;
    c.make_line();
    expect_gradients(c, true, 8);
  }
}

TEST(AttentionBackward, EveryElementOfASmallCase) {
  AttentionCase c({.batch = 2, .queries = 4, .keys = 6, .heads = 2, .key_heads = 1, .width = 3, .value_width = 2});
  c.causal = true;
  c.make_line(), c.make_bias(), c.make_sinks();
  expect_gradients(c, true, 1000);
}

TEST(AttentionBackward, FeaturesOneByOneAndTogether) {
  for (bool additive : {false, true}) {
    for (int features = 0; features < 64; ++features) {
      if (test_sanitized && std::popcount(unsigned(features)) > 1 && features != 63) continue;
      AttentionCase c = a_case();
      if (additive) c.make_additive();
      c.add(features);
      c.causal = features % 3 == 0;
      if (features % 5 == 0) c.window_left = 9;
      SCOPED_TRACE(fmt::format("additive {} features {}", additive, features));
      expect_gradients(c, features % 2 == 0, 3);
    }
  }
}

TEST(AttentionBackward, PackedSequences) {
  AttentionCase c({.batch = 2, .queries = 30, .keys = 60, .heads = 4, .key_heads = 2, .width = 3, .value_width = 5});
  c.sequences = {{0, 0, 3, 0, 30}, {0, 3, 20, 30, 7}, {1, 10, 0, 0, 5}, {1, 0, 14, 14, 40}};
  c.causal = true;
  c.make_line();
  expect_gradients(c);
}

TEST(AttentionBackward, SequencesWithOffsets) {
  AttentionCase c({.batch = 2, .queries = 30, .keys = 60, .heads = 4, .key_heads = 2, .width = 3, .value_width = 5});
  c.sequences = {{0, 0, 9, 0, 30, 0}, {0, 9, 20, 30, 17, 7}, {1, 0, 14, 0, 40, -3}, {1, 14, 5, 40, 9, 9}};
  c.causal = true;
  c.reach = 90;
  c.numbers.line = AttentionCase::draw(4 * 181, 12, 2);
  expect_gradients(c);
  c.causal = false, c.window_left = 3, c.window_right = 8;
  expect_gradients(c);
}

// Scores of about 12,000 that differ by a little and are exact in float32, against the formula in float64.
TEST(AttentionBackward, LargeScoresLoseNoDigits) {
  const int64_t queries = 20, keys = 150, width = 16;
  AttentionCase c({.queries = queries, .keys = keys, .width = width, .value_width = width});
  c.scale = 1;
  for (int64_t i = 0; i < queries * width; ++i) c.numbers.q[i] = 27 + i * 7 % 5 % 3 - 1.0;
  for (int64_t j = 0; j < keys; ++j) {
    for (int64_t d = 0; d < width; d += 2) {  // pairs whose sum is always the same
      const double step = (j * 5 + d * 3) % 7 % 3 - 1.0;
      c.numbers.k[j * width + d] = 27 + step, c.numbers.k[j * width + d + 1] = 27 - step;
    }
  }
  const ReferenceNumbers& n = c.numbers;
  for_each_simd([&] {
    BackwardArrays b(c, std::vector<double>{});
    b.run(c);
    std::vector<double> out(queries * width), d_q(queries * width), d_k(keys * width), d_v(keys * width);
    for (int64_t i = 0; i < queries; ++i) {
      std::vector<double> p(keys), dp(keys);
      double most = 0, sum = 0, delta = 0;
      for (int64_t j = 0; j < keys; ++j) {
        for (int64_t d = 0; d < width; ++d) p[j] += n.q[i * width + d] * n.k[j * width + d];
        most = std::max(most, p[j]);
      }
      ASSERT_GT(most, 11000);
      for (double& x : p) sum += x = std::exp(x - most);
      for (int64_t j = 0; j < keys; ++j) {
        p[j] /= sum;
        for (int64_t d = 0; d < width; ++d) {
          out[i * width + d] += p[j] * n.v[j * width + d];
          dp[j] += b.d_out[i * width + d] * n.v[j * width + d];
          d_v[j * width + d] += p[j] * b.d_out[i * width + d];
        }
        delta += p[j] * dp[j];
      }
      for (int64_t j = 0; j < keys; ++j) {
        const double ds = p[j] * (dp[j] - delta);
        for (int64_t d = 0; d < width; ++d) {
          d_q[i * width + d] += ds * n.k[j * width + d];
          d_k[j * width + d] += ds * n.q[i * width + d];
        }
      }
    }
    auto expect_close = [](const std::vector<float>& found, const std::vector<double>& expected, double rounding) {
      double size = 0;
      for (double x : expected) size = std::max(size, std::abs(x));
      for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 3e-6 * size + rounding) << i;
    };
    expect_close(b.forward.out, out, 0);
    expect_close(b.d_v, d_v, 0);
    expect_close(b.d_k, d_k, 0);
    expect_close(b.d_q, d_q, 3e-5);  // Σ ds is 0, and each ds is multiplied by about 27
  });
}

TEST(AttentionBackward, NothingToSeeGivesZeros) {
  AttentionCase c = a_case(40, 10);
  c.causal = true;
  for_each_simd([&] {
    BackwardArrays b(c, std::vector<double>{});
    std::fill(b.d_q.begin(), b.d_q.end(), 5.0f);
    b.run(c);
    for (int64_t i = 0; i < 30 * 20; ++i) ASSERT_EQ(b.d_q[i], 0) << i;
    AttentionCase none = a_case(0, 10);
    BackwardArrays empty(none, std::vector<double>{});
    std::fill(empty.d_k.begin(), empty.d_k.end(), 5.0f);
    empty.run(none);
    for (float x : empty.d_k) ASSERT_EQ(x, 0);
  });
}

TEST(AttentionBackward, SameBitsForAnyThreadCountAndBatch) {
  for (bool additive : {false, true}) {
    AttentionCase c(
        {.batch = 2, .queries = 200, .keys = 300, .heads = 4, .key_heads = 2, .width = 12, .value_width = 20});
    c.causal = true;
    if (additive) c.make_additive();
    c.make_line(), c.make_sinks();
    for_each_simd([&] {
      int before = threads();
      set_threads(1);
      BackwardArrays one(c, std::vector<double>{}), many(c, std::vector<double>{}), alone(c, std::vector<double>{});
      one.run(c);
      set_threads(4);
      many.run(c);
      EXPECT_EQ(one.d_q, many.d_q);
      EXPECT_EQ(one.d_k, many.d_k);
      EXPECT_EQ(one.d_v, many.d_v);
      EXPECT_EQ(one.d_line, many.d_line);
      EXPECT_EQ(one.d_sinks, many.d_sinks);
      EXPECT_EQ(one.d_vector, many.d_vector);
      set_threads(before);
      AttentionCase first = c;
      first.shape.batch = 1;
      alone.inputs.call.shape.batch = 1;
      alone.run(first);
      for (size_t i = 0; i < one.d_k.size() / 2; ++i) ASSERT_EQ(one.d_k[i], alone.d_k[i]) << i;
      for (size_t i = 0; i < one.d_q.size() / 2; ++i) ASSERT_EQ(one.d_q[i], alone.d_q[i]) << i;
    });
  }
}

TEST(AttentionBackward, NaNBehindAMaskDoesNotLeak) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (bool additive : {false, true}) {
    AttentionCase c = a_case(30, 140);
    if (additive) c.make_additive();
    c.make_mask();
    for (size_t i = 0; i < c.mask.size(); ++i) {
      if (i % 140 % 20 == 7) c.mask[i] = 0;
    }
    for_each_simd([&] {
      BackwardArrays clean(c, std::vector<double>{}), dirty(c, std::vector<double>{});
      clean.run(c);
      for (int64_t t = 7; t < 280; t += 20) {
        std::fill_n(dirty.inputs.k.begin() + t * 10, 10, nan);
        std::fill_n(dirty.inputs.v.begin() + t * 14, 14, nan);
      }
      dirty.run(c);
      EXPECT_EQ(clean.d_q, dirty.d_q);
      EXPECT_EQ(clean.d_k, dirty.d_k);
      EXPECT_EQ(clean.d_v, dirty.d_v);
      EXPECT_EQ(clean.d_vector, dirty.d_vector);
    });
  }
}

}  // namespace
}  // namespace fovea::kernels
