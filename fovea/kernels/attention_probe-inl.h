// Keeps the exponentials of probed rows while the fused pass goes by, then turns them into weights and reductions.
#if defined(FOVEA_KERNELS_ATTENTION_PROBE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_PROBE_INL_H_
#undef FOVEA_KERNELS_ATTENTION_PROBE_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_PROBE_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/attention_forward.h"
#include "fovea/kernels/attention_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Where a probed row's results go: its position among [sequences, heads, rows].
struct ProbeSlot {
  int64_t head = 0, row = 0;  // index of (sequence, head), and of the row in all outputs
  bool wanted = false;
};

HWY_INLINE int64_t probed_rows(const AttentionProbe& p) {
  return p.rows.empty() ? std::max<int64_t>(0, p.row_end - p.row_begin) : static_cast<int64_t>(p.rows.size());
}

HWY_INLINE ProbeSlot probe_slot(const ForwardJob& job, const Row& row) {
  const AttentionProbe& p = job.probe;
  if (p.heads.empty() || job.probe_slots[row.head] < 0) return {};
  int64_t slot = row.query - p.row_begin;
  if (p.rows.empty()) {
    if (row.query < p.row_begin || row.query >= p.row_end) return {};
  } else {
    auto found = std::lower_bound(p.rows.begin(), p.rows.end(), row.query);
    if (found == p.rows.end() || *found != row.query) return {};
    slot = found - p.rows.begin();
  }
  int64_t head = row.sequence * static_cast<int64_t>(p.heads.size()) + job.probe_slots[row.head];
  return {head, head * probed_rows(p) + slot, true};
}

// The kept exponentials of one row, block by block, each with the maximum it is relative to.
struct KeptRow {
  ProbeSlot slot;
  int64_t block = 0;              // keys
  float* exponentials = nullptr;  // [keys up to a multiple of block]
  float* maxima = nullptr;        // [blocks]
};

HWY_INLINE void keep_block(KeptRow& kept, const Columns& c, float maximum, const float* p) {
  float* to = kept.exponentials + c.start;
  std::fill(to, to + c.first, 0.0f);
  std::copy(p + c.first, p + c.last, to + c.first);
  std::fill(to + c.last, to + kept.block, 0.0f);
  kept.maxima[c.start / kept.block] = maximum == minus_infinity ? 0 : maximum;
}

// to[j] = from[j] · factor past the caches: nobody reads the weights before the pass is over.
HWY_INLINE void stream_scaled(const float* from, int64_t count, float factor, float* to) {
  const F d;
  int64_t j = 0;
  for (; j < count && reinterpret_cast<uintptr_t>(to + j) % (lanes * sizeof(float)) != 0; ++j) to[j] = from[j] * factor;
  for (; j + lanes <= count; j += lanes) hn::Stream(hn::Mul(hn::LoadU(d, from + j), hn::Set(d, factor)), d, to + j);
  for (; j < count; ++j) to[j] = from[j] * factor;
}

HWY_INLINE void stream_zeros(int64_t count, float* to) {
  const F d;
  int64_t j = 0;
  for (; j < count && reinterpret_cast<uintptr_t>(to + j) % (lanes * sizeof(float)) != 0; ++j) to[j] = 0;
  for (; j + lanes <= count; j += lanes) hn::Stream(hn::Zero(d), d, to + j);
  for (; j < count; ++j) to[j] = 0;
}

HWY_INLINE bool wants_reductions(const AttentionProbe& p) {
  return p.mass || p.argmax || p.entropy || p.sampled || p.log_probability ||
         (p.top > 0 && (p.top_values || p.top_keys));
}

HWY_INLINE void reduce_top(const AttentionProbe& p, int64_t row, const float* w, const KeyRange& seen) {
  if (p.top <= 0 || !(p.top_values || p.top_keys)) return;
  Scratch scratch;
  int64_t count = std::min(p.top, std::max<int64_t>(0, seen.end - seen.begin));
  int64_t* keys = scratch.take<int64_t>(std::max<int64_t>(1, seen.end - seen.begin));
  std::iota(keys, keys + (seen.end - seen.begin), seen.begin);
  std::partial_sort(keys, keys + count, keys + (seen.end - seen.begin),
                    [w](int64_t a, int64_t b) { return w[a] > w[b] || (w[a] == w[b] && a < b); });
  for (int64_t i = 0; i < p.top; ++i) {
    bool there = i < count && w[keys[i]] > 0;
    if (p.top_values) p.top_values[row * p.top + i] = there ? w[keys[i]] : 0;
    if (p.top_keys) p.top_keys[row * p.top + i] = there ? keys[i] : -1;
  }
}

// One draw by the inverse of the cumulative distribution; rounding never leads past the last key with weight.
HWY_INLINE int64_t draw(const float* w, const KeyRange& seen, float u) {
  double total = 0, running = 0;
  for (int64_t j = seen.begin; j < seen.end; ++j) total += w[j];
  int64_t last = -1;
  for (int64_t j = seen.begin; j < seen.end; ++j) {
    if (!(w[j] > 0)) continue;
    running += w[j], last = j;
    if (running > u * total) break;
  }
  return last;
}

HWY_INLINE void reduce_row(const AttentionProbe& p, int64_t row, const float* w, const KeyRange& seen) {
  reduce_top(p, row, w, seen);
  if (p.argmax) {
    int64_t best = -1;
    for (int64_t j = seen.begin; j < seen.end; ++j) {
      if (best < 0 ? w[j] > 0 : w[j] > w[best]) best = j;
    }
    p.argmax[row] = best;
  }
  if (p.entropy) {
    double sum = 0;
    for (int64_t j = seen.begin; j < seen.end; ++j) {
      if (w[j] != 0) sum -= w[j] * std::log(static_cast<double>(w[j]));
    }
    p.entropy[row] = static_cast<float>(sum);
  }
  if (p.uniforms && (p.sampled || p.log_probability)) {
    int64_t key = draw(w, seen, p.uniforms[row]);
    if (p.sampled) p.sampled[row] = key;
    if (p.log_probability) p.log_probability[row] = key < 0 ? 0 : std::log(w[key]);
  }
}

// Rows add their mass in rising order of queries, whoever computes them.
HWY_INLINE void add_mass(ForwardJob& job, const KeptRow& kept, const Row& row, int64_t keys) {
  const AttentionProbe& p = job.probe;
  int64_t end = std::min(p.key_end, keys);
  float* mass = p.mass + kept.slot.head * (p.key_end - p.key_begin);
  for (int64_t j = std::max(p.key_begin, row.seen.begin); j < std::min(end, row.seen.end); ++j)
    mass[j - p.key_begin] += kept.exponentials[j];
}

// `visited`: the key blocks that the pass went through. `inverse`: 1 / denominator, relative to exp(maximum).
HWY_INLINE void finish_kept(ForwardJob& job, KeptRow& kept, const Row& row, const KeyRange& visited, float maximum,
                            float inverse) {
  const AttentionProbe& p = job.probe;
  int64_t keys = job.sequences[row.sequence].keys, width = p.key_end - p.key_begin;
  float* weights = p.weights ? p.weights + kept.slot.row * width : nullptr;
  bool reduce = wants_reductions(p);
  const int64_t block = kept.block;
  for (int64_t start = 0; start < keys; start += block) {
    bool there = start / block >= visited.begin && start / block < visited.end && inverse != 0;
    float* from = kept.exponentials + start;
    float factor = there ? exp_one(kept.maxima[start / block] - maximum) * inverse : 0;
    int64_t begin = std::max(start, p.key_begin), end = std::min({start + block, p.key_end, keys});
    if (weights && begin < end) {
      float* to = weights + begin - p.key_begin;
      there ? stream_scaled(from + begin - start, end - begin, factor, to) : stream_zeros(end - begin, to);
    }
    if (!reduce) continue;
    for (int64_t j = 0; j < block; ++j) from[j] = there ? from[j] * factor : 0;
  }
  if (weights) {
    int64_t end = std::clamp(keys, p.key_begin, p.key_end);
    std::fill(weights + end - p.key_begin, weights + width, 0.0f);
  }
  if (reduce) reduce_row(p, kept.slot.row, kept.exponentials, row.seen);
}

// Adds the masses of a task's rows, when it is their turn.
HWY_INLINE void hand_over_mass(ForwardJob& job, const ForwardTask& task, const Row* rows, KeptRow* kept) {
  if (!job.probe.mass) return;
  const SequenceSpan& sequence = job.sequences[rows[0].sequence];
  for (int64_t h = 0; h < task.heads; ++h) {
    int64_t slot = job.probe_slots[task.head + h];
    if (slot < 0) continue;
    std::atomic<int64_t>& turn = job.mass_turn[rows[0].sequence * job.probe.heads.size() + slot];
    wait_for_turn(turn, task.query);
    for (int64_t i = 0; i < task.queries; ++i) {
      int64_t r = h * task.queries + i;
      if (kept[r].slot.wanted) add_mass(job, kept[r], rows[r], sequence.keys);
    }
    turn.store(task.query + task.queries, std::memory_order_release);
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
