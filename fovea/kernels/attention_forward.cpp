#include "fovea/kernels/attention_forward.h"

#include "fovea/base/scratch.h"
#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention_forward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/attention_additive-inl.h"
#include "fovea/kernels/attention_panels-inl.h"
#include "fovea/kernels/attention_probe-inl.h"
#include "fovea/kernels/attention_products-inl.h"
#include "fovea/kernels/attention_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Packs one key block of a unit: K into panels, V into contiguous rows of whole vectors. What has pages is only looked
// through for odd numbers.
void pack_forward_block(const ForwardJob& job, ForwardUnit& unit, int64_t block) {
  const Attention& a = job.attention;
  const AttentionShape& shape = a.shape;
  const SequenceSpan& s = job.sequences[unit.sequence];
  int64_t begin = block * block_keys, end = std::min(s.keys, begin + block_keys);
  if (unit.own_panels) {
    const float* k = a.k.data + s.batch * a.k.batch + s.key_begin * a.k.token + unit.key_head * a.k.head;
    for (int64_t j = begin; j < end; j += panel) {
      pack_panel(k + j * a.k.token, a.k.token, std::min(panel, end - j), shape.width, a.score,
                 unit.own_panels + j * shape.width);
    }
  }
  if (unit.pages) {
    bool odd = false;
    for (int64_t j = begin, n; j < end && !odd; j += n) {
      n = unit.neighbours(j, end);
      odd = has_odd_numbers(unit.value_at(j), n * unit.value_stride);
    }
    unit.odd[block] = odd;
  }
  if (unit.own_values) {
    const float* v = a.v.data + s.batch * a.v.batch + s.key_begin * a.v.token + unit.key_head * a.v.head;
    pack_rows(v + begin * a.v.token, a.v.token, end - begin, shape.value_width,
              unit.own_values + begin * unit.value_stride);
    unit.odd[block] = has_odd_numbers(unit.own_values + begin * unit.value_stride, (end - begin) * unit.value_stride);
  }
}

// One task's rows on their way through the key blocks.
class ForwardPass {
 public:
  ForwardPass(ForwardJob& job, const ForwardTask& task)
      : job_(job),
        a_(job.attention),
        task_(task),
        unit_(job.units[task.unit]),
        s_(job.sequences[unit_.sequence]),
        rows_(task.rows()),
        columns_(round_up(a_.shape.value_width, panel)) {
    row_ = scratch_.take<Row>(rows_);
    running_ = scratch_.take<Running>(rows_);
    kept_ = scratch_.take<KeptRow>(rows_);
    scores_ = scratch_.take<float>(rows_ * score_stride);
    out_ = scratch_.take<float>(rows_ * columns_);
    queries_ = scratch_.take<float>(round_up(rows_, group_rows) * a_.shape.width + panel);
    groups_ = scratch_.take<Columns>(rows_ / group_rows + 1);
    std::fill(out_, out_ + rows_ * columns_, 0.0f);
    set_rows();
    pack_queries();
  }

  void run() {
    KeyRange seen = visible_keys(a_, s_, task_.query, task_.query + task_.queries - 1);
    KeyRange blocks = {seen.begin / block_keys, seen.empty() ? 0 : (seen.end - 1) / block_keys + 1};
    if (seen.empty()) blocks = {0, 0};
    for (int64_t block = blocks.begin; block < blocks.end; ++block) run_block(block);
    for (int64_t r = 0; r < rows_; ++r) finish_row(r, blocks);
    hand_over_mass(job_, task_, row_, kept_);
    if (job_.probe.weights) hwy::FlushStream();
  }

 private:
  void set_rows() {
    int64_t padded_keys = round_up(s_.keys, block_keys);
    for (int64_t r = 0; r < rows_; ++r) {
      int64_t query = task_.query + r % task_.queries;
      row_[r] = {unit_.sequence, task_.head + r / task_.queries, query, s_.shift(), visible_keys(a_, s_, query)};
      running_[r] = {};
      kept_[r] = {probe_slot(job_, row_[r]), nullptr, nullptr};
      if (!kept_[r].slot.wanted) continue;
      kept_[r].exponentials = scratch_.take<float>(padded_keys + 1);
      kept_[r].maxima = scratch_.take<float>(padded_keys / block_keys + 1);
    }
  }

  void pack_queries() {
    const float** from = scratch_.take<const float*>(rows_);
    for (int64_t r = 0; r < rows_; ++r) {
      from[r] =
          a_.q.data + s_.batch * a_.q.batch + (s_.query_begin + row_[r].query) * a_.q.token + row_[r].head * a_.q.head;
    }
    pack_groups(from, rows_, a_.shape.width, queries_);
    int64_t count = round_up(rows_, group_rows) * a_.shape.width;
    if (a_.score == ScoreKind::dot) return multiply(queries_, count, score_factor(a_));
    exponentiate(queries_, count);
    vector_ = scratch_.take<float>(a_.shape.width);
    base_ = scale_vector(a_.vector + task_.head * a_.shape.width, a_.shape.width, score_factor(a_), vector_);
  }

  // The columns of a block that a run of rows needs, in whole panels.
  Columns needed(int64_t start, int64_t row, int64_t count) const {
    KeyRange all = {s_.keys, 0};
    for (int64_t r = row; r < row + count; ++r) {
      if (row_[r].seen.empty()) continue;
      all = {std::min(all.begin, row_[r].seen.begin), std::max(all.end, row_[r].seen.end)};
    }
    int64_t first = std::clamp<int64_t>(all.begin - start, 0, block_keys) / panel * panel;
    int64_t last = round_up(std::clamp<int64_t>(all.end - start, 0, block_keys), panel);
    return first < last ? Columns{start, first, last} : Columns{start, 0, 0};
  }

  void run_block(int64_t block) {
    int64_t start = block * block_keys, groups = (rows_ + group_rows - 1) / group_rows;
    for (int64_t g = 0; g < groups; ++g) groups_[g] = needed(start, g * group_rows, group_size(g));
    BlockPanels panels;
    for (int64_t j = start; j < std::min(start + block_keys, s_.keys); j += panel) {
      panels.at[(j - start) / panel] = unit_.panel_at(j);
    }
    if (a_.score == ScoreKind::dot) {
      dot_scores(queries_, rows_, panels, a_.shape.width, groups_, scores_);
    } else {
      for (int64_t g = 0; g < groups; ++g) {
        for (int64_t j = groups_[g].first; j < groups_[g].last; j += panel) {
          additive_panel(queries_ + g * group_rows * a_.shape.width, group_size(g), panels.at[j / panel],
                         a_.shape.width, vector_, base_, scores_ + g * group_rows * score_stride + j, score_stride);
        }
      }
    }
    for (int64_t g = 0; g < groups; ++g) soften_group(g);
    for (int64_t g = 0; g < groups; ++g) mix_group(block, g);
  }

  // All maxima first: one row's maximum is found while another's exponentials are on their way.
  void soften_group(int64_t g) {
    const Columns& c = groups_[g];
    int64_t row = g * group_rows, size = group_size(g);
    float maxima[group_rows];
    for (int64_t r = 0; r < size && c.first < c.last; ++r) {
      float* s = scores_ + (row + r) * score_stride;
      finish_scores(a_, row_[row + r], c, s, nullptr);
      maxima[r] = row_maximum(c, s);
    }
    for (int64_t r = row; r < row + size; ++r) {
      float* s = scores_ + r * score_stride;
      if (c.first < c.last) {
        float factor = absorb_row(c, maxima[r - row], s, running_[r]);
        if (factor != 1) multiply(out_ + r * columns_, columns_, factor);
      }
      if (kept_[r].slot.wanted) keep_block(kept_[r], c, running_[r].maximum, s);
      if (a_.dropout.probability > 0) drop(row_[r], c, s);
    }
  }

  void drop(const Row& row, const Columns& c, float* p) const {
    float factors[block_keys];
    dropout_factors(a_.dropout, row, c, factors);
    drop_row(c, factors, p);
  }

  void mix_group(int64_t block, int64_t g) {
    const Columns& c = groups_[g];
    const int64_t end = std::min(c.start + c.last, s_.keys);
    const bool odd = !unit_.odd || unit_.odd[block];
    for (int64_t j = c.start + c.first, n; j < end; j += n) {
      n = unit_.neighbours(j, end);
      mix_run(g, {j, j + n}, scores_ + g * group_rows * score_stride + (j - c.start), odd);
    }
  }

  // Values that stand one after another; p is their weights in the group's first row.
  void mix_run(int64_t g, const KeyRange& keys, const float* p, bool odd) {
    int64_t count = keys.end - keys.begin, row = g * group_rows, v_stride = unit_.value_stride;
    const float* v = unit_.value_at(keys.begin);
    float* o = out_ + row * columns_;
    Scratch scratch;
    if (!unit_.pages && !unit_.own_values && a_.shape.value_width % panel != 0) {
      float* copy = scratch.take<float>(count * columns_);
      pack_rows(v, v_stride, count, a_.shape.value_width, copy);
      v = copy, v_stride = columns_;
    }
    if (!odd || !partly_masked(g, keys)) {
      return mix_rows<false>(p, group_size(g), v, v_stride, count, o, columns_, columns_ / panel);
    }
    for (int64_t r = 0; r < group_size(g); ++r) {
      mix_seen(row_[row + r], keys.begin, count, p + r * score_stride, v, v_stride, o + r * columns_);
    }
  }

  bool partly_masked(int64_t g, const KeyRange& keys) const {
    if (a_.mask.data || a_.bias.data) return true;
    for (int64_t r = g * group_rows; r < g * group_rows + group_size(g); ++r) {
      if (row_[r].seen.begin > keys.begin || row_[r].seen.end < keys.end) return true;
    }
    return false;
  }

  // The same sums over what the row sees only, for values whose product with 0 is not 0.
  void mix_seen(const Row& row, int64_t key, int64_t count, const float* p, const float* v, int64_t v_stride,
                float* o) {
    for (int64_t j = 0; j < count; ++j) {
      if (key + j < row.seen.begin || key + j >= row.seen.end) continue;
      if (!unmasked(a_, row.sequence, row.head, row.query, key + j)) continue;
      mix_rows<false>(p + j, 1, v + j * v_stride, v_stride, 1, o, columns_, columns_ / panel);
    }
  }

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
    float* out =
        to.out.data + s_.batch * to.out.batch + (s_.query_begin + row.query) * to.out.token + row.head * to.out.head;
    const float* from = out_ + r * columns_;
    for (int64_t c = 0; c < a_.shape.value_width; ++c) out[c] = from[c] * own * inverse;
    if (to.sums) {
      to.sums[(s_.batch * a_.shape.heads + row.head) * a_.shape.queries + s_.query_begin + row.query] = {base, sum};
    }
    if (kept_[r].slot.wanted) finish_kept(job_, kept_[r], row, blocks, base, inverse);
  }

  int64_t group_size(int64_t g) const { return std::min<int64_t>(group_rows, rows_ - g * group_rows); }

  ForwardJob& job_;
  const Attention& a_;
  const ForwardTask& task_;
  const ForwardUnit& unit_;
  const SequenceSpan& s_;
  int64_t rows_, columns_;
  Scratch scratch_;
  Row* row_;
  Running* running_;
  KeptRow* kept_;
  float *scores_, *out_, *queries_;
  Columns* groups_;
  float* vector_ = nullptr;
  float base_ = 0;
};

void run_forward_task(ForwardJob& job, const ForwardTask& task) { ForwardPass(job, task).run(); }

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(pack_forward_block);
HWY_EXPORT(run_forward_task);

constexpr int64_t key_block = 256, query_block = 96;
// At most 24 MB are packed at a time, or one key head if that is more: few waves, since threads wait for each other at the
// end of each.
constexpr int64_t wave_floats = 6 << 20;

// With few rows a value is read once or twice: not worth a copy, or a look for odd numbers.
bool packs_values(const Attention& a, const SequenceSpan& s) {
  return s.queries * (a.shape.heads / a.shape.key_heads) >= 32;
}

int64_t rounded(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

int64_t packed_floats(const Attention& a, const SequenceSpan& s) {
  if (a.pages.tables) return s.keys / key_block + 64;
  int64_t total = rounded(s.keys, 16) * a.shape.width;
  return packs_values(a, s) ? total + s.keys * rounded(a.shape.value_width, 16) + s.keys / key_block + 64 : total;
}

ForwardUnit make_unit(const ForwardJob& job, int64_t sequence, int64_t key_head, Scratch& scratch) {
  const Attention& a = job.attention;
  const SequenceSpan& s = job.sequences[sequence];
  ForwardUnit u = {.sequence = sequence, .key_head = key_head, .width = a.shape.width};
  if (a.pages.tables) {
    const PageLayout page = {a.pages.tokens, a.shape.key_heads, a.shape.width, a.shape.value_width};
    u.pages = a.pages.tables[sequence], u.page_tokens = page.tokens, u.value_stride = page.value_stride();
    u.first_key = key_head * page.head(), u.first_value = u.first_key + page.values();
    if (packs_values(a, s)) u.odd = scratch.take<uint8_t>(s.keys / key_block + 1);
    return u;
  }
  u.panels = u.own_panels = scratch.take<float>(rounded(s.keys, 16) * a.shape.width);
  if (packs_values(a, s)) {
    u.value_stride = rounded(a.shape.value_width, 16);
    u.values = u.own_values = scratch.take<float>(s.keys * u.value_stride);
    u.odd = scratch.take<uint8_t>(s.keys / key_block + 1);
  } else {
    u.values = a.v.data + s.batch * a.v.batch + s.key_begin * a.v.token + key_head * a.v.head;
    u.value_stride = a.v.token;
  }
  return u;
}

// Few queries: all heads of a group together, so that keys and values are read once.
void add_tasks(ForwardJob& job, int64_t unit) {
  const ForwardUnit& u = job.units[unit];
  const AttentionShape& shape = job.attention.shape;
  int64_t group = shape.heads / shape.key_heads, queries = job.sequences[u.sequence].queries;
  if (queries == 0) return;
  bool together = queries < 8 && job.attention.score == ScoreKind::dot;
  int64_t heads = together ? std::min(group, query_block / queries) : 1;
  for (int64_t h = 0; h < group; h += heads) {
    for (int64_t q = 0; q < queries; q += query_block) {
      job.tasks.push_back(
          {unit, u.key_head * group + h, std::min(heads, group - h), q, std::min(query_block, queries - q)});
    }
  }
}

void run_wave(ForwardJob& job) {
  struct Piece {
    int64_t unit, block;
  };
  std::vector<Piece> pieces;
  for (int64_t u = 0; u < static_cast<int64_t>(job.units.size()); ++u) {
    const ForwardUnit& unit = job.units[u];
    add_tasks(job, u);
    if (!unit.own_panels && !unit.odd) continue;
    for (int64_t b = 0; b * key_block < job.sequences[unit.sequence].keys; ++b) pieces.push_back({u, b});
  }
  // The longest tasks first; masses are added in rising order, so there the order stays.
  if (job.attention.causal && !job.probe.mass) std::reverse(job.tasks.begin(), job.tasks.end());
  auto pack = HWY_DYNAMIC_DISPATCH(pack_forward_block);
  auto run = HWY_DYNAMIC_DISPATCH(run_forward_task);
  parallel_for(pieces.size(), [&](int64_t i) { pack(job, job.units[pieces[i].unit], pieces[i].block); });
  parallel_for(job.tasks.size(), [&](int64_t i) { run(job, job.tasks[i]); });
  job.units.clear(), job.tasks.clear();
}

}  // namespace

void attention_forward(const Attention& a, const AttentionOutput& result, const AttentionProbe& probe) {
  check(a, "attention_forward");
  ForwardJob job{.attention = a, .result = result, .probe = probe, .sequences = sequences_of(a)};
  prepare_probe(job);
  int64_t count = job.sequences.size();
  for (int64_t s = 0, h = 0; s < count;) {
    Scratch scratch;
    int64_t floats = 0;
    while (s < count) {
      int64_t more = packed_floats(a, job.sequences[s]);
      if (!job.units.empty() && floats + more > wave_floats) break;
      floats += more;
      job.units.push_back(make_unit(job, s, h, scratch));
      if (++h == a.shape.key_heads) h = 0, ++s;
    }
    run_wave(job);
  }
}

}  // namespace fovea::kernels
#endif
