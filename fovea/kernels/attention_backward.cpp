#include "fovea/kernels/attention_backward.h"

#include <cmath>

#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention_backward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/attention_backward_pass-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

void pack_backward_keys(const BackwardJob& job, BackwardUnit& unit, int64_t block) { pack_key_block(job, unit, block); }
void pack_backward_queries(const BackwardJob& job, const BackwardUnit& unit, BackwardHead& head, int64_t block) {
  pack_query_block(job, unit, head, block);
}
void run_backward_task(BackwardJob& job, const BackwardTask& task) { BackwardPass(job, task).run(); }

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(pack_backward_keys);
HWY_EXPORT(pack_backward_queries);
HWY_EXPORT(run_backward_task);

// At most 36 MB are packed at a time, or one query head if that is more; beyond a unit per thread no more than its
// cache holds.
constexpr int64_t wave_floats = 9 << 20, cached_floats = 3 << 18;

int64_t rounded(int64_t n, int64_t step = 16) { return (n + step - 1) / step * step; }
int64_t query_blocks(const SequenceSpan& s) { return (s.queries + backward_queries - 1) / backward_queries; }
int64_t key_blocks(const SequenceSpan& s) { return (s.keys + backward_keys - 1) / backward_keys; }

int64_t head_floats(const Attention& a, const SequenceSpan& s) {
  return rounded(s.queries, backward_queries) *
         (a.shape.width + a.shape.value_width + 2 * rounded(a.shape.width) + rounded(a.shape.value_width) + 3);
}
int64_t unit_floats(const Attention& a, const SequenceSpan& s) {
  return rounded(s.keys) * (a.shape.width + a.shape.value_width + rounded(a.shape.width));
}

BackwardHead make_head(const Attention& a, const SequenceSpan& s, int64_t head, Scratch& scratch) {
  int64_t queries = rounded(s.queries, backward_queries), width = a.shape.width, value_width = a.shape.value_width;
  BackwardHead h = {.head = head};
  h.query_groups = scratch.take<float>(queries * width + 16);
  h.gradient_groups = scratch.take<float>(queries * value_width + 16);
  h.query_rows = scratch.take<float>(queries * rounded(width));
  h.gradient_rows = scratch.take<float>(queries * rounded(value_width));
  h.d_query = scratch.take<float>(queries * rounded(width));
  h.maximum = scratch.take<float>(queries);
  h.inverse = scratch.take<float>(queries);
  h.delta = scratch.take<float>(queries);
  return h;
}

BackwardUnit make_unit(const Attention& a, const SequenceSpan& s, int64_t sequence, int64_t key_head,
                       Scratch& scratch) {
  BackwardUnit u = {.sequence = sequence, .key_head = key_head};
  int64_t keys = rounded(s.keys);
  u.key_panels = scratch.take<float>(keys * a.shape.width);
  u.value_panels = scratch.take<float>(keys * a.shape.value_width);
  u.key_rows = scratch.take<float>(keys * rounded(a.shape.width));
  u.odd = scratch.take<uint8_t>(key_blocks(s));
  return u;
}

void pack_wave(BackwardJob& job) {
  struct Piece {
    int64_t unit, head, block;  // head −1: keys
  };
  std::vector<Piece> pieces;
  for (int64_t u = 0; u < static_cast<int64_t>(job.units.size()); ++u) {
    const SequenceSpan& s = job.sequences[job.units[u].sequence];
    for (int64_t b = 0; b < key_blocks(s); ++b) pieces.push_back({u, -1, b});
    for (int64_t h = 0; h < static_cast<int64_t>(job.units[u].heads.size()); ++h) {
      for (int64_t b = 0; b < query_blocks(s); ++b) pieces.push_back({u, h, b});
    }
  }
  auto pack_keys = HWY_DYNAMIC_DISPATCH(pack_backward_keys);
  auto pack_queries = HWY_DYNAMIC_DISPATCH(pack_backward_queries);
  parallel_for(pieces.size(), [&](int64_t i) {
    auto [u, h, block] = pieces[i];
    BackwardUnit& unit = job.units[u];
    h < 0 ? pack_keys(job, unit, block) : pack_queries(job, unit, unit.heads[h], block);
  });
}

// d sink = −Σ_i (weight of the sink) · (D_i + g_i)
void add_sink_gradients(const BackwardJob& job) {
  if (!job.gradients.d_sinks || !job.attention.sinks) return;
  for (const BackwardUnit& unit : job.units) {
    for (const BackwardHead& head : unit.heads) {
      double sum = 0, sink = job.attention.sinks[head.head];
      for (int64_t i = 0; i < job.sequences[unit.sequence].queries; ++i)
        sum -= std::exp(sink - head.maximum[i]) * head.inverse[i] * head.delta[i];
      job.gradients.d_sinks[head.head] += static_cast<float>(sum);
    }
  }
}

// As many units at a time as there are threads, so that neighbouring tasks seldom wait for each other and a unit stays
// in the caches. Key blocks rise for every unit; where sequences share a gradient, the units of a key head come one
// after another.
void list_tasks(BackwardJob& job) {
  const AttentionShape& shape = job.attention.shape;
  bool shared = job.gradients.d_line || job.gradients.d_vector;
  int64_t units = job.units.size(), together = shared ? std::min<int64_t>(threads(), shape.key_heads) : threads();
  std::vector<int64_t> turns(shape.key_heads, 0);
  for (int64_t first = 0; first < units; first += together) {
    int64_t end = std::min(units, first + together), blocks = 0;
    for (int64_t u = first; u < end; ++u) blocks = std::max(blocks, key_blocks(job.sequences[job.units[u].sequence]));
    for (int64_t b = 0; b < blocks; ++b) {
      for (int64_t u = first; u < end; ++u) {
        if (b < key_blocks(job.sequences[job.units[u].sequence]))
          job.tasks.push_back({u, b, turns[job.units[u].key_head]++});
      }
    }
  }
}

void number_turns(BackwardJob& job) {
  int64_t turns = 0;
  for (BackwardUnit& unit : job.units) {
    for (BackwardHead& head : unit.heads) {
      head.first_turn = turns;
      turns += query_blocks(job.sequences[unit.sequence]);
    }
  }
  job.turns = std::vector<std::atomic<int64_t>>(turns);
  job.shared_turns = std::vector<std::atomic<int64_t>>(job.attention.shape.key_heads);
}

void run_wave(BackwardJob& job) {
  number_turns(job);
  pack_wave(job);
  add_sink_gradients(job);
  list_tasks(job);
  auto run = HWY_DYNAMIC_DISPATCH(run_backward_task);
  parallel_for(job.tasks.size(), [&](int64_t i) { run(job, job.tasks[i]); });
  job.units.clear(), job.tasks.clear();
}

}  // namespace

void attention_backward(const Attention& a, const AttentionGradients& gradients) {
  check(a, "attention_backward");
  BackwardJob job{.attention = a, .gradients = gradients, .sequences = sequences_of(a)};
  int64_t count = job.sequences.size(), group = a.shape.heads / a.shape.key_heads;
  int64_t sequence = 0, head = 0;  // the next query head to take
  while (sequence < count) {
    Scratch scratch;
    int64_t floats = 0;
    while (sequence < count) {
      const SequenceSpan& s = job.sequences[sequence];
      bool new_unit = job.units.empty() || head % group == 0;
      int64_t more = head_floats(a, s) + (new_unit ? unit_floats(a, s) : 0);
      bool enough = static_cast<int64_t>(job.units.size()) >= threads() && floats + more > cached_floats * threads();
      if (!job.units.empty() && ((new_unit && enough) || floats + more > wave_floats)) break;
      floats += more;
      if (new_unit) {
        job.units.push_back(make_unit(a, s, sequence, head / group, scratch));
        job.units.back().first = head % group == 0;
      }
      job.units.back().heads.push_back(make_head(a, s, head, scratch));
      job.units.back().last = head % group == group - 1;
      if (++head == a.shape.heads) head = 0, ++sequence;
    }
    run_wave(job);
  }
}

}  // namespace fovea::kernels
#endif
