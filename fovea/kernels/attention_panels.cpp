#include "fovea/base/error.h"
#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/attention_plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention_panels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/attention_additive-inl.h"
#include "fovea/kernels/attention_panels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// TokenArray of one (batch row, key head): whole panels by transposition, single tokens lane by lane.
void pack_tokens(const PackKeys& p, int64_t batch, int64_t head) {
  const float* k = p.k.data + batch * p.k.batch + head * p.k.head;
  float* packed = p.packed + batch * p.packed_batch + head * p.packed_head;
  Scratch scratch;
  float* row = scratch.take<float>(round_up(p.width, panel));
  for (int64_t t = p.begin; t < p.end;) {
    if (t % panel == 0 && t + panel <= p.end) {
      pack_panel(k + (t - p.begin) * p.k.token, p.k.token, panel, p.width, p.score, packed + t * p.width);
      t += panel;
      continue;
    }
    std::copy_n(k + (t - p.begin) * p.k.token, p.width, row);
    std::fill(row + p.width, row + round_up(p.width, panel), 0.0f);
    if (p.score == ScoreKind::additive) exponentiate(row, p.width);
    float* to = packed + t / panel * panel * p.width + t % panel;
    for (int64_t d = 0; d < p.width; ++d) to[d * panel] = row[d];
    ++t;
  }
}

// A few query groups against all panels of K.
void additive_rows_of(const AdditiveScores& a, const float* panels, int64_t begin, int64_t end) {
  Scratch scratch;
  float* q = scratch.take<float>(round_up(end - begin, group_rows) * a.width + panel);
  float* vector = scratch.take<float>(a.width);
  const float** rows = scratch.take<const float*>(end - begin);
  for (int64_t r = begin; r < end; ++r) rows[r - begin] = a.q + r * a.q_stride;
  pack_groups(rows, end - begin, a.width, q);
  exponentiate(q, round_up(end - begin, group_rows) * a.width);
  float base = scale_vector(a.vector, a.width, 1, vector);
  float* edge = scratch.take<float>(group_rows * panel);
  for (int64_t j = 0; j < a.keys; j += panel) {
    int64_t columns = std::min(panel, a.keys - j);
    for (int64_t r = begin; r < end; r += group_rows) {
      int64_t size = std::min<int64_t>(group_rows, end - r);
      const float *group = q + (r - begin) * a.width, *keys = panels + j * a.width;
      float* to = a.scores + r * a.row_stride + j;
      if (columns == panel) {
        additive_panel(group, size, keys, a.width, vector, base, to, a.row_stride);
        continue;
      }
      additive_panel(group, size, keys, a.width, vector, base, edge, panel);
      for (int64_t i = 0; i < size; ++i) std::copy_n(edge + i * panel, columns, to + i * a.row_stride);
    }
  }
}

void pack_additive_keys(const AdditiveScores& a, int64_t key, float* panels) {
  pack_panel(a.k + key * a.k_stride, a.k_stride, std::min(panel, a.keys - key), a.width, ScoreKind::additive,
             panels + key * a.width);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {

HWY_EXPORT(pack_tokens);
HWY_EXPORT(additive_rows_of);
HWY_EXPORT(pack_additive_keys);

void pack_keys(const PackKeys& p) {
  require(p.begin >= 0 && p.begin <= p.end, "pack_keys: found tokens [{}, {}), expected a range from 0 up", p.begin,
          p.end);
  auto pack = HWY_DYNAMIC_DISPATCH(pack_tokens);
  int64_t heads = p.batch * p.key_heads;
  if (heads * (p.end - p.begin) * p.width < 1 << 14) {
    for (int64_t i = 0; i < heads; ++i) pack(p, i / p.key_heads, i % p.key_heads);
    return;
  }
  parallel_for(heads, [&](int64_t i) { pack(p, i / p.key_heads, i % p.key_heads); });
}

void additive_scores(const AdditiveScores& a) {
  if (a.queries == 0 || a.keys == 0) return;
  Scratch scratch;
  float* panels = scratch.take<float>(packed_keys_size(a.keys, a.width));
  auto pack = HWY_DYNAMIC_DISPATCH(pack_additive_keys);
  auto run = HWY_DYNAMIC_DISPATCH(additive_rows_of);
  parallel_ranges((a.keys + 15) / 16, 8, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) pack(a, j * 16, panels);
  });
  int64_t rows = 48;
  parallel_for((a.queries + rows - 1) / rows,
               [&](int64_t i) { run(a, panels, i * rows, std::min(a.queries, (i + 1) * rows)); });
}

}  // namespace fovea::kernels
#endif
