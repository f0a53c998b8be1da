// One task of the backward pass: a key block against all queries that see it, and the packing that comes before.
//
//   dV += Pᵀ dO,  dK += dSᵀ Q,  dQ += dS K
//
// dK and dV belong to the task. dQ is shared by the tasks of a head, which add to a query block in the order of their
// key blocks.
#if defined(FOVEA_KERNELS_ATTENTION_BACKWARD_PASS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_BACKWARD_PASS_INL_H_
#undef FOVEA_KERNELS_ATTENTION_BACKWARD_PASS_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_BACKWARD_PASS_INL_H_
#endif

#include <hwy/highway.h>

#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/attention_additive-inl.h"
#include "fovea/kernels/attention_backward.h"
#include "fovea/kernels/attention_gradients-inl.h"
#include "fovea/kernels/attention_panels-inl.h"
#include "fovea/kernels/attention_products-inl.h"
#include "fovea/kernels/attention_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void pack_key_block(const BackwardJob& job, BackwardUnit& unit, int64_t block) {
  const Attention& a = job.attention;
  const SequenceSpan& s = job.sequences[unit.sequence];
  int64_t begin = block * backward_keys, end = std::min(s.keys, begin + backward_keys);
  int64_t width = a.shape.width, value_width = a.shape.value_width, padded = round_up(width, panel);
  const float* k = a.k.data + s.batch * a.k.batch + s.key_begin * a.k.token + unit.key_head * a.k.head;
  const float* v = a.v.data + s.batch * a.v.batch + s.key_begin * a.v.token + unit.key_head * a.v.head;
  for (int64_t j = begin; j < end; j += panel) {
    int64_t count = std::min(panel, end - j);
    pack_panel(k + j * a.k.token, a.k.token, count, width, a.score, unit.key_panels + j * width);
    pack_panel(v + j * a.v.token, a.v.token, count, value_width, ScoreKind::dot, unit.value_panels + j * value_width);
  }
  if (a.score == ScoreKind::additive) return;
  pack_rows(k + begin * a.k.token, a.k.token, end - begin, width, unit.key_rows + begin * padded);
  unit.odd[block] = has_odd_numbers(unit.key_rows + begin * padded, (end - begin) * padded);
}

// One query block of one head: packed q and d_out, and the numbers of each row.
HWY_INLINE void pack_query_block(const BackwardJob& job, const BackwardUnit& unit, BackwardHead& head, int64_t block) {
  const Attention& a = job.attention;
  const AttentionGradients& g = job.gradients;
  const SequenceSpan& s = job.sequences[unit.sequence];
  int64_t begin = block * backward_queries, count = std::min(s.queries, begin + backward_queries) - begin;
  int64_t width = a.shape.width, value_width = a.shape.value_width, groups = round_up(count, group_rows);
  auto row = [&](const TokenArray& x, int64_t i) {
    return x.data + s.batch * x.batch + (s.query_begin + i) * x.token + head.head * x.head;
  };
  const float *q[backward_queries], *d_out[backward_queries];
  for (int64_t i = 0; i < count; ++i) q[i] = row(a.q, begin + i), d_out[i] = row(g.d_out, begin + i);
  float *to_q = head.query_groups + begin * width, *to_d_out = head.gradient_groups + begin * value_width;
  pack_groups(q, count, width, to_q);
  pack_groups(d_out, count, value_width, to_d_out);
  if (a.score == ScoreKind::dot) {
    multiply(to_q, groups * width, score_factor(a));
    pack_rows(q[0], a.q.token, count, width, head.query_rows + begin * round_up(width, panel));
  } else {
    exponentiate(to_q, groups * width);
  }
  pack_rows(d_out[0], g.d_out.token, count, value_width, head.gradient_rows + begin * round_up(value_width, panel));
  std::fill_n(head.d_query + begin * round_up(width, panel), count * round_up(width, panel), 0.0f);
  int64_t first = (s.batch * a.shape.heads + head.head) * a.shape.queries + s.query_begin + begin;
  for (int64_t i = 0; i < count; ++i) {
    const float* out = row(g.out, begin + i);
    float delta = dot_product(d_out[i], out, value_width);
    if (g.selected && g.selected[first + i] >= 0) delta += g.selected_gradient[first + i];
    head.delta[begin + i] = delta;
    const RowSum& row_sum = g.sums[first + i];
    head.maximum[begin + i] = row_sum.maximum;
    head.inverse[begin + i] = row_sum.sum == 0 ? 0 : 1 / row_sum.sum;
  }
  if (!visible_blocks(a, s, begin, begin + count - 1).empty()) return;
  for (int64_t i = 0; i < count; ++i) {
    std::fill_n(g.d_q.data + s.batch * g.d_q.batch + (s.query_begin + begin + i) * g.d_q.token + head.head * g.d_q.head,
                width, 0.0f);
  }
}

// One key block against all queries that see it.
class BackwardPass {
 public:
  BackwardPass(BackwardJob& job, const BackwardTask& task)
      : job_(job),
        a_(job.attention),
        g_(job.gradients),
        task_(task),
        unit_(job.units[task.unit]),
        s_(job.sequences[unit_.sequence]),
        start_(task.block * backward_keys),
        keys_(std::min(s_.keys - start_, backward_keys)),
        width_(a_.shape.width),
        value_width_(a_.shape.value_width),
        width_padded_(round_up(width_, panel)),
        value_padded_(round_up(value_width_, panel)) {
    scores_ = scratch_.take<float>(backward_queries * score_stride);
    ds_ = scratch_.take<float>(backward_queries * score_stride);
    slopes_ = scratch_.take<float>(block_keys);
    factors_ = scratch_.take<float>(block_keys);
    d_key_ = scratch_.take<float>(backward_keys * width_padded_);
    d_value_ = scratch_.take<float>(backward_keys * value_padded_);
    if (g_.d_line) d_line_ = scratch_.take<float>(s_.queries + backward_keys);
    if (a_.score == ScoreKind::additive)
      d_vector_ = scratch_.take<float>(width_), vector_ = scratch_.take<float>(width_);
  }

  void run() {
    load_sums();
    for (const BackwardHead& head : unit_.heads) {
      if (d_line_) std::fill_n(d_line_, s_.queries + backward_keys, 0.0f);
      if (d_vector_) {
        std::fill_n(d_vector_, width_, 0.0f);
        base_ = scale_vector(a_.vector + head.head * width_, width_, score_factor(a_), vector_);
      }
      for (int64_t q = 0; q < s_.queries; q += backward_queries) {
        int64_t count = std::min(backward_queries, s_.queries - q);
        KeyRange blocks = visible_blocks(a_, s_, q, q + count - 1);
        if (task_.block >= blocks.begin && task_.block < blocks.end) run_queries(head, q, count, blocks);
      }
      if (d_line_ || (d_vector_ && g_.d_vector)) share(head);
    }
    store_sums();
    if (g_.d_line || g_.d_vector) job_.shared_turns[unit_.key_head].store(task_.turn + 1, std::memory_order_release);
  }

 private:
  // Sums over query heads go on where the wave before left them.
  void load_sums() {
    std::fill_n(d_key_, round_up(keys_, panel) * width_padded_, 0.0f);
    std::fill_n(d_value_, round_up(keys_, panel) * value_padded_, 0.0f);
    if (unit_.first) return;
    for (int64_t j = 0; j < keys_; ++j) {
      const float *k = d_key_row(j), *v = d_value_row(j);
      for (int64_t c = 0; c < width_; ++c) d_key_[key_at(j, c)] = k[c];
      for (int64_t c = 0; c < value_width_; ++c) d_value_[j * value_padded_ + c] = v[c];
    }
  }

  void store_sums() {
    for (int64_t j = 0; j < keys_; ++j) std::copy_n(d_value_ + j * value_padded_, value_width_, d_value_row(j));
    if (a_.score == ScoreKind::additive) return store_key_panels();
    const float scale = unit_.last ? a_.scale : 1;
    for (int64_t j = 0; j < keys_; ++j) {
      float* k = d_key_row(j);
      for (int64_t c = 0; c < width_; ++c) k[c] = d_key_[j * width_padded_ + c] * scale;
    }
  }

  // Panels [width][16] back into rows of keys.
  void store_key_panels() {
    for (int64_t j = 0; j < keys_; j += panel) {
      for (int64_t c = 0; c < width_; c += 4) {
        const float* columns[4] = {};
        const int64_t count = std::min<int64_t>(4, width_ - c);
        for (int64_t i = 0; i < count; ++i) columns[i] = d_key_ + j * width_ + (c + i) * panel;
        transpose_rows(columns, count, std::min(panel, keys_ - j), d_key_row(j) + c, g_.d_k.token);
      }
    }
  }

  float* d_key_row(int64_t j) const {
    return g_.d_k.data + s_.batch * g_.d_k.batch + (s_.key_begin + start_ + j) * g_.d_k.token +
           unit_.key_head * g_.d_k.head;
  }
  float* d_value_row(int64_t j) const {
    return g_.d_v.data + s_.batch * g_.d_v.batch + (s_.key_begin + start_ + j) * g_.d_v.token +
           unit_.key_head * g_.d_v.head;
  }
  // Additive sums are kept in panels, the others in rows.
  int64_t key_at(int64_t j, int64_t c) const {
    return a_.score == ScoreKind::dot ? j * width_padded_ + c : j / panel * panel * width_ + c * panel + j % panel;
  }

  void run_queries(const BackwardHead& head, int64_t q, int64_t count, const KeyRange& blocks) {
    Columns groups[backward_queries / 4 + 1];
    int64_t group_count = (count + group_rows - 1) / group_rows;
    bool clipped = false;
    for (int64_t g = 0; g < group_count; ++g) {
      int64_t first = q + g * group_rows, last = std::min(q + count, first + group_rows) - 1;
      KeyRange seen = visible_keys(a_, s_, first, last);
      int64_t begin = std::clamp<int64_t>(seen.begin - start_, 0, keys_) / panel * panel;
      int64_t end = round_up(std::clamp<int64_t>(seen.end - start_, 0, keys_), panel);
      groups[g] = begin < end ? Columns{start_, begin, end} : Columns{start_, 0, 0};
      clipped = clipped || groups[g].first != groups[0].first || groups[g].last != groups[0].last;
    }
    score(head, q, count, groups);
    for (int64_t i = 0; i < count; ++i) differentiate(head, q + i, groups[i / group_rows], i);
    if (!clipped) {
      add_products(head, q, 0, count, groups[0]);
    } else {
      for (int64_t g = 0; g < group_count; ++g) {
        add_products(head, q, g * group_rows, std::min<int64_t>(group_rows, count - g * group_rows), groups[g]);
      }
    }
    std::atomic<int64_t>& turn = job_.turns[head.first_turn + q / backward_queries];
    wait_for_turn(turn, task_.block - blocks.begin);
    for (int64_t g = 0; g < group_count; ++g) {
      add_query_gradient(head, q + g * group_rows, g * group_rows,
                         std::min<int64_t>(group_rows, count - g * group_rows), groups[g]);
    }
    if (task_.block + 1 == blocks.end) finish_queries(head, q, count);
    turn.store(task_.block - blocks.begin + 1, std::memory_order_release);
  }

  // S and dP, raw.
  void score(const BackwardHead& head, int64_t q, int64_t count, const Columns* groups) {
    const float *queries = head.query_groups + q * width_, *panels = unit_.key_panels + start_ * width_;
    if (a_.score == ScoreKind::dot) {
      dot_scores(queries, count, neighbours(panels, width_), width_, groups, scores_);
    } else {
      for (int64_t r = 0; r < count; r += group_rows) {
        const Columns& c = groups[r / group_rows];
        for (int64_t j = c.first; j < c.last; j += panel) {
          additive_panel(queries + r * width_, std::min<int64_t>(group_rows, count - r), panels + j * width_, width_,
                         vector_, base_, scores_ + r * score_stride + j, score_stride);
        }
      }
    }
    dot_scores(head.gradient_groups + q * value_width_, count,
               neighbours(unit_.value_panels + start_ * value_width_, value_width_), value_width_, groups, ds_);
  }

  // Row i of the block: S becomes the (dropped) weights, dP becomes dS of the raw products.
  void differentiate(const BackwardHead& head, int64_t query, const Columns& c, int64_t i) {
    if (c.first == c.last) return;
    Row row = {unit_.sequence, head.head, query, s_.shift(), visible_keys(a_, s_, query)};
    float *s = scores_ + i * score_stride, *ds = ds_ + i * score_stride;
    finish_scores(a_, row, c, s, slopes_);
    const WeightsOfRow weights = {head.maximum[query], head.inverse[query], head.delta[query]};
    if (a_.dropout.probability > 0) {
      dropout_factors(a_.dropout, row, c, factors_);
      dropped_gradient(c, factors_, weights, s, ds);
    } else {
      weight_gradient(c, weights, s, ds);
    }
    if (g_.selected) {
      int64_t at = (s_.batch * a_.shape.heads + head.head) * a_.shape.queries + s_.query_begin + query;
      int64_t column = g_.selected[at] - start_;
      if (g_.selected[at] >= 0 && column >= c.first && column < c.last) ds[column] += g_.selected_gradient[at];
    }
    KeyRange r = c.of(row.seen);
    if (g_.d_bias.data) {
      const Grid<float>& to = g_.d_bias;
      float* d_bias = to.data + row.sequence * to.batch + row.head * to.head + query * to.query + start_ * to.key;
      for (int64_t j = r.begin; j < r.end; ++j) d_bias[j * to.key] = ds[j];
    }
    if (d_line_) add_row(ds + r.begin, r.end - r.begin, d_line_ + s_.queries - 1 - query + r.begin);
    if (a_.softcap > 0) multiply_row(c, slopes_, ds);
  }

  // dV += Pᵀ dO and dK += dSᵀ Q for rows [row, row + count) of the block that begins with query q.
  void add_products(const BackwardHead& head, int64_t q, int64_t row, int64_t count, const Columns& c) {
    int64_t columns = c.last - c.first;
    if (columns == 0) return;
    const float* d_out = head.gradient_rows + (q + row) * value_padded_;
    mix_rows<true>(scores_ + row * score_stride + c.first, columns, d_out, value_padded_, count,
                   d_value_ + c.first * value_padded_, value_padded_, value_padded_ / panel);
    if (a_.score == ScoreKind::additive) return;
    mix_rows<true>(ds_ + row * score_stride + c.first, columns, head.query_rows + (q + row) * width_padded_,
                   width_padded_, count, d_key_ + c.first * width_padded_, width_padded_, width_padded_ / panel);
  }

  // dQ += dS K; for additive scores all gradients of the scores.
  void add_query_gradient(const BackwardHead& head, int64_t query, int64_t row, int64_t count, const Columns& c) {
    int64_t keys = std::min(c.last, keys_) - c.first;
    if (keys <= 0) return;
    float* to = head.d_query + query * width_padded_;
    const float* ds = ds_ + row * score_stride;
    if (a_.score == ScoreKind::additive) {
      return additive_gradient(
          {head.query_groups + query * width_, unit_.key_panels + start_ * width_, a_.vector + head.head * width_,
           width_, count, ds, to, width_padded_, d_key_, d_vector_},
          c);
    }
    const float* k = unit_.key_rows + (start_ + c.first) * width_padded_;
    if (!unit_.odd[task_.block]) {
      return mix_rows<false>(ds + c.first, count, k, width_padded_, keys, to, width_padded_, width_padded_ / panel);
    }
    for (int64_t i = 0; i < count; ++i)
      mix_seen(head, query + i, ds + i * score_stride + c.first, k, start_ + c.first, keys, to + i * width_padded_);
  }

  // The same sums over what the row sees only, for keys whose product with 0 is not 0.
  void mix_seen(const BackwardHead& head, int64_t query, const float* ds, const float* k, int64_t key, int64_t count,
                float* to) {
    KeyRange seen = visible_keys(a_, s_, query);
    for (int64_t j = 0; j < count; ++j) {
      if (key + j < seen.begin || key + j >= seen.end || !unmasked(a_, unit_.sequence, head.head, query, key + j))
        continue;
      mix_rows<false>(ds + j, 1, k + j * width_padded_, width_padded_, 1, to, width_padded_, width_padded_ / panel);
    }
  }

  void finish_queries(const BackwardHead& head, int64_t q, int64_t count) {
    float scale = a_.score == ScoreKind::dot ? a_.scale : 1;
    for (int64_t i = q; i < q + count; ++i) {
      float* to = g_.d_q.data + s_.batch * g_.d_q.batch + (s_.query_begin + i) * g_.d_q.token + head.head * g_.d_q.head;
      const float* from = head.d_query + i * width_padded_;
      for (int64_t c = 0; c < width_; ++c) to[c] = from[c] * scale;
    }
  }

  // Gradients that all sequences and key blocks of a head share are added when it is this task's turn.
  void share(const BackwardHead& head) {
    wait_for_turn(job_.shared_turns[unit_.key_head], task_.turn);
    if (d_line_) {
      int64_t nearest = a_.line.offset + start_ - s_.shift() - (s_.queries - 1);
      KeyRange r = shared_distances();
      float* to = g_.d_line + head.head * a_.line.head + nearest;
      add_row(d_line_ + r.begin, r.end - r.begin, to + r.begin);
    }
    if (d_vector_ && g_.d_vector) add_row(d_vector_, width_, g_.d_vector + head.head * width_);
  }

  // Where d_line_ holds something: distances that no pair has may lie outside the caller's line.
  KeyRange shared_distances() const {
    KeyRange r = {0, s_.queries + backward_keys};
    while (r.begin < r.end && d_line_[r.begin] == 0) ++r.begin;
    while (r.begin < r.end && d_line_[r.end - 1] == 0) --r.end;
    return r;
  }

  BackwardJob& job_;
  const Attention& a_;
  const AttentionGradients& g_;
  const BackwardTask& task_;
  const BackwardUnit& unit_;
  const SequenceSpan& s_;
  int64_t start_, keys_, width_, value_width_, width_padded_, value_padded_;
  Scratch scratch_;
  float *scores_, *ds_, *slopes_, *factors_, *d_key_, *d_value_;
  float *d_line_ = nullptr, *d_vector_ = nullptr, *vector_ = nullptr;
  float base_ = 0;
};

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
