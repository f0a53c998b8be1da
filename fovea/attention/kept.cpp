#include "fovea/attention/kept.h"

#include <algorithm>
#include <cmath>

#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/matmul.h"

namespace fovea {
namespace {

class Kept final : public KeptProblem {
 public:
  Kept(std::shared_ptr<const Problem> problem, std::vector<kernels::RowSum> sums, Weight output)
      : problem_(std::move(problem)), sums_(std::move(sums)), output_(std::move(output)) {}

  int64_t rows() const override { return problem_->rows.rows; }
  int64_t heads() const override { return problem_->sizes.heads; }
  int64_t queries() const override { return problem_->rows.queries; }
  int64_t keys() const override { return problem_->rows.keys; }

  // The kernel runs over the queries that were asked for, of one head: a row's weights depend on that row alone.
  Tensor weights(int64_t row, int64_t head, Range queries, Range keys) const override {
    const ProbeSelection chosen = selection_of({.heads = {head}, .row_range = queries, .key_range = keys}, heads(),
                                               this->queries(), this->keys());
    const int64_t begin = chosen.rows.empty() ? 0 : chosen.rows.front();
    const auto wanted = static_cast<int64_t>(chosen.rows.size());
    const int64_t count = std::max<int64_t>(0, std::min(wanted, span_of(row).queries - begin));
    Tensor result = zeros({wanted, chosen.keys.end - chosen.keys.begin});
    if (count == 0) return result;
    const Part part(*this, row, head, begin, count);
    const int64_t first[] = {0};
    kernels::AttentionProbe probe;
    probe.heads = first, probe.row_end = count, probe.key_begin = chosen.keys.begin, probe.key_end = chosen.keys.end;
    probe.weights = result.data<float>();
    part.run(probe);
    return result;
  }

  Parts parts(int64_t row, int64_t head) const override {
    const kernels::Attention& a = problem_->attention;
    const bool plain = a.score == kernels::ScoreKind::dot && a.softcap == 0 && a.window_left < 0 &&
                       a.window_right < 0 && !a.mask.data && !a.line.data && !a.bias.data && !a.sinks;
    const kernels::SequenceSpan span = span_of(row);
    if (!plain || (a.causal && span.shift() != 0) || span.queries == 0) return {};
    const AttentionSizes& n = problem_->sizes;
    require(0 <= head && head < n.heads, "kept attention: found head {}, expected 0 to {}", head, n.heads - 1);
    auto tokens_of = [&](const Tensor& x, int64_t begin, int64_t count, int64_t number) {
      return x.detach().select(0, span.batch).slice(0, begin, begin + count).select(1, number);
    };
    Parts p = {tokens_of(problem_->operands.q, span.query_begin, span.queries, head),
               tokens_of(problem_->operands.k, span.key_begin, span.keys, head / (n.heads / n.key_heads)),
               Tensor({span.queries}, DType::f32), a.scale, a.causal};
    if (a.precision == Precision::bf16) {  // the products were of these
      auto rounded = [](const Tensor& x) { return x.to(DType::bf16).to(DType::f32); };
      p.q = rounded(p.q * p.scale), p.k = rounded(p.k), p.scale = 1;
    }
    if (a.precision == Precision::f16) p.k = p.k.to(DType::f16).to(DType::f32);
    const kernels::RowSum* sums = sums_.data() + (span.batch * n.heads + head) * n.queries + span.query_begin;
    for (int64_t i = 0; i < span.queries; ++i) p.lse.data<float>()[i] = sums[i].maximum + std::log(sums[i].sum);
    return p;
  }

  Tensor brought(int64_t row, int64_t head, Range keys) const override {
    const Tensor v = values(row, head).slice(0, keys.begin, keys.end < 0 ? span_of(row).keys : keys.end);
    if (!output_) return v;
    const int64_t width = problem_->sizes.value_width;
    const Tensor w =
        (output_.packed() ? output_.unpacked() : output_->detach()).slice(1, head * width, (head + 1) * width);
    return linear(v, w);
  }

  void came_back(const Tensor& d_output) override { d_output_ = d_output.detach(); }

  // output[i] = Σ w[i, j] v[j], so ∂/∂w[i, j] = d_output[i] · v[j].
  Tensor gradient(int64_t row, int64_t head, int64_t query) const override {
    const kernels::SequenceSpan span = span_of(row);
    require(0 <= query && query < span.queries, "kept attention: found query {}, expected 0 to {}", query,
            span.queries - 1);
    if (!d_output_) return {};
    const Tensor dy = d_output_.select(0, span.batch).select(0, span.query_begin + query).select(0, head);
    return matmul(values(row, head), dy.contiguous());
  }

 private:
  // [keys, width]
  Tensor values(int64_t row, int64_t head) const {
    const kernels::SequenceSpan span = span_of(row);
    const AttentionSizes& n = problem_->sizes;
    require(0 <= head && head < n.heads, "kept attention: found head {}, expected 0 to {}", head, n.heads - 1);
    return problem_->operands.v.detach()
        .select(0, span.batch)
        .slice(0, span.key_begin, span.key_begin + span.keys)
        .select(1, head / (n.heads / n.key_heads));
  }

  kernels::SequenceSpan span_of(int64_t row) const {
    const Rows& r = problem_->rows;
    require(0 <= row && row < r.rows, "kept attention: found row {}, expected 0 to {}", row, r.rows - 1);
    if (!r.sequences.empty()) return r.sequences[static_cast<size_t>(row)];
    return {row, 0, problem_->sizes.queries, 0, problem_->sizes.keys};
  }

  // One head and some of the queries of one sequence, as a problem of their own.
  struct Part {
    kernels::Attention attention;
    kernels::SequenceSpan span;

    Part(const Kept& whole, int64_t row, int64_t head, int64_t begin, int64_t count)
        : attention(whole.problem_->attention), span(whole.span_of(row)) {
      kernels::Attention& a = attention;
      const int64_t key_head = head / (a.shape.heads / a.shape.key_heads);
      a.q.data += span.batch * a.q.batch + (span.query_begin + begin) * a.q.token + head * a.q.head;
      a.k.data += span.batch * a.k.batch + key_head * a.k.head;
      a.v.data += span.batch * a.v.batch + key_head * a.v.head;
      if (a.vector) a.vector += head * a.shape.width;
      if (a.line.data) a.line.data += head * a.line.head;
      if (a.sinks) a.sinks += head;
      if (a.mask.data) a.mask.data += row * a.mask.batch + head * a.mask.head + begin * a.mask.query;
      if (a.bias.data) a.bias.data += row * a.bias.batch + head * a.bias.head + begin * a.bias.query;
      a.shape.batch = a.shape.heads = a.shape.key_heads = 1, a.shape.queries = count;
      a.dropout = {};
      span = {0, 0, count, span.key_begin, span.keys, span.shift() + begin};
    }
    void run(const kernels::AttentionProbe& probe) const {
      kernels::Attention a = attention;
      a.sequences = std::span(&span, 1);
      Tensor output({1, span.queries, 1, a.shape.value_width}, DType::f32);
      kernels::attention_forward(a, {tokens_out(output)}, probe);
    }
  };

  std::shared_ptr<const Problem> problem_;
  std::vector<kernels::RowSum> sums_;
  Weight output_;
  Tensor d_output_;
};

}  // namespace

std::shared_ptr<KeptProblem> keep(std::shared_ptr<const Problem> problem, std::vector<kernels::RowSum> sums,
                                  Weight output) {
  return std::make_shared<Kept>(std::move(problem), std::move(sums), std::move(output));
}

}  // namespace fovea
