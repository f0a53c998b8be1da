// attend() through the fused kernel: tensors become the kernel's pointers, and its backward pass the tape's gradient.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/attention/kept.h"
#include "fovea/attention/problem.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/work.h"

namespace fovea {
namespace {

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

AttentionResult soft_result(const std::shared_ptr<const Problem>& problem, const Probe* wanted,
                            const Weight& output_of) {
  Forward forward = run_forward(*problem, wanted);
  AttentionResult result;
  result.probe = std::exchange(forward.probe, {});
  const std::shared_ptr<KeptProblem> kept = wanted && wanted->keep ? keep(problem, forward.sums, output_of) : nullptr;
  result.probe.kept = kept;
  const Tensor output = result.output = forward.output;
  const Operands& x = problem->operands;
  if (!needs_gradient(x.q, x.k, x.v, x.vector, x.line, x.bias, x.sinks)) return result;
  result.output =
      with_gradient("attend", output, x.list(), [problem, kept, forward = std::move(forward)](const Tensor& dy) {
        if (kept) kept->came_back(dy);
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
  if (wanted) {
    Forward seen = run_forward(*problem, wanted);
    result.probe = std::move(seen.probe);
    if (wanted->keep) result.probe.kept = keep(problem, std::move(seen.sums), {});
  }
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
  return o.selection == Selection::hard ? hard_result(problem, wanted, o.hard_gradient, c)
                                        : soft_result(problem, wanted, o.output);
}

AttentionResult fused_or_formula(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o,
                                 const Context& c) {
  AttentionSizes n = checked_sizes(q, k, v, o);
  if (q.dtype() == DType::f64) return recorded(attend_by_formula(q, k, v, o, c), o, c);
  Operands x = side_operands(n, o);
  x.q = with_unit_stride(o.form->fused_query(q, o.weights));
  x.k = with_unit_stride(o.form->fused_key(k, o.weights));
  x.v = with_unit_stride(repeat_heads(v, x.k.size(2) / n.key_heads));  // a form may project keys for each query head
  n.key_heads = x.k.size(2);
  return recorded(run(std::make_shared<const Problem>(n, std::move(x), rows_of(o.mask, n), o, c), o, c), o, c);
}

// Pairs of a query and a key that a head scores: those of each packed sequence, or of a row's real part; half of them where no
// query looks ahead.
double scored_pairs(const Mask& mask, const AttentionSizes& n) {
  const Rows rows = rows_of(mask, n);
  double pairs = rows.sequences.empty() ? static_cast<double>(n.batch * n.queries) * static_cast<double>(n.keys) : 0;
  for (const kernels::SequenceSpan& s : rows.sequences) pairs += static_cast<double>(s.queries * s.keys);
  return mask.causal ? pairs / 2 : pairs;
}

}  // namespace

AttentionResult attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o, const Context& c) {
  TimedWork timed(Work::Kind::attention);
  AttentionResult result = fused_or_formula(q, k, v, o, c);
  if (!timed) return result;
  const AttentionSizes n = checked_sizes(q, k, v, o);
  timed.done({.flops = 2 * scored_pairs(o.mask, n) * static_cast<double>(n.heads * (q.size(3) + v.size(3))),
              .bytes = bytes_of(q) + bytes_of(k) + bytes_of(v) + bytes_of(result.output),
              .how = q.dtype() == DType::f64 ? "the formula, in f64"
                     : wanted_probe(o, c)    ? "fused, with a probe"
                                             : "fused",
              .input = &q,
              .output = &result.output});
  return result;
}

}  // namespace fovea
