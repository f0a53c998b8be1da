// What is kept of an attention gives its weights again, any part of them, with the same bits.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/attention/attention.h"
#include "fovea/kernels/every_simd.h"
#include "fovea/nn/golden.h"

namespace fovea {
namespace {

struct Case {
  const char* name;
  AttentionOptions options;
};

std::vector<Case> cases() {
  Tensor some = full({1, 1, 9, 11}, 1, DType::i8);
  for (int64_t i = 0; i < some.elements(); i += 3) some.data<int8_t>()[i] = 0;
  return {{"plain", {}},
          {"causal", {.mask = {.causal = true}}},
          {"window", {.mask = {.causal = true, .window = 4}}},
          {"lengths", {.mask = {.key_lengths = tensor({2}, std::vector<int64_t>{7, 11})}}},
          {"visible", {.mask = {.visible = some}}},
          {"slopes", {.bias = {.slopes = tensor({4}, std::vector<double>{0.5, 0.25, 0.1, 0.05}).to(DType::f32)}}},
          {"added", {.bias = {.added = normal({2, 4, 9, 11}, Random(4))}}},
          {"softcap", {.softcap = 2}},
          {"sinks", {.sinks = normal({4}, Random(5))}}};
}

void expect_any_part(Precision precision) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Tensor q = normal({2, 9, 4, 16}, Random(1)), k = normal({2, 11, 2, 16}, Random(2)),
                 v = normal({2, 11, 2, 16}, Random(3));
    AttentionOptions o = c.options;
    o.precision = precision;
    o.probe = Probe{.weights = true, .keep = true};
    const ProbeResult seen = attend(q, k, v, o, {}).probe;
    ASSERT_TRUE(seen.kept);
    EXPECT_EQ(seen.kept->queries(), 9);
    EXPECT_EQ(seen.kept->keys(), 11);
    for (int64_t row = 0; row < 2; ++row) {
      for (int64_t head = 0; head < 4; ++head) {
        const Tensor whole = seen.weights.select(0, row).select(0, head);
        EXPECT_TRUE(same_bits(seen.kept->weights(row, head, {}, {}), whole));
        EXPECT_TRUE(same_bits(seen.kept->weights(row, head, {3, 5}, {}), whole.slice(0, 3, 5)));
        EXPECT_TRUE(same_bits(seen.kept->weights(row, head, {8, 9}, {2, 7}), whole.slice(0, 8, 9).slice(1, 2, 7)));
      }
    }
    EXPECT_THROW(seen.kept->weights(0, 4, {}, {}), Error);
    EXPECT_THROW(seen.kept->weights(2, 0, {}, {}), Error);
    EXPECT_THROW(seen.kept->weights(0, 0, {0, 10}, {}), Error);
  }
}

TEST(KeptAttention, GivesAnyPartOfTheWeightsWithTheSameBits) {
  for_each_simd(
      [] {
        for (Precision p : {Precision::f32, Precision::bf16}) expect_any_part(p);
      },
      emulated_simds());
}

TEST(KeptAttention, PackedSequencesAreKeptOneByOne) {
  const Tensor q = normal({1, 12, 2, 8}, Random(1)), k = normal({1, 12, 2, 8}, Random(2)),
               v = normal({1, 12, 2, 8}, Random(3));
  AttentionOptions o = {.mask = {.causal = true, .query_starts = tensor({3}, std::vector<int64_t>{0, 5, 12})}};
  o.probe = Probe{.weights = true, .keep = true};
  const ProbeResult seen = attend(q, k, v, o, {}).probe;
  for (int64_t row = 0; row < 2; ++row)
    EXPECT_TRUE(same_bits(seen.kept->weights(row, 1, {}, {}), seen.weights.select(0, row).select(0, 1)));
}

// w = exp(scale · q·k − lse), in float64.
void expect_parts_of_weights(Precision precision) {
  const Tensor q = normal({1, 9, 4, 16}, Random(1)), k = normal({1, 9, 2, 16}, Random(2)),
               v = normal({1, 9, 2, 16}, Random(3));
  AttentionOptions o = {
      .mask = {.causal = true}, .probe = Probe{.weights = true, .keep = true}, .precision = precision};
  const ProbeResult seen = attend(q, k, v, o, {}).probe;
  for (int64_t head = 0; head < 4; ++head) {
    const KeptAttention::Parts p = seen.kept->parts(0, head);
    ASSERT_TRUE(p.q && p.causal);
    const std::vector<double> a = p.q.values<double>(), b = p.k.values<double>(), lse = p.lse.values<double>();
    const std::vector<double> w = seen.weights.select(0, 0).select(0, head).values<double>();
    for (size_t i = 0; i < 9; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        double score = 0;
        for (size_t d = 0; d < 16; ++d) score += a[i * 16 + d] * b[j * 16 + d];
        EXPECT_NEAR(std::exp(p.scale * score - lse[i]), w[i * 9 + j], 1e-6);
      }
    }
  }
  AttentionOptions capped = {.softcap = 2, .probe = Probe{.keep = true}};
  EXPECT_FALSE(attend(q, k, v, capped, {}).probe.kept->parts(0, 0).q);
}

TEST(KeptAttention, PartsMakeTheWeights) {
  for_each_simd(
      [] {
        for (Precision p : {Precision::f32, Precision::bf16}) expect_parts_of_weights(p);
      },
      emulated_simds());
}

}  // namespace
}  // namespace fovea
