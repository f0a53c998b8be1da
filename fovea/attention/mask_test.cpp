#include "fovea/attention/mask.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/attention/attention.h"
#include "fovea/base/random.h"
#include "fovea/tensor/gradient_check.h"

namespace fovea {
namespace {

Tensor numbers(const std::vector<int64_t>& values) { return tensor({static_cast<int64_t>(values.size())}, values); }

// One string for each batch row, its queries behind one another.
std::vector<std::string> drawn(const Mask& mask, int64_t batch, int64_t queries, int64_t keys) {
  const std::vector<int8_t> seen = dense_mask(mask, batch, queries, keys).values<int8_t>();
  std::vector<std::string> rows(static_cast<size_t>(batch));
  for (size_t i = 0; i < seen.size(); ++i) {
    std::string& row = rows[i / static_cast<size_t>(queries * keys)];
    if (i % static_cast<size_t>(queries * keys) != 0 && i % static_cast<size_t>(keys) == 0) row += ' ';
    row += seen[i] ? 'x' : '.';
  }
  return rows;
}

using Rows = std::vector<std::string>;

// As in PyTorch: tril(ones) & key_padding.
TEST(Masks, CausalAndPaddingAreBothTrue) {
  EXPECT_EQ(drawn({.causal = true, .key_lengths = numbers({4, 2, 0})}, 3, 4, 4),
            (Rows{"x... xx.. xxx. xxxx", "x... xx.. xx.. xx..", ".... .... .... ...."}));
  EXPECT_EQ(drawn({.causal = true, .key_lengths = numbers({4, 2}), .query_lengths = numbers({3, 2})}, 2, 4, 4),
            (Rows{"x... xx.. xxx. ....", "x... xx.. .... ...."}));
  EXPECT_EQ(drawn({.causal = true, .window = 2, .key_lengths = numbers({4, 2})}, 2, 4, 4),
            (Rows{"x... xx.. .xx. ..xx", "x... xx.. .x.. ...."}));
}

TEST(Masks, FewerQueriesStandAtTheLastKeys) {
  EXPECT_EQ(drawn({.causal = true}, 1, 2, 4), (Rows{"xxx. xxxx"}));
  EXPECT_EQ(drawn({.causal = true}, 1, 4, 2), (Rows{".. .. x. xx"}));
  EXPECT_EQ(drawn({.causal = true, .key_lengths = numbers({4, 2})}, 2, 2, 4), (Rows{"xxx. xxxx", "xx.. xx.."}));
  EXPECT_EQ(drawn({.window = 1}, 1, 2, 4), (Rows{"..x. ...x"}));
}

TEST(Masks, OffsetsSayWhereTheFirstQueryStands) {
  // Two rows of a decoder whose caches hold 4 and 2 tokens, two of them new.
  EXPECT_EQ(drawn({.causal = true, .query_offsets = numbers({2, 0}), .key_lengths = numbers({4, 2})}, 2, 2, 4),
            (Rows{"xxx. xxxx", "x... xx.."}));
  EXPECT_EQ(drawn({.causal = true, .query_offsets = numbers({-1})}, 1, 3, 3), (Rows{"... x.. xx."}));
  EXPECT_EQ(drawn({.causal = true,
                   .query_offsets = numbers({0, 1}),
                   .query_starts = numbers({0, 1, 3}),
                   .key_starts = numbers({0, 2, 5})},
                  1, 3, 5),
            (Rows{"x.... ..xx. ..xxx"}));
}

TEST(Masks, PackedSequencesSeeThemselves) {
  EXPECT_EQ(drawn({.causal = true, .query_starts = numbers({0, 1, 3})}, 1, 3, 3), (Rows{"x.. .x. .xx"}));
  EXPECT_EQ(drawn({.query_starts = numbers({0, 1, 3}), .key_starts = numbers({0, 2, 3})}, 1, 3, 3),
            (Rows{"xx. ..x ..x"}));
}

// With queries of zeros the weights are the mask's and ALiBi's alone: exp(−slope · distance), normalised.
TEST(Masks, TheKernelSeesTheSameWithTheSameDistances) {
  const Tensor q = zeros({2, 4, 1, 8}), k = normal({2, 4, 1, 8}, Random(1));
  const AttentionOptions options = {.mask = {.causal = true, .key_lengths = numbers({4, 2})},
                                    .bias = {.slopes = tensor({1}, std::vector<float>{0.5f})},
                                    .probe = Probe{.weights = true}};
  const std::vector<float> weights = attend(q, k, k, options, {}).probe.weights.values<float>();
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t last = std::min<int64_t>(i, b == 0 ? 3 : 1);
      double sum = 0;
      for (int64_t j = 0; j <= last; ++j) sum += std::exp(-0.5 * static_cast<double>(i - j));
      for (int64_t j = 0; j < 4; ++j) {
        const double expected = j <= last ? std::exp(-0.5 * static_cast<double>(i - j)) / sum : 0;
        EXPECT_NEAR(weights[static_cast<size_t>((b * 4 + i) * 4 + j)], expected, 1e-6) << b << ", " << i << ", " << j;
      }
    }
  }
}

TEST(Masks, SayWhatDoesNotFit) {
  auto error = [](const Mask& mask) { return error_of([&] { dense_mask(mask, 2, 3, 4); }); };
  EXPECT_EQ(error({.query_offsets = numbers({0})}), "mask: found query_offsets I64 [1], expected I64 [2]");
  EXPECT_EQ(error({.query_offsets = numbers({0, 5})}), "mask: found 5 in query_offsets, expected -3 to 4");
  EXPECT_NE(error({.key_lengths = numbers({0, 5})}).find("expected 0 to 4"), std::string::npos);
  EXPECT_NE(error({.query_starts = numbers({0})}).find("batch of 2"), std::string::npos);
}

}  // namespace
}  // namespace fovea
