#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/attention_reference.h"
#include "fovea/kernels/every_simd.h"

namespace fovea::kernels {
namespace {

// All outputs of a probe, filled with what must not stay.
struct ProbeArrays {
  std::vector<int64_t> heads, rows;
  std::vector<float> weights, mass, top_values, entropy, uniforms, log_probability;
  std::vector<int64_t> top_keys, argmax, sampled;
  AttentionProbe probe;

  ProbeArrays(int64_t sequences, std::vector<int64_t> wanted_heads, std::vector<int64_t> wanted_rows,
              AttentionProbe ranges)
      : heads(std::move(wanted_heads)), rows(std::move(wanted_rows)), probe(ranges) {
    int64_t count = sequences * static_cast<int64_t>(heads.size());
    int64_t slots = count * (rows.empty() ? probe.row_end - probe.row_begin : static_cast<int64_t>(rows.size())),
            keys = probe.key_end - probe.key_begin;
    weights.assign(slots * keys, -9), mass.assign(count * keys, -9), top_values.assign(slots * probe.top, -9),
        top_keys.assign(slots * probe.top, -9);
    argmax.assign(slots, -9), sampled.assign(slots, -9), entropy.assign(slots, -9), log_probability.assign(slots, -9);
    for (int64_t i = 0; i < slots; ++i) uniforms.push_back(Random(5).uniform(i));
    probe.heads = heads, probe.rows = rows;
    probe.weights = weights.data(), probe.mass = mass.data(), probe.top_values = top_values.data(),
    probe.top_keys = top_keys.data();
    probe.argmax = argmax.data(), probe.entropy = entropy.data(), probe.uniforms = uniforms.data(),
    probe.sampled = sampled.data();
    probe.log_probability = log_probability.data();
  }
  ProbeArrays(const ProbeArrays&) = delete;
};

// One row's reductions against the float64 weights.
void expect_row(const ProbeArrays& p, int64_t slot, const double* w, int64_t keys) {
  int64_t top = p.probe.top;
  std::vector<int64_t> order(keys);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return w[a] > w[b]; });
  double entropy = 0, before = 0, total = 0;
  for (int64_t j = 0; j < keys; ++j) entropy -= w[j] > 0 ? w[j] * std::log(w[j]) : 0, total += w[j];
  for (int64_t t = 0; t < top; ++t) {
    bool there = t < keys && w[order[t]] > 0;
    ASSERT_NEAR(p.top_values[slot * top + t], there ? w[order[t]] : 0, 3e-6);
    int64_t key = p.top_keys[slot * top + t];
    ASSERT_EQ(key >= 0, there);
    if (there) {
      ASSERT_NEAR(w[key], w[order[t]], 3e-6);
    }
  }
  ASSERT_NEAR(p.entropy[slot], entropy, 3e-5);
  ASSERT_EQ(p.argmax[slot] >= 0, total > 0);
  ASSERT_EQ(p.sampled[slot] >= 0, total > 0);
  if (total == 0) return;
  ASSERT_NEAR(w[p.argmax[slot]], w[order[0]], 3e-6);
  int64_t drawn = p.sampled[slot];
  for (int64_t j = 0; j < drawn; ++j) before += w[j];
  double u = p.uniforms[slot] * total;
  ASSERT_GT(w[drawn], 0);
  ASSERT_GE(u, before - 1e-5);
  ASSERT_LE(u, before + w[drawn] + 1e-5);
  ASSERT_NEAR(p.log_probability[slot], std::log(w[drawn]), 1e-4);
}

void expect_probe(const AttentionCase& c, const std::vector<int64_t>& heads, const std::vector<int64_t>& rows,
                  const AttentionProbe& ranges) {
  ReferenceResult expected = reference(c, c.numbers);
  std::vector<SequenceSpan> list = c.list();
  for_each_simd([&] {
    AttentionArrays arrays(c);
    ForwardArrays plain(c.shape, 0), found(c.shape, 0);
    ProbeArrays p(list.size(), heads, rows, ranges);
    attention_forward(arrays.call, plain.result);
    attention_forward(arrays.call, found.result, p.probe);
    EXPECT_EQ(plain.out, found.out) << "looking changes nothing";
    int64_t count = rows.empty() ? ranges.row_end - ranges.row_begin : static_cast<int64_t>(rows.size()),
            keys = ranges.key_end - ranges.key_begin;
    for (size_t s = 0; s < list.size(); ++s) {
      for (size_t h = 0; h < heads.size(); ++h) {
        std::vector<double> mass(keys, 0.0);
        for (int64_t r = 0; r < count; ++r) {
          int64_t query = rows.empty() ? ranges.row_begin + r : rows[r], slot = (s * heads.size() + h) * count + r;
          bool there = query < list[s].queries;
          std::vector<double> none(list[s].keys, 0.0);
          const double* w = there ? &expected.weights[c.grid(s, heads[h], query, 0)] : none.data();
          for (int64_t j = 0; j < keys; ++j) {
            int64_t key = ranges.key_begin + j;
            double weight = key < list[s].keys ? w[key] : 0;
            mass[j] += weight;
            ASSERT_NEAR(p.weights[slot * keys + j], weight, 3e-6) << s << " " << h << " " << query << " " << key;
            if (weight == 0) {
              ASSERT_EQ(p.weights[slot * keys + j], 0);
            }
          }
          expect_row(p, slot, w, list[s].keys);
        }
        for (int64_t j = 0; j < keys; ++j) ASSERT_NEAR(p.mass[(s * heads.size() + h) * keys + j], mass[j], 2e-5);
      }
    }
  });
}

TEST(AttentionProbe, WholeHeadsEqualTheFormula) {
  for (int features = 0; features < 8; ++features) {
    AttentionCase c(
        {.batch = 2, .queries = 110, .keys = 530, .heads = 4, .key_heads = 2, .width = 20, .value_width = 20});
    c.causal = features & 1;
    if (features & 2) c.make_mask(), c.make_sinks();
    if (features & 4) c.window_left = 60, c.softcap = 2, c.dropout = {0.2f, 9};
    SCOPED_TRACE(features);
    expect_probe(c, {1, 2}, {}, {.row_end = 110, .key_end = 530, .top = 3});
  }
}

TEST(AttentionProbe, ChosenRowsAndKeys) {
  AttentionCase c({.batch = 1, .queries = 130, .keys = 300, .heads = 3, .key_heads = 1, .width = 8, .value_width = 16});
  c.causal = true;
  expect_probe(c, {2, 0}, {0, 3, 64, 129}, {.key_begin = 33, .key_end = 290, .top = 400});
  c.make_additive();
  expect_probe(c, {1}, {}, {.row_begin = 100, .row_end = 140, .key_begin = 5, .key_end = 6, .top = 1});
}

TEST(AttentionProbe, SequencesShorterThanWhatWasAsked) {
  AttentionCase c({.batch = 2, .queries = 60, .keys = 70, .heads = 2, .key_heads = 2, .width = 8, .value_width = 8});
  c.sequences = {{0, 0, 60, 0, 20}, {1, 0, 5, 0, 70}, {1, 5, 1, 32, 0}};
  expect_probe(c, {0, 1}, {}, {.row_end = 60, .key_end = 70, .top = 2});
}

TEST(AttentionProbe, RowsThatSeeNothing) {
  AttentionCase c({.batch = 1, .queries = 40, .keys = 10, .heads = 2, .key_heads = 2, .width = 8, .value_width = 8});
  c.causal = true;
  expect_probe(c, {0, 1}, {}, {.row_end = 40, .key_end = 10, .top = 2});
}

TEST(AttentionProbe, MassHasTheSameBitsForAnyThreadCount) {
  AttentionCase c({.batch = 1, .queries = 500, .keys = 300, .heads = 2, .key_heads = 2, .width = 8, .value_width = 8});
  for_each_simd([&] {
    AttentionArrays arrays(c);
    ForwardArrays found(c.shape);
    ProbeArrays one(1, {0, 1}, {}, {.row_end = 500, .key_end = 300}),
        many(1, {0, 1}, {}, {.row_end = 500, .key_end = 300});
    int before = threads();
    set_threads(1);
    attention_forward(arrays.call, found.result, one.probe);
    set_threads(4);
    attention_forward(arrays.call, found.result, many.probe);
    set_threads(before);
    EXPECT_EQ(one.mass, many.mass);
    EXPECT_EQ(one.weights, many.weights);
    EXPECT_EQ(one.sampled, many.sampled);
  });
}

TEST(AttentionProbe, BadProbesAreErrors) {
  AttentionCase c({.queries = 2, .keys = 2, .width = 8, .value_width = 8});
  AttentionArrays arrays(c);
  ForwardArrays found(c.shape);
  std::vector<int64_t> heads = {1}, head = {0}, rows = {1, 0};
  EXPECT_THROW(attention_forward(arrays.call, found.result, {.heads = heads}), Error);
  EXPECT_THROW(attention_forward(arrays.call, found.result, {.heads = head, .rows = rows}), Error);
  EXPECT_THROW(attention_forward(arrays.call, found.result, {.heads = head, .key_begin = 3, .key_end = 1}), Error);
}

}  // namespace
}  // namespace fovea::kernels
