// One attention call as the fused kernel takes it: tensors become pointers, and what it returns becomes tensors. Shared by the
// calls of attend() over tensors and over a cache.
//
//   Problem problem(sizes, operands, rows_of(mask, sizes), options, context);
//   Forward forward = run_forward(problem, wanted_probe(options, context));
#pragma once

#include "fovea/attention/check.h"
#include "fovea/attention/probe.h"

namespace fovea {

// What the kernel reads, with contiguous last axes, and the tape's inputs in this order. Empty where a call has none.
struct Operands {
  Tensor q, k, v, vector, line, bias, sinks;
  std::vector<Tensor> list() const { return {q, k, v, vector, line, bias, sinks}; }
};

// What every call has beside q, k and v. An additive score has no scale of its own: it goes into the vector.
Operands side_operands(const AttentionSizes&, const AttentionOptions&);

// The sequences of a call, and the axes that its masks, biases and probes have: [rows, heads, queries, keys].
struct Rows {
  std::vector<kernels::SequenceSpan> sequences = {};  // empty: whole batch rows
  int64_t rows = 0, queries = 0, keys = 0;
};
Rows rows_of(const Mask&, const AttentionSizes&);

// `attention` points into the other members, so it stays where it is.
struct Problem {
  AttentionSizes sizes;
  Operands operands;
  Rows rows;
  Tensor visible;
  kernels::Attention attention;

  Problem(const AttentionSizes&, Operands, Rows, const AttentionOptions&, const Context&);
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
};

// The kernel's probe for a Probe, and the tensors it writes to.
struct KernelProbe {
  ProbeSelection chosen;
  ProbeResult result;
  kernels::AttentionProbe probe;
};
void set_up(KernelProbe&, const Probe& wanted, const Problem&);

struct Forward {
  Tensor output;
  std::vector<kernels::RowSum> sums;  // [batch, heads, queries]
  ProbeResult probe;
};
Forward run_forward(const Problem&, KernelProbe&);
Forward run_forward(const Problem&, const Probe* wanted);

// A NaN among the scores that a query sees leaves a hard selection nothing to choose from: it stays visible.
void show_nan(Tensor& output, const std::vector<kernels::RowSum>& sums);

// The result, once the context's trace has its part of it.
AttentionResult recorded(AttentionResult, const AttentionOptions&, const Context&);

Tensor with_unit_stride(const Tensor&);
kernels::TokenArray tokens(const Tensor&);
kernels::TokenArrayOut tokens_out(Tensor&);

}  // namespace fovea
