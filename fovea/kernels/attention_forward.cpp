#include "fovea/kernels/attention_forward.h"

#include "fovea/base/error.h"
#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/fetch.h"
#include "fovea/kernels/unit.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention_forward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/attention_amx-inl.h"
#include "fovea/kernels/attention_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

void pack_forward_block(const ForwardJob& job, const ForwardUnit& unit, int64_t block) {
  job.on_tiles ? pack_block_in_words(job, unit, block) : pack_block(job, unit, block);
}

void run_forward_task(ForwardJob& job, const ForwardTask& task) {
  job.on_tiles ? TilePass(job, task).run() : VectorPass(job, task).run();
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(pack_forward_block);
HWY_EXPORT(run_forward_task);

constexpr int64_t key_block = 256, query_block = 96;
// At most 24 MB are packed at a time, or one key head if that is more: few waves, since threads wait for each other at the
// end of each. On tiles 2 MB for each thread: the products are so fast that reading from beyond its caches would be seen.
int64_t wave_floats(const ForwardJob& job) { return job.on_tiles ? threads() * (int64_t{1} << 19) : 6 << 20; }

// With few rows a value is read once or twice: not worth a copy, or a look for odd numbers. Tiles need a copy in words, and what is
// to be rounded needs one.
bool packs_values(const ForwardJob& job, const SequenceSpan& s) {
  const Attention& a = job.attention;
  return s.queries * (a.shape.heads / a.shape.key_heads) >= 32 || ((job.on_tiles || job.halves) && !a.pages.tables);
}

// Halves in pages become floats if many rows read them.
bool packs_keys(const ForwardJob& job, const SequenceSpan& s) {
  return !job.attention.pages.tables || (job.halves && packs_values(job, s));
}

int64_t rounded(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// Keys and values of a sequence as one long page.
PageLayout long_page(const ForwardJob& job, int64_t keys) {
  const AttentionShape& shape = job.attention.shape;
  const Precision precision = job.on_tiles ? Precision::bf16 : Precision::f32;
  return {rounded(keys, job.on_tiles ? 32 : 16), 1, shape.width, shape.value_width, precision};
}

int64_t packed_floats(const ForwardJob& job, const SequenceSpan& s) {
  const PageLayout page = long_page(job, s.keys);
  const bool values = packs_values(job, s);
  const int64_t floats = (packs_keys(job, s) ? page.values() : 0) + (values ? page.head() - page.values() : 0);
  return floats + s.keys / key_block + 64;
}

ForwardUnit make_unit(const ForwardJob& job, int64_t sequence, int64_t key_head, Scratch& scratch) {
  const Attention& a = job.attention;
  const SequenceSpan& s = job.sequences[sequence];
  const PageLayout whole = long_page(job, s.keys);
  ForwardUnit u = {.sequence = sequence, .key_head = key_head, .width = whole.key_floats()};
  u.value_stride = job.on_tiles ? 8 : whole.value_stride();
  u.column_stride = whole.tokens * 8;
  if (packs_values(job, s)) {
    u.odd = scratch.take<uint8_t>(s.keys / key_block + 1);
    if (job.on_tiles || packs_keys(job, s)) u.own_values = scratch.take<float>(whole.head() - whole.values());
  }
  if (a.pages.tables) {
    const PageLayout page = page_of(a);
    u.pages = a.pages.tables[sequence], u.page_tokens = page.tokens;
    u.first_key = key_head * page.head(), u.first_value = u.first_key + page.values();
    u.halves = job.halves && !packs_keys(job, s);
    if (u.halves) u.width = page.key_floats(), u.value_stride = page.value_stride() / 2;
    if (!packs_keys(job, s)) return u;
  }
  u.panels = u.own_panels = scratch.take<float>(whole.values());
  u.values = u.own_values;
  if (!u.own_values) {
    u.values = a.v.data + s.batch * a.v.batch + s.key_begin * a.v.token + key_head * a.v.head;
    u.value_stride = a.v.token;
  }
  return u;
}

// Few queries: all heads of a group together, so that keys and values are read once.
template <class Body>
void for_each_task(const ForwardJob& job, int64_t unit, const Body& body) {
  const ForwardUnit& u = job.units[unit];
  const AttentionShape& shape = job.attention.shape;
  int64_t group = shape.heads / shape.key_heads, queries = job.sequences[u.sequence].queries;
  if (queries == 0) return;
  bool together = queries < 8 && job.attention.score == ScoreKind::dot;
  int64_t heads = together ? std::min(group, query_block / queries) : 1;
  for (int64_t h = 0; h < group; h += heads) {
    for (int64_t q = 0; q < queries; q += query_block) {
      body(
          ForwardTask{unit, u.key_head * group + h, std::min(heads, group - h), q, std::min(query_block, queries - q)});
    }
  }
}

int64_t blocks_to_pack(const ForwardJob& job, const ForwardUnit& unit) {
  if (!unit.own_panels && !unit.odd) return 0;
  return (job.sequences[unit.sequence].keys + key_block - 1) / key_block;
}

void run_wave(ForwardJob& job) {
  struct Piece {
    int64_t unit, block;
  };
  std::vector<Piece> pieces;
  for (int64_t u = 0; u < static_cast<int64_t>(job.units.size()); ++u) {
    for_each_task(job, u, [&](const ForwardTask& task) { job.tasks.push_back(task); });
    for (int64_t b = 0; b < blocks_to_pack(job, job.units[u]); ++b) pieces.push_back({u, b});
  }
  // The longest tasks first; masses are added in rising order, so there the order stays.
  if (job.attention.causal && !job.probe.mass) std::reverse(job.tasks.begin(), job.tasks.end());
  auto pack = HWY_DYNAMIC_DISPATCH(pack_forward_block);
  auto run = HWY_DYNAMIC_DISPATCH(run_forward_task);
  parallel_for(pieces.size(), [&](int64_t i) { pack(job, job.units[pieces[i].unit], pieces[i].block); });
  parallel_for(job.tasks.size(), [&](int64_t i) { run(job, job.tasks[i]); });
  job.units.clear(), job.tasks.clear();
}

// Many units, each of which fits into a cache: who packs one multiplies it.
bool is_many_small(const ForwardJob& job) {
  constexpr int64_t near = 1 << 16;  // floats
  const int64_t units = std::ssize(job.sequences) * job.attention.shape.key_heads;
  return units >= 4 * threads() &&
         std::ranges::all_of(job.sequences, [&](const SequenceSpan& s) { return packed_floats(job, s) <= near; });
}

// What a unit reads, of which a token's is far from the next one's, where no CPU looks by itself: into the second-level cache.
void fetch_unit(const ForwardJob& job, int64_t sequence, int64_t key_head) {
  const Attention& a = job.attention;
  const SequenceSpan& s = job.sequences[sequence];
  const int64_t group = a.shape.heads / a.shape.key_heads;
  const auto fetch_rows = [&](const TokenArray& x, int64_t token, int64_t count, int64_t head, int64_t width) {
    const float* row = x.data + s.batch * x.batch + token * x.token + head * x.head;
    for (int64_t i = 0; i < count; ++i) fetch<0, 3>(row + i * x.token, 4 * width);
  };
  fetch_rows(a.q, s.query_begin, s.queries, key_head * group, group * a.shape.width);
  if (a.pages.tables) return;
  fetch_rows(a.k, s.key_begin, s.keys, key_head, a.shape.width);
  fetch_rows(a.v, s.key_begin, s.keys, key_head, a.shape.value_width);
}

void run_units(ForwardJob& job) {
  constexpr int64_t heads_together = 4;  // their columns are neighbours in memory
  const int64_t heads = job.attention.shape.key_heads;
  job.units.resize(job.sequences.size() * static_cast<size_t>(heads));
  const int64_t count = std::ssize(job.units);
  auto pack = HWY_DYNAMIC_DISPATCH(pack_forward_block);
  auto run = HWY_DYNAMIC_DISPATCH(run_forward_task);
  parallel_for((count + heads_together - 1) / heads_together, [&](int64_t piece) {
    for (int64_t u = piece * heads_together; u < std::min(count, (piece + 1) * heads_together); ++u) {
      if (u + 1 < count) fetch_unit(job, (u + 1) / heads, (u + 1) % heads);
      Scratch scratch;
      const ForwardUnit& unit = job.units[u] = make_unit(job, u / heads, u % heads, scratch);
      for (int64_t b = 0; b < blocks_to_pack(job, unit); ++b) pack(job, unit, b);
      for_each_task(job, u, [&](const ForwardTask& task) { run(job, task); });
    }
  });
}

// Pages say themselves what they hold.
bool on_tiles(const Attention& a) {
  const bool tiles = unit_of(Precision::bf16) == Unit::tiles, paged = a.pages.tables != nullptr;
  require(!paged || a.pages.precision != Precision::bf16 || (tiles && a.score == ScoreKind::dot),
          "attention_forward: found pages in bf16, expected dot scores and the instruction set amx, as when they were "
          "written");
  return tiles && a.score == ScoreKind::dot && (paged ? a.pages.precision : a.precision) == Precision::bf16;
}

}  // namespace

void attention_forward(const Attention& a, const AttentionOutput& result, const AttentionProbe& probe) {
  check(a, "attention_forward");
  ForwardJob job{.attention = a, .result = result, .probe = probe, .sequences = sequences_of(a)};
  job.on_tiles = on_tiles(a);
  job.halves = a.score == ScoreKind::dot && (a.pages.tables ? a.pages.precision : a.precision) == Precision::f16;
  prepare_probe(job);
  if (is_many_small(job)) return run_units(job);
  int64_t count = job.sequences.size();
  for (int64_t s = 0, h = 0; s < count;) {
    Scratch scratch;
    int64_t floats = 0;
    while (s < count) {
      int64_t more = packed_floats(job, job.sequences[s]);
      if (!job.units.empty() && floats + more > wave_floats(job)) break;
      floats += more;
      job.units.push_back(make_unit(job, s, h, scratch));
      if (++h == a.shape.key_heads) h = 0, ++s;
    }
    run_wave(job);
  }
}

}  // namespace fovea::kernels
#endif
