#include "fovea/attention/probe.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/kernels/unit.h"

namespace fovea {
namespace {

// f(row number among the results, its weights) for each chosen row.
template <class F>
void for_each_chosen_row(const Tensor& weights, const ProbeSelection& chosen, F&& f) {
  const std::vector<double> all = weights.values<double>();
  const int64_t keys = weights.size(3);
  int64_t number = 0;
  for (int64_t b = 0; b < weights.size(0); ++b) {
    for (int64_t h : chosen.heads) {
      for (int64_t i : chosen.rows) f(number++, all.data() + ((b * weights.size(1) + h) * weights.size(2) + i) * keys);
    }
  }
}

}  // namespace

const Probe* wanted_probe(const AttentionOptions& o, const Context& c) {
  if (o.probe) return &*o.probe;
  return c.trace ? c.trace->probe_for(c.place) : nullptr;
}

ProbeSelection selection_of(const Probe& probe, int64_t heads, int64_t queries, int64_t keys) {
  auto end_of = [](const Range& range, int64_t size, const char* what) {
    const int64_t end = range.end < 0 ? size : range.end;
    require(0 <= range.begin && range.begin <= end && end <= size,
            "probe: found {} {} to {}, expected them within 0 to {}", what, range.begin, range.end, size);
    return end;
  };
  ProbeSelection s = {probe.heads, probe.rows, {probe.key_range.begin, end_of(probe.key_range, keys, "keys")}};
  if (s.heads.empty()) {
    s.heads.resize(static_cast<size_t>(heads));
    std::iota(s.heads.begin(), s.heads.end(), int64_t{0});
  }
  if (s.rows.empty()) {
    const int64_t end = end_of(probe.row_range, queries, "rows");
    for (int64_t i = probe.row_range.begin; i < end; ++i) s.rows.push_back(i);
  }
  for (int64_t h : s.heads) require(0 <= h && h < heads, "probe: found head {}, expected 0 to {}", h, heads - 1);
  for (size_t i = 0; i < s.rows.size(); ++i) {
    require(0 <= s.rows[i] && s.rows[i] < queries && (i == 0 || s.rows[i - 1] < s.rows[i]),
            "probe: found row {}, expected rising numbers from 0 to {}", s.rows[i], queries - 1);
  }
  require(probe.top >= 0 && probe.top <= keys, "probe: found top {}, expected 0 to {}", probe.top, keys);
  return s;
}

ProbeResult probe_weights(const Tensor& weights, const Probe& probe) {
  const int64_t keys = weights.size(3);
  const ProbeSelection chosen = selection_of(probe, weights.size(1), weights.size(2), keys);
  const int64_t heads = static_cast<int64_t>(chosen.heads.size()), rows = static_cast<int64_t>(chosen.rows.size());
  const int64_t width = chosen.keys.end - chosen.keys.begin;
  const Shape row_shape = {weights.size(0), heads, rows};
  Shape weight_shape = row_shape, top_shape = row_shape;
  weight_shape.push_back(width);
  top_shape.push_back(probe.top);
  std::vector<double> kept, mass(static_cast<size_t>(weights.size(0) * heads * width)), entropy, top_weights;
  std::vector<int64_t> argmax, top_keys;
  for_each_chosen_row(weights, chosen, [&](int64_t number, const double* w) {
    kept.insert(kept.end(), w + chosen.keys.begin, w + chosen.keys.end);
    for (int64_t j = 0; j < width; ++j)
      mass[static_cast<size_t>(number / rows * width + j)] += w[chosen.keys.begin + j];
    std::vector<int64_t> order(static_cast<size_t>(keys));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return w[a] > w[b]; });
    const bool sees = keys > 0 && w[order[0]] > 0;
    argmax.push_back(sees ? order[0] : -1);
    double h = 0;
    for (int64_t j = 0; j < keys; ++j) h -= w[j] > 0 ? w[j] * std::log(w[j]) : 0;
    entropy.push_back(h);
    for (int64_t t = 0; t < probe.top; ++t) {
      const int64_t key = order[static_cast<size_t>(t)];
      top_weights.push_back(w[key]);
      top_keys.push_back(w[key] > 0 ? key : -1);
    }
  });
  const DType type = weights.dtype();
  ProbeResult result;
  if (probe.weights) result.weights = tensor(weight_shape, kept).to(type);
  if (probe.mass) result.mass = tensor({weights.size(0), heads, width}, mass).to(type);
  if (probe.argmax) result.argmax = tensor(row_shape, argmax);
  if (probe.entropy) result.entropy = tensor(row_shape, entropy).to(type);
  if (probe.top > 0)
    result.top_weights = tensor(top_shape, top_weights).to(type), result.top_keys = tensor(top_shape, top_keys);
  return result;
}

Tensor selection_uniforms(const Shape& weights, const Context& c) {
  return uniform({weights[0], weights[1], weights[2]}, c.random.fork("selection"));
}

Tensor sample(const Tensor& weights, const Tensor& uniforms) {
  const std::vector<double> u = uniforms.values<double>();
  std::vector<int64_t> chosen;
  const ProbeSelection all = selection_of({}, weights.size(1), weights.size(2), weights.size(3));
  for_each_chosen_row(weights, all, [&](int64_t number, const double* w) {
    const int64_t keys = weights.size(3);
    const double threshold = u[static_cast<size_t>(number)] * std::accumulate(w, w + keys, 0.0);
    int64_t last = -1;
    double running = 0;
    for (int64_t j = 0; j < keys; ++j) {
      if (w[j] <= 0) continue;
      last = j;
      if ((running += w[j]) > threshold) break;
    }
    chosen.push_back(last);
  });
  return tensor({weights.size(0), weights.size(1), weights.size(2)}, chosen);
}

kernels::ScoreKind kernel_score(const Form& form) {
  return form.score == FusedScore::dot ? kernels::ScoreKind::dot : kernels::ScoreKind::additive;
}

Precision kernel_precision(const AttentionOptions& o) {
  const bool rounds = o.selection == Selection::soft && kernel_score(*o.form) == kernels::ScoreKind::dot;
  const bool tiles = kernels::unit_of(Precision::bf16) == kernels::Unit::tiles;
  return rounds && (o.precision == Precision::f16 || (o.precision == Precision::bf16 && tiles)) ? o.precision
                                                                                                : Precision::f32;
}

kernels::WeightDropout attention_dropout(const AttentionOptions& o, const Context& c) {
  if (!c.training || o.dropout == 0) return {};
  return {.probability = static_cast<float>(o.dropout), .key = c.random.fork("dropout").key()};
}

}  // namespace fovea
