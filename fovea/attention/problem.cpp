#include "fovea/attention/problem.h"

#include <cmath>
#include <limits>

#include "fovea/attention/sequences.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"

namespace fovea {

namespace {

double scale_of(const AttentionSizes& n, const AttentionOptions& o) {
  return o.scale.value_or(o.form->scale(n.key_width));
}

}  // namespace

Tensor with_unit_stride(const Tensor& x) { return x.size(-1) <= 1 || x.stride(-1) == 1 ? x : x.contiguous(); }

kernels::TokenArray tokens(const Tensor& x) { return {x.data<float>(), x.stride(0), x.stride(1), x.stride(2)}; }
kernels::TokenArrayOut tokens_out(Tensor& x) { return {x.data<float>(), x.stride(0), x.stride(1), x.stride(2)}; }

Rows rows_of(const Mask& mask, const AttentionSizes& n) {
  Rows r = {sequences_of(mask, n.batch, n.queries, n.keys), n.batch, n.queries, n.keys};
  if (mask.query_starts) r.rows = static_cast<int64_t>(r.sequences.size());
  return r;
}

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
  if (!any_needs_gradient(operands.list())) a.precision = kernel_precision(o);
}

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

AttentionResult recorded(AttentionResult result, const AttentionOptions& o, const Context& c) {
  if (c.trace && wanted_probe(o, c)) c.trace->add(c.place, result.probe);
  return result;
}

}  // namespace fovea
