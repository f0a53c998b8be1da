// attend() through the fused kernel: tensors become the kernel's pointers, and its backward pass the tape's gradient.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/attention/cache.h"
#include "fovea/attention/check.h"
#include "fovea/attention/probe.h"
#include "fovea/attention/sequences.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"

namespace fovea {
namespace {

// What the kernel reads, with contiguous last axes, and the tape's inputs in this order. Empty where a call has none.
struct Operands {
  Tensor q, k, v, vector, line, bias, sinks;
  std::vector<Tensor> list() const { return {q, k, v, vector, line, bias, sinks}; }
};

double scale_of(const AttentionSizes& n, const AttentionOptions& o) {
  return o.scale.value_or(o.form->scale(n.key_width));
}

Tensor with_unit_stride(const Tensor& x) { return x.size(-1) <= 1 || x.stride(-1) == 1 ? x : x.contiguous(); }

kernels::TokenArray tokens(const Tensor& x) { return {x.data<float>(), x.stride(0), x.stride(1), x.stride(2)}; }
kernels::TokenArrayOut tokens_out(Tensor& x) { return {x.data<float>(), x.stride(0), x.stride(1), x.stride(2)}; }

// The sequences of a call, and the axes that its masks, biases and probes have: [rows, heads, queries, keys].
struct Rows {
  std::vector<kernels::SequenceSpan> sequences;  // empty: whole batch rows
  int64_t rows = 0, queries = 0, keys = 0;
};

Rows rows_of(const Mask& mask, const AttentionSizes& n) {
  Rows r = {sequences_of(mask, n.batch, n.queries, n.keys), n.batch, n.queries, n.keys};
  if (mask.query_starts) r.rows = static_cast<int64_t>(r.sequences.size());
  return r;
}

// One attention problem: everything the kernel needs. `attention` points into the other members, so it stays where it is.
struct Problem {
  AttentionSizes sizes;
  Operands operands;
  Rows rows;
  Tensor visible;
  kernels::Attention attention;

  Problem(const AttentionSizes& n, Operands x, Rows r, const AttentionOptions& o, const Context& c);
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
};

Problem::Problem(const AttentionSizes& n, Operands x, Rows r, const AttentionOptions& o, const Context& c)
    : sizes(n), operands(std::move(x)), rows(std::move(r)) {
  kernels::Attention& a = attention;
  a.shape = {n.batch, n.queries, n.keys, n.heads, n.key_heads, operands.q.size(3), n.value_width};
  a.sequences = rows.sequences;
  a.q = tokens(operands.q);
  if (operands.k) a.k = tokens(operands.k), a.v = tokens(operands.v);
  a.score = kernel_score(*o.form);
  if (a.score == kernels::ScoreKind::dot) a.scale = static_cast<float>(scale_of(n, o));
  if (operands.vector) a.vector = operands.vector.data<float>();
  a.softcap = static_cast<float>(o.softcap);
  a.causal = o.mask.causal;
  if (o.mask.window > 0) a.window_left = a.window_right = std::min(o.mask.window - 1, 2 * (n.keys + n.queries));
  if (o.mask.visible) {
    visible = expanded_mask(o.mask, rows.rows, rows.queries, rows.keys);
    const int64_t head = visible.size(1) == 1 ? 0 : visible.stride(1);
    a.mask = {reinterpret_cast<const uint8_t*>(visible.data<int8_t>()), visible.stride(0), head, visible.stride(2),
              visible.stride(3)};
  }
  if (operands.line)
    a.line = {operands.line.data<float>(), operands.line.stride(0), -distances_of(o.mask, n.queries, n.keys).first};
  if (operands.bias) {
    const Tensor b = operands.bias.detach().expand({rows.rows, n.heads, rows.queries, rows.keys});
    a.bias = {b.data<float>(), b.stride(0), b.stride(1), b.stride(2), b.stride(3)};
  }
  if (operands.sinks) a.sinks = operands.sinks.data<float>();
  a.dropout = attention_dropout(o, c);
}

// What every call has beside q, k and v. An additive score has no scale of its own: it goes into the vector.
Operands side_operands(const AttentionSizes& n, const AttentionOptions& o) {
  Operands x;
  if (o.weights.vector) {
    const Tensor& vector = *o.weights.vector;
    x.vector = (vector * scale_of(n, o)).expand({n.heads, vector.size(-1)}).contiguous();
  }
  x.line = distance_line(o.bias, n.heads, distances_of(o.mask, n.queries, n.keys), DType::f32);
  x.bias = o.bias.added;
  if (o.sinks) x.sinks = o.sinks.contiguous();
  return x;
}

// The kernel's probe for a Probe, and the tensors it writes to.
struct KernelProbe {
  ProbeSelection chosen;
  ProbeResult result;
  kernels::AttentionProbe probe;
};

void set_up(KernelProbe& p, const Probe& wanted, const Problem& problem) {
  p.chosen = selection_of(wanted, problem.sizes.heads, problem.rows.queries, problem.rows.keys);
  const Shape rows = {problem.rows.rows, static_cast<int64_t>(p.chosen.heads.size()),
                      static_cast<int64_t>(p.chosen.rows.size())};
  auto with = [&](int64_t size) {
    Shape s = rows;
    s.push_back(size);
    return s;
  };
  const int64_t width = p.chosen.keys.end - p.chosen.keys.begin;
  kernels::AttentionProbe& k = p.probe;
  k.heads = p.chosen.heads;
  k.rows = p.chosen.rows;
  k.key_begin = p.chosen.keys.begin, k.key_end = p.chosen.keys.end;
  if (wanted.weights) p.result.weights = Tensor(with(width), DType::f32), k.weights = p.result.weights.data<float>();
  if (wanted.mass) p.result.mass = zeros({rows[0], rows[1], width}), k.mass = p.result.mass.data<float>();
  if (wanted.argmax) p.result.argmax = Tensor(rows, DType::i64), k.argmax = p.result.argmax.data<int64_t>();
  if (wanted.entropy) p.result.entropy = Tensor(rows, DType::f32), k.entropy = p.result.entropy.data<float>();
  if (wanted.top > 0) {
    p.result.top_weights = Tensor(with(wanted.top), DType::f32),
    p.result.top_keys = Tensor(with(wanted.top), DType::i64);
    k.top = wanted.top, k.top_values = p.result.top_weights.data<float>(),
    k.top_keys = p.result.top_keys.data<int64_t>();
  }
}

struct Forward {
  Tensor output;
  std::vector<kernels::RowSum> sums;  // [batch, heads, queries]
  ProbeResult probe;
};

Forward run_forward(const Problem& problem, KernelProbe& p) {
  const AttentionSizes& n = problem.sizes;
  // Queries outside every sequence are not touched by the kernel: they give zeros.
  const bool whole = problem.rows.sequences.empty();
  const Shape shape = {n.batch, n.queries, n.heads, n.value_width};
  Forward f = {whole ? Tensor(shape, DType::f32) : zeros(shape), {}, {}};
  f.sums.resize(static_cast<size_t>(n.batch * n.heads * n.queries));
  kernels::attention_forward(problem.attention, {tokens_out(f.output), f.sums.data()}, p.probe);
  f.probe = std::move(p.result);
  return f;
}

Forward run_forward(const Problem& problem, const Probe* wanted) {
  KernelProbe p;
  if (wanted) set_up(p, *wanted, problem);
  return run_forward(problem, p);
}

// The gradients of all operands, in their order. `d_output` or `selected` may be missing.
Gradients run_backward(const Problem& problem, const Forward& forward, const Tensor& d_output, const Tensor& selected,
                       const Tensor& d_selected) {
  const Operands& x = problem.operands;
  const AttentionSizes& n = problem.sizes;
  Tensor dy = with_unit_stride(d_output ? d_output : zeros(forward.output.shape()));
  Tensor out = d_output ? forward.output : dy;
  // The kernel overwrites the gradients of every token of a sequence; the others get zeros.
  auto gradient = [whole = problem.rows.sequences.empty()](const Tensor& of) {
    return whole ? Tensor(of.shape(), DType::f32) : zeros(of.shape());
  };
  Tensor dq = gradient(x.q), dk = gradient(x.k), dv = gradient(x.v);
  kernels::AttentionGradients g;
  g.out = tokens(out), g.d_out = tokens(dy), g.sums = forward.sums.data();
  g.d_q = tokens_out(dq), g.d_k = tokens_out(dk), g.d_v = tokens_out(dv);
  Tensor chosen_gradient;
  if (selected && d_selected) {
    chosen_gradient = d_selected.contiguous();
    g.selected = selected.data<int64_t>(), g.selected_gradient = chosen_gradient.data<float>();
  }
  Tensor d_vector, d_line, d_bias, d_sinks;
  if (x.vector) d_vector = zeros(x.vector.shape()), g.d_vector = d_vector.data<float>();
  if (x.line && x.line.needs_gradient()) d_line = zeros(x.line.shape()), g.d_line = d_line.data<float>();
  if (x.sinks) d_sinks = zeros(x.sinks.shape()), g.d_sinks = d_sinks.data<float>();
  if (x.bias && x.bias.needs_gradient()) {
    d_bias = zeros({problem.rows.rows, n.heads, n.queries, n.keys});
    g.d_bias = {d_bias.data<float>(), d_bias.stride(0), d_bias.stride(1), d_bias.stride(2), d_bias.stride(3)};
  }
  kernels::attention_backward(problem.attention, g);
  return {dq, dk, dv, d_vector, d_line, d_bias ? sum_to(d_bias, x.bias.shape()) : d_bias, d_sinks};
}

// f(batch row, query, head, selected key, key head) wherever something is selected.
template <class F>
void for_each_choice(const AttentionSizes& n, const Tensor& selected, F&& f) {
  const int64_t* chosen = selected.data<int64_t>();
  for (int64_t b = 0; b < n.batch; ++b) {
    for (int64_t h = 0; h < n.heads; ++h) {
      for (int64_t i = 0; i < n.queries; ++i) {
        const int64_t key = chosen[(b * n.heads + h) * n.queries + i];
        if (key >= 0) f(b, i, h, key, h / (n.heads / n.key_heads));
      }
    }
  }
}

// y[b, i, h] = v[b, selected[b, h, i]], zeros where nothing is selected; and its gradient.
Tensor gather_choices(const AttentionSizes& n, const Tensor& selected, const Tensor& v) {
  Tensor y = zeros({n.batch, n.queries, n.heads, n.value_width});
  for_each_choice(n, selected, [&](int64_t b, int64_t i, int64_t h, int64_t key, int64_t key_head) {
    const float* from = v.data<float>() + b * v.stride(0) + key * v.stride(1) + key_head * v.stride(2);
    std::copy(from, from + n.value_width, y.data<float>() + b * y.stride(0) + i * y.stride(1) + h * y.stride(2));
  });
  return y;
}

// A NaN among the scores that a query sees leaves nothing to choose from: it stays visible.
void show_nan(Tensor& output, const std::vector<kernels::RowSum>& sums) {
  for (int64_t b = 0; b < output.size(0); ++b) {
    for (int64_t i = 0; i < output.size(1); ++i) {
      for (int64_t h = 0; h < output.size(2); ++h) {
        if (!std::isnan(sums[static_cast<size_t>((b * output.size(2) + h) * output.size(1) + i)].sum)) continue;
        float* row = output.data<float>() + b * output.stride(0) + i * output.stride(1) + h * output.stride(2);
        std::fill(row, row + output.size(3), std::numeric_limits<float>::quiet_NaN());
      }
    }
  }
}

Tensor scatter_choices(const AttentionSizes& n, const Tensor& selected, const Tensor& dy) {
  Tensor dv = zeros({n.batch, n.keys, n.key_heads, n.value_width});
  Tensor rows = with_unit_stride(dy);
  for_each_choice(n, selected, [&](int64_t b, int64_t i, int64_t h, int64_t key, int64_t key_head) {
    const float* from = rows.data<float>() + b * rows.stride(0) + i * rows.stride(1) + h * rows.stride(2);
    float* to = dv.data<float>() + b * dv.stride(0) + key * dv.stride(1) + key_head * dv.stride(2);
    for (int64_t d = 0; d < n.value_width; ++d) to[d] += from[d];
  });
  return dv;
}

AttentionResult soft_result(const std::shared_ptr<const Problem>& problem, const Probe* wanted) {
  Forward forward = run_forward(*problem, wanted);
  AttentionResult result;
  result.probe = std::exchange(forward.probe, {});
  const Tensor output = forward.output;
  result.output = with_gradient("attend", output, problem->operands.list(),
                                [problem, forward = std::move(forward)](const Tensor& dy) {
                                  return run_backward(*problem, forward, dy, {}, {});
                                });
  return result;
}

// The choice is one more probe of the kernel's: a sampled key, or the one with the largest weight.
struct Choice {
  Forward forward;
  Tensor selected, log_probability;
};

Choice choose(const Problem& problem, const Context& c) {
  const AttentionSizes& n = problem.sizes;
  const Shape rows = {n.batch, n.heads, n.queries};
  Choice choice;
  if (!c.training) {
    const Probe largest = {.top = n.keys > 0 ? 1 : 0};
    choice.forward = run_forward(problem, &largest);
    if (n.keys == 0) return {choice.forward, full(rows, -1, DType::i64), zeros(rows)};
    choice.selected = choice.forward.probe.top_keys.reshape(rows);
    choice.log_probability = log(choice.forward.probe.top_weights.reshape(rows));
    for (int64_t row = 0; row < choice.selected.elements(); ++row) {
      if (choice.selected.data<int64_t>()[row] < 0) choice.log_probability.data<float>()[row] = 0;
    }
    return choice;
  }
  KernelProbe probe;
  set_up(probe, {}, problem);
  Tensor uniforms = selection_uniforms(rows, c);
  choice.selected = Tensor(rows, DType::i64), choice.log_probability = Tensor(rows, DType::f32);
  probe.probe.uniforms = uniforms.data<float>();
  probe.probe.sampled = choice.selected.data<int64_t>();
  probe.probe.log_probability = choice.log_probability.data<float>();
  choice.forward = run_forward(problem, probe);
  return choice;
}

AttentionResult hard_result(const std::shared_ptr<const Problem>& problem, const Probe* wanted, HardGradient kind,
                            const Context& c) {
  require(problem->rows.rows == problem->sizes.batch,
          "attention: hard selection takes whole batches, found packed sequences");
  AttentionResult result;
  if (wanted) result.probe = run_forward(*problem, wanted).probe;
  const Choice choice = choose(*problem, c);
  result.selected = choice.selected;
  Tensor output = gather_choices(problem->sizes, choice.selected, problem->operands.v);
  show_nan(output, choice.forward.sums);
  std::vector<Tensor> both = with_gradient(
      "attend", {output, choice.log_probability}, problem->operands.list(),
      [problem, choice, kind](std::span<const Tensor> d) {
        const bool through_weights = d[0] && kind != HardGradient::reinforce;
        Gradients g = run_backward(*problem, choice.forward, through_weights ? d[0] : Tensor(), choice.selected, d[1]);
        if (kind != HardGradient::marginal)
          g[2] = d[0] ? scatter_choices(problem->sizes, choice.selected, d[0]) : Tensor();
        return g;
      });
  result.output = both[0], result.log_probability = both[1];
  return result;
}

AttentionResult run(const std::shared_ptr<const Problem>& problem, const AttentionOptions& o, const Context& c) {
  const Probe* wanted = wanted_probe(o, c);
  if (o.selection == Selection::hard) return hard_result(problem, wanted, o.hard_gradient, c);
  return soft_result(problem, wanted);
}

AttentionResult recorded(AttentionResult result, const AttentionOptions& o, const Context& c) {
  if (c.trace && wanted_probe(o, c)) c.trace->add(c.place, result.probe);
  return result;
}

}  // namespace

AttentionResult attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o, const Context& c) {
  AttentionSizes n = checked_sizes(q, k, v, o);
  if (q.dtype() == DType::f64) return recorded(attend_by_formula(q, k, v, o, c), o, c);
  Operands x = side_operands(n, o);
  x.q = with_unit_stride(o.form->fused_query(q, o.weights));
  x.k = with_unit_stride(o.form->fused_key(k, o.weights));
  x.v = with_unit_stride(repeat_heads(v, x.k.size(2) / n.key_heads));  // a form may project keys for each query head
  n.key_heads = x.k.size(2);
  return recorded(run(std::make_shared<const Problem>(n, std::move(x), rows_of(o.mask, n), o, c), o, c), o, c);
}

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
  kernels::KeyPages finish(int64_t page_tokens) {
    for (size_t begin : begins) tables.push_back(pages.data() + begin);
    return {tables.data(), page_tokens};
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

}  // namespace

AttentionResult attend(const Tensor& q, const KeyCache& cache, std::span<const int64_t> starts,
                       const AttentionOptions& o, const Context& c) {
  const kernels::PageLayout& page = cache.layout();
  const Mask& m = o.mask;
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
  problem.attention.pages = tables.finish(page.tokens);
  const Probe* wanted = wanted_probe(o, c);
  if (o.selection == Selection::soft) {
    Forward forward = run_forward(problem, wanted);
    return recorded({forward.output, std::move(forward.probe)}, o, c);
  }
  AttentionResult result = largest_of(problem, page);
  if (wanted) result.probe = run_forward(problem, wanted).probe;
  return recorded(std::move(result), o, c);
}

}  // namespace fovea
