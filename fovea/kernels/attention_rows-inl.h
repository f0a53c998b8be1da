// The rows of one forward task on their way through the key blocks: what passes on vectors and on tiles have in common. A pass
// works on groups of rows:
//
//   for (block in visible_blocks()) { …scores…; soften(row, count, columns, scores, …); …mix… }
//   finish(visible_blocks());
#if defined(FOVEA_KERNELS_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_ROWS_INL_H_
#undef FOVEA_KERNELS_ATTENTION_ROWS_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include "fovea/base/scratch.h"
#include "fovea/kernels/attention_forward.h"
#include "fovea/kernels/attention_panels-inl.h"
#include "fovea/kernels/attention_probe-inl.h"
#include "fovea/kernels/attention_scores-inl.h"
#include "fovea/kernels/attention_words-inl.h"
#include "fovea/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

class ForwardRows {
 protected:
  // Of `padded` rows of sums, the task's are the first; `block` keys are softened at a time.
  ForwardRows(ForwardJob& job, const ForwardTask& task, int64_t padded, int64_t block)
      : job_(job),
        a_(job.attention),
        task_(task),
        unit_(job.units[task.unit]),
        s_(job.sequences[unit_.sequence]),
        block_(block),
        rows_(task.rows()),
        columns_(round_up(a_.shape.value_width, panel)) {
    row_ = scratch_.take<Row>(rows_);
    running_ = scratch_.take<Running>(rows_);
    kept_ = scratch_.take<KeptRow>(rows_);
    out_ = scratch_.take<float>(padded * columns_);
    std::fill(out_, out_ + padded * columns_, 0.0f);
    set_rows();
  }

  // Those that any of the rows sees.
  KeyRange visible_blocks() const {
    KeyRange seen = visible_keys(a_, s_, task_.query, task_.query + task_.queries - 1);
    return seen.empty() ? KeyRange{} : KeyRange{seen.begin / block_, (seen.end - 1) / block_ + 1};
  }

  void finish(const KeyRange& blocks) {
    for (int64_t r = 0; r < rows_; ++r) {
      if (r + fetched_rows < rows_) fetch_row<1>(output_of(row_[r + fetched_rows]), a_.shape.value_width);
      finish_row(r, blocks);
    }
    hand_over_mass(job_, task_, row_, kept_);
    if (job_.probe.weights) hwy::FlushStream();
  }

  const float* query_of(int64_t r) const {
    return a_.q.data + s_.batch * a_.q.batch + (s_.query_begin + row_[r].query) * a_.q.token + row_[r].head * a_.q.head;
  }

  // The columns of a block that a run of rows needs, in whole multiples of `step`.
  Columns needed(int64_t start, int64_t row, int64_t count, int64_t step) const {
    KeyRange all = {s_.keys, 0};
    for (int64_t r = row; r < row + count; ++r) {
      if (row_[r].seen.empty()) continue;
      all = {std::min(all.begin, row_[r].seen.begin), std::max(all.end, row_[r].seen.end)};
    }
    int64_t first = std::clamp<int64_t>(all.begin - start, 0, block_) / step * step;
    int64_t last = round_up(std::clamp<int64_t>(all.end - start, 0, block_), step);
    return first < last ? Columns{start, first, last} : Columns{start, 0, 0};
  }

  // The scores of up to `most` rows from `row` on become exponentials; as words for tiles, if asked for (attention_words-inl.h).
  // All maxima first, and all sums last: what one row waits for is on its way while others are worked on.
  template <bool words, int64_t most, int64_t stride>
  void soften(int64_t row, int64_t count, const Columns& c, float* scores) {
    float maxima[most];
    alignas(64) float sums[most * lanes];
    const bool any = c.first < c.last;
    for (int64_t i = 0; any && i < count; ++i) {
      float* s = scores + i * stride;
      finish_scores(a_, row_[row + i], c, s, nullptr);
      maxima[i] = row_maximum(c, s);
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t r = row + i;
      float* s = scores + i * stride;
      const bool looked_at = kept_[r].slot.wanted || a_.dropout.probability > 0;
      if (any) {
        const float factor = words && !looked_at ? absorb_row_in_words(c, maxima[i], s, running_[r], sums + i * lanes)
                                                 : absorb_row(c, maxima[i], s, running_[r], sums + i * lanes);
        if (factor != 1) multiply(out_ + r * columns_, columns_, factor);
      }
      if (!looked_at) continue;
      if (kept_[r].slot.wanted) keep_block(kept_[r], c, running_[r].maximum, s);
      if (a_.dropout.probability > 0) drop(row_[r], c, s);
      if (words) weights_in_words(c, s);
    }
    for (int64_t i = 0; any && i < count; ++i) add_sums(sums + i * lanes, running_[row + i]);
  }

  // Whether one of the rows does not see one of the keys.
  bool partly_masked(int64_t row, int64_t count, const KeyRange& keys) const {
    if (a_.mask.data || a_.bias.data) return true;
    for (int64_t r = row; r < row + count; ++r) {
      if (row_[r].seen.begin > keys.begin || row_[r].seen.end < keys.end) return true;
    }
    return false;
  }
  bool sees(const Row& row, int64_t key) const {
    return row.seen.begin <= key && key < row.seen.end && unmasked(a_, row.sequence, row.head, row.query, key);
  }

  ForwardJob& job_;
  const Attention& a_;
  const ForwardTask& task_;
  const ForwardUnit& unit_;
  const SequenceSpan& s_;
  const int64_t block_;
  int64_t rows_, columns_;
  Scratch scratch_;
  Row* row_;
  float* out_;  // [rows][columns]

 private:
  static constexpr int64_t fetched_rows = 16;  // of the output, ahead of the one that is written

  void set_rows() {
    int64_t padded_keys = round_up(s_.keys, block_);
    for (int64_t r = 0, head = task_.head, query = task_.query; r < rows_; ++r) {
      row_[r] = {unit_.sequence, head, query, s_.shift(), visible_keys(a_, s_, query)};
      if (++query == task_.query + task_.queries) query = task_.query, ++head;
      if (r < fetched_rows) fetch_row<1>(output_of(row_[r]), a_.shape.value_width);
      running_[r] = {};
      kept_[r] = {probe_slot(job_, row_[r]), block_};
      if (!kept_[r].slot.wanted) continue;
      kept_[r].exponentials = scratch_.take<float>(padded_keys + 1);
      kept_[r].maxima = scratch_.take<float>(padded_keys / block_ + 1);
    }
  }

  float* output_of(const Row& row) const {
    const TokenArrayOut& to = job_.result.out;
    return to.data + s_.batch * to.batch + (s_.query_begin + row.query) * to.token + row.head * to.head;
  }

  void drop(const Row& row, const Columns& c, float* p) const {
    float factors[most_block];
    dropout_factors(a_.dropout, row, c, factors);
    drop_row(c, factors, p);
  }

  // Adding 0 makes the zero of −0, whose sign would tell which keys without weight were passed.
  void finish_row(int64_t r, const KeyRange& blocks) {
    const Row& row = row_[r];
    float maximum = running_[r].maximum, sum = running_[r].sum, own = 1;
    if (a_.sinks) {
      float sink = a_.sinks[row.head];
      float higher = sink > maximum ? sink : maximum;
      own = maximum == minus_infinity ? 1 : exp_one(maximum - higher);
      sum = sum * own + (sink == minus_infinity ? 0 : exp_one(sink - higher));
      maximum = higher;
    }
    float inverse = sum == 0 ? 0 : 1 / sum, base = maximum == minus_infinity ? 0 : maximum;
    const AttentionOutput& to = job_.result;
    float* out = output_of(row);
    const float* from = out_ + r * columns_;
    for_each_vector(a_.shape.value_width, [&](int64_t c, auto part) HWY_ATTR {
      const V scaled = hn::Mul(hn::Mul(hn::LoadU(F(), from + c), hn::Set(F(), own)), hn::Set(F(), inverse));
      part.store(hn::Add(scaled, hn::Zero(F())), out + c);
    });
    if (to.sums) {
      to.sums[(s_.batch * a_.shape.heads + row.head) * a_.shape.queries + s_.query_begin + row.query] = {base, sum};
    }
    if (kept_[r].slot.wanted) finish_kept(job_, kept_[r], row, blocks, base, inverse);
  }

  Running* running_;
  KeptRow* kept_;
};

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
