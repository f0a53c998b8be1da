// A forward task in f32, on vectors: dot or additive scores.
//
//   VectorPass(job, task).run();
#if defined(FOVEA_KERNELS_ATTENTION_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_VECTORS_INL_H_
#undef FOVEA_KERNELS_ATTENTION_VECTORS_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_VECTORS_INL_H_
#endif

#include <hwy/highway.h>

#include "fovea/kernels/attention_additive-inl.h"
#include "fovea/kernels/attention_products-inl.h"
#include "fovea/kernels/attention_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Halves of a unit's pages as floats, tokens [begin, end).
HWY_INLINE void unpack_block(const ForwardJob& job, const ForwardUnit& unit, int64_t begin, int64_t end) {
  const AttentionShape& shape = job.attention.shape;
  const PageLayout page = page_of(job.attention);
  for (int64_t j = begin; j < end; ++j) {
    const float* head = unit.pages[j / page.tokens] + unit.first_key;
    const int64_t token = j % page.tokens;
    if (token % panel == 0)
      from_halves(reinterpret_cast<const uint16_t*>(head + token * page.key_floats()), panel * shape.width,
                  unit.own_panels + j * shape.width);
    from_halves(reinterpret_cast<const uint16_t*>(head + page.values()) + token * page.value_stride(),
                page.value_stride(), unit.own_values + j * unit.value_stride);
  }
}

// Packs one key block of a unit: K into panels, V into contiguous rows of whole vectors. What has pages is only looked
// through for odd numbers, unless it is halves.
HWY_INLINE void pack_block(const ForwardJob& job, const ForwardUnit& unit, int64_t block) {
  const Attention& a = job.attention;
  const AttentionShape& shape = a.shape;
  const SequenceSpan& s = job.sequences[unit.sequence];
  int64_t begin = block * block_keys, end = std::min(s.keys, begin + block_keys);
  const bool from_pages = unit.pages && unit.own_panels;
  if (from_pages) unpack_block(job, unit, begin, end);
  if (unit.own_panels && !from_pages) {
    const float* k = a.k.data + s.batch * a.k.batch + s.key_begin * a.k.token + unit.key_head * a.k.head;
    for (int64_t j = begin; j < end; j += panel) {
      pack_panel(k + j * a.k.token, a.k.token, std::min(panel, end - j), shape.width, a.score,
                 unit.own_panels + j * shape.width);
    }
    if (job.halves) round_to_halves(unit.own_panels + begin * shape.width, round_up(end - begin, panel) * shape.width);
  }
  if (unit.pages && !from_pages) {
    bool odd = false;
    for (int64_t j = begin, n; j < end && !odd; j += n) {
      n = unit.neighbours(j, end);
      odd = has_odd_numbers(unit.value_at(j), n * unit.value_stride);
    }
    unit.odd[block] = odd;
  }
  if (unit.own_values && !from_pages) {
    const float* v = a.v.data + s.batch * a.v.batch + s.key_begin * a.v.token + unit.key_head * a.v.head;
    pack_rows(v + begin * a.v.token, a.v.token, end - begin, shape.value_width,
              unit.own_values + begin * unit.value_stride);
    if (job.halves) round_to_halves(unit.own_values + begin * unit.value_stride, (end - begin) * unit.value_stride);
  }
  if (unit.own_values) {
    unit.odd[block] = has_odd_numbers(unit.own_values + begin * unit.value_stride, (end - begin) * unit.value_stride);
  }
}

class VectorPass : ForwardRows {
 public:
  VectorPass(ForwardJob& job, const ForwardTask& task) : ForwardRows(job, task, task.rows(), block_keys) {
    scores_ = scratch_.take<float>(rows_ * score_stride);
    queries_ = scratch_.take<float>(round_up(rows_, group_rows) * a_.shape.width + panel);
    groups_ = scratch_.take<Columns>(rows_ / group_rows + 1);
    pack_queries();
  }

  void run() {
    const KeyRange blocks = visible_blocks();
    for (int64_t block = blocks.begin; block < blocks.end; ++block) run_block(block);
    finish(blocks);
  }

 private:
  static constexpr int64_t fetched_ahead = 64;  // keys

  void pack_queries() {
    const float** from = scratch_.take<const float*>(rows_);
    for (int64_t r = 0; r < rows_; ++r) from[r] = query_of(r);
    pack_groups(from, rows_, a_.shape.width, queries_);
    int64_t count = round_up(rows_, group_rows) * a_.shape.width;
    if (a_.score == ScoreKind::dot) return multiply(queries_, count, score_factor(a_));
    exponentiate(queries_, count);
    vector_ = scratch_.take<float>(a_.shape.width);
    base_ = scale_vector(a_.vector + task_.head * a_.shape.width, a_.shape.width, score_factor(a_), vector_);
  }

  void run_block(int64_t block) {
    int64_t start = block * block_keys, groups = (rows_ + group_rows - 1) / group_rows;
    for (int64_t g = 0; g < groups; ++g) groups_[g] = needed(start, g * group_rows, group_size(g), panel);
    if (unit_.pages && !unit_.own_values)
      for (int64_t j = start; j < start + fetched_ahead; j += panel) fetch_values(j, s_.keys);
    if (unit_.halves) {
      dot_scores(queries_, rows_, panels_of<uint16_t>(start), a_.shape.width, groups_, scores_);
    } else if (a_.score == ScoreKind::dot) {
      dot_scores(queries_, rows_, panels_of<float>(start), a_.shape.width, groups_, scores_);
    } else {
      const BlockPanels<float> panels = panels_of<float>(start);
      for (int64_t g = 0; g < groups; ++g) {
        for (int64_t j = groups_[g].first; j < groups_[g].last; j += panel) {
          additive_panel(queries_ + g * group_rows * a_.shape.width, group_size(g), panels.at[j / panel],
                         a_.shape.width, vector_, base_, scores_ + g * group_rows * score_stride + j, score_stride);
        }
      }
    }
    for (int64_t g = 0; g < groups; ++g) {
      soften<false, group_rows, score_stride>(g * group_rows, group_size(g), groups_[g],
                                              scores_ + g * group_rows * score_stride);
    }
    for (int64_t g = 0; g < groups; ++g) mix_group(block, g);
  }

  template <class Number>
  BlockPanels<Number> panels_of(int64_t start) const {
    BlockPanels<Number> panels;
    for (int64_t j = start; j < std::min(start + block_keys, s_.keys); j += panel) {
      panels.at[(j - start) / panel] = reinterpret_cast<const Number*>(unit_.panel_at(j));
    }
    return panels;
  }

  void mix_group(int64_t block, int64_t g) {
    const Columns& c = groups_[g];
    const int64_t end = std::min(c.start + c.last, s_.keys);
    const bool odd = !unit_.odd || unit_.odd[block];
    const bool paged = unit_.pages && !unit_.own_values;
    for (int64_t j = c.start + c.first, n; j < end; j += n) {
      n = unit_.neighbours(j, end);
      if (paged) n = std::min(n, panel), fetch_values(j + fetched_ahead, end);
      mix_run(g, {j, j + n}, scores_ + g * group_rows * score_stride + (j - c.start), odd);
    }
  }

  // The hardware does not know that one page follows another.
  void fetch_values(int64_t key, int64_t end) const {
    for (int64_t j = key; j < std::min(key + panel, end); ++j) fetch_row(unit_.value_at(j), unit_.value_stride);
  }

  // Values that stand one after another; p is their weights in the group's first row.
  void mix_run(int64_t g, const KeyRange& keys, const float* p, bool odd) {
    const int64_t count = keys.end - keys.begin, stride = unit_.value_stride;
    const float* v = unit_.value_at(keys.begin);
    if (unit_.halves) return mix_values(g, keys, p, odd, reinterpret_cast<const uint16_t*>(v), 2 * stride);
    if (unit_.pages || unit_.own_values || a_.shape.value_width % panel == 0)
      return mix_values(g, keys, p, odd, v, stride);
    Scratch scratch;
    float* copy = scratch.take<float>(count * columns_);
    pack_rows(v, stride, count, a_.shape.value_width, copy);
    mix_values(g, keys, p, odd, copy, columns_);
  }

  template <class Number>
  void mix_values(int64_t g, const KeyRange& keys, const float* p, bool odd, const Number* v, int64_t stride) {
    const int64_t count = keys.end - keys.begin, row = g * group_rows;
    float* o = out_ + row * columns_;
    if (!odd || !partly_masked(row, group_size(g), keys)) {
      return mix_rows<false>(p, group_size(g), v, stride, count, o, columns_, columns_ / panel);
    }
    for (int64_t r = 0; r < group_size(g); ++r) {
      mix_seen(row_[row + r], keys.begin, count, p + r * score_stride, v, stride, o + r * columns_);
    }
  }

  // The same sums over what the row sees only, for values whose product with 0 is not 0.
  template <class Number>
  void mix_seen(const Row& row, int64_t key, int64_t count, const float* p, const Number* v, int64_t stride, float* o) {
    for (int64_t j = 0; j < count; ++j) {
      if (!sees(row, key + j)) continue;
      mix_rows<false>(p + j, 1, v + j * stride, stride, 1, o, columns_, columns_ / panel);
    }
  }

  int64_t group_size(int64_t g) const { return std::min<int64_t>(group_rows, rows_ - g * group_rows); }

  float *scores_, *queries_;
  Columns* groups_;
  float* vector_ = nullptr;
  float base_ = 0;
};

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
