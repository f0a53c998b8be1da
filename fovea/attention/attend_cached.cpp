// attend() over the pages of a cache.
#include <algorithm>
#include <cmath>

#include "fovea/attention/cache.h"
#include "fovea/attention/problem.h"
#include "fovea/tensor/work.h"

namespace fovea {
namespace {

// The pages of each sequence, as the kernel takes them.
struct Tables {
  std::vector<const float*> pages;
  std::vector<size_t> begins;
  std::vector<const float* const*> tables;

  void add(const KeyCache& cache, const PageTable::Row& row) {
    begins.push_back(pages.size());
    for (int64_t number : row.pages) pages.push_back(cache.page(number));
  }
  kernels::KeyPages finish(const kernels::PageLayout& page) {
    for (size_t begin : begins) tables.push_back(pages.data() + begin);
    return {tables.data(), page.tokens, page.precision};
  }
};

// Whether neighbouring rows with the same keys may be the queries of one sequence, so that the keys are read once.
bool rows_are_queries(const AttentionOptions& o, const Context& c) {
  const bool places_count = o.mask.causal || o.mask.window > 0 || o.bias.slopes || o.bias.table;
  return o.selection == Selection::soft && !places_count && !o.mask.visible && !o.bias.added && !wanted_probe(o, c);
}

Rows cached_rows(const KeyCache& cache, std::span<const int64_t> starts, bool together, Tables& tables) {
  Rows r;
  const PageTable::Row* before = nullptr;
  for (size_t i = 0; i < cache.table().rows().size(); ++i) {
    const PageTable::Row& row = cache.table().rows()[i];
    const int64_t queries = starts[i + 1] - starts[i];
    r.queries = std::max(r.queries, queries), r.keys = std::max(r.keys, row.length);
    if (together && before && before->length == row.length && before->pages == row.pages) {
      r.sequences.back().queries += queries;
      continue;
    }
    r.sequences.push_back({0, starts[i], queries, 0, row.length});
    tables.add(cache, row);
    before = &row;
  }
  r.rows = static_cast<int64_t>(r.sequences.size());
  return r;
}

// y[query] = the value of the key with the largest weight.
AttentionResult largest_of(const Problem& problem, const kernels::PageLayout& page) {
  const AttentionSizes& n = problem.sizes;
  const Rows& rows = problem.rows;
  const Shape shape = {1, n.heads, n.queries};
  AttentionResult result = {
      zeros({1, n.queries, n.heads, n.value_width}), {}, full(shape, -1, DType::i64), zeros(shape)};
  const Probe largest = {.top = rows.keys > 0 ? 1 : 0};
  const Forward forward = run_forward(problem, &largest);
  for (size_t s = 0; s < rows.sequences.size() && rows.keys > 0; ++s) {
    const kernels::SequenceSpan& span = rows.sequences[s];
    for (int64_t h = 0; h < n.heads; ++h) {
      for (int64_t i = 0; i < span.queries; ++i) {
        const int64_t from = (static_cast<int64_t>(s) * n.heads + h) * rows.queries + i, query = span.query_begin + i;
        const int64_t key = forward.probe.top_keys.data<int64_t>()[from];
        if (key < 0) continue;
        result.selected.data<int64_t>()[h * n.queries + query] = key;
        result.log_probability.data<float>()[h * n.queries + query] =
            std::log(forward.probe.top_weights.data<float>()[from]);
        const float* value = problem.attention.pages.tables[s][key / page.tokens] + h / n.group() * page.head() +
                             page.values() + key % page.tokens * page.value_stride();
        std::copy_n(value, n.value_width, result.output.data<float>() + (query * n.heads + h) * n.value_width);
      }
    }
  }
  show_nan(result.output, forward.sums);
  return result;
}

AttentionResult run(const Tensor& q, const KeyCache& cache, std::span<const int64_t> starts, const AttentionOptions& o,
                    const Context& c) {
  const kernels::PageLayout page = cache.layout();
  const Mask& m = o.mask;
  require(o.selection == Selection::soft || page.precision == Precision::f32,
          "attention: found a hard choice from a cache in {}, expected one in f32", name(page.precision));
  require(!c.training, "attention: found a cache in training, expected none: it keeps no gradient");
  require(!m.query_offsets && !m.key_lengths && !m.query_lengths && !m.query_starts && !m.key_starts,
          "attention: found a mask with offsets, lengths or starts beside a cache, expected those of the cache's rows");
  require(
      starts.size() == cache.table().rows().size() + 1 && q.rank() == 4 && starts.front() == 0 &&
          std::is_sorted(starts.begin(), starts.end()) && q.size(1) == starts.back(),
      "attention: found queries {} for {} rows of a cache, expected [1, tokens, heads, width] and where each begins",
      q.shape(), cache.table().rows().size());
  Tables tables;
  Rows rows = cached_rows(cache, starts, rows_are_queries(o, c), tables);
  auto shaped = [&](int64_t width) { return zeros({}).expand({1, rows.keys, page.key_heads, width}); };
  AttentionSizes n = checked_sizes(q, shaped(cache.key_width()), shaped(page.value_width), o);
  if (rows.sequences.empty()) return {zeros({1, 0, n.heads, n.value_width})};
  Operands x = side_operands(n, o);
  x.q = with_unit_stride(o.form->fused_query(q, o.weights)).detach();
  Problem problem(n, std::move(x), std::move(rows), o, c);
  problem.attention.pages = tables.finish(page);
  const Probe* wanted = wanted_probe(o, c);
  Probe instead;
  if (wanted && wanted->keep) instead = *wanted, instead.weights = true, wanted = &instead;
  if (o.selection == Selection::soft) {
    Forward forward = run_forward(problem, wanted);
    return recorded({forward.output, std::move(forward.probe)}, o, c);
  }
  AttentionResult result = largest_of(problem, page);
  if (wanted) result.probe = run_forward(problem, wanted).probe;
  return recorded(std::move(result), o, c);
}

}  // namespace

AttentionResult attend(const Tensor& q, const KeyCache& cache, std::span<const int64_t> starts,
                       const AttentionOptions& o, const Context& c) {
  TimedWork timed(Work::Kind::attention);
  AttentionResult result = run(q, cache, starts, o, c);
  if (!timed) return result;
  const kernels::PageLayout page = cache.layout();
  double cells = 0, keys = 0;
  for (size_t i = 0; i < cache.table().rows().size(); ++i) {
    const auto length = static_cast<double>(cache.table().rows()[i].length);
    cells += static_cast<double>(starts[i + 1] - starts[i]) * length, keys += length;
  }
  const auto widths = static_cast<double>(cache.key_width() + page.value_width);
  timed.done({.flops = 2 * cells * static_cast<double>(q.size(2)) * widths,
              .bytes = bytes_of(q) + bytes_of(result.output) +
                       (page.precision == Precision::f32 ? 4 : 2) * keys * static_cast<double>(page.key_heads) * widths,
              .how = wanted_probe(o, c) ? "fused, over a cache, with a probe" : "fused, over a cache",
              .input = &q,
              .output = &result.output});
  return result;
}

}  // namespace fovea
