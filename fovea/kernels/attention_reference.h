// Attention as its formula in float64 loops, for the tests of the kernels: slow, plain, and sharing no code with them.
//
//   AttentionCase c({.queries = 7, .keys = 33, .heads = 4, .key_heads = 2, .width = 17, .value_width = 5});
//   c.causal = true;
//   ReferenceResult expected = reference(c, c.numbers);
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/kernels/attention.h"

namespace fovea::kernels {

// The numbers that may be differentiated; layouts [batch, tokens, heads, width], line [heads, 2·reach + 1].
struct ReferenceNumbers {
  std::vector<double> q, k, v, vector, line, bias, sinks;
};

inline std::vector<float> floats(const std::vector<double>& x) { return {x.begin(), x.end()}; }

struct AttentionCase {
  AttentionShape shape;
  std::vector<SequenceSpan> sequences;
  ScoreKind score = ScoreKind::dot;
  float scale = 0.3f, softcap = 0;
  bool causal = false;
  int64_t window_left = -1, window_right = -1, reach = 0;
  std::vector<uint8_t> mask;  // [sequences, heads, queries, keys] or nothing, as bias
  WeightDropout dropout;
  ReferenceNumbers numbers;

  explicit AttentionCase(const AttentionShape& s, uint64_t seed = 1) : shape(s) {
    numbers.q = draw(s.batch * s.queries * s.heads * s.width, seed + 1, 2);
    numbers.k = draw(s.batch * s.keys * s.key_heads * s.width, seed + 2, 2);
    numbers.v = draw(s.batch * s.keys * s.key_heads * s.value_width, seed + 3, 2);
  }
  // Two heads that share their keys, with values that may be a little wider.
  static AttentionCase of_width(int64_t width, int64_t queries, int64_t keys, int64_t batch) {
    return AttentionCase({.batch = batch,
                          .queries = queries,
                          .keys = keys,
                          .heads = 2,
                          .key_heads = 1,
                          .width = width,
                          .value_width = width + width % 5});
  }
  // Uniform in ±size/2, exact in float32.
  static std::vector<double> draw(int64_t count, uint64_t seed, float size) {
    std::vector<double> x(count);
    Random random(seed);
    for (int64_t i = 0; i < count; ++i) x[i] = (random.uniform(i) - 0.5f) * size;
    return x;
  }
  std::vector<SequenceSpan> list() const {
    if (!sequences.empty()) return sequences;
    std::vector<SequenceSpan> all;
    for (int64_t b = 0; b < shape.batch; ++b) all.push_back({b, 0, shape.queries, 0, shape.keys});
    return all;
  }
  int64_t grid_size() const { return static_cast<int64_t>(list().size()) * shape.heads * shape.queries * shape.keys; }
  void make_additive() { score = ScoreKind::additive, numbers.vector = draw(shape.heads * shape.width, 11, 2); }
  void make_line() {
    reach = std::max(shape.queries, shape.keys);
    numbers.line = draw(shape.heads * (2 * reach + 1), 12, 2);
  }
  void make_bias() { numbers.bias = draw(grid_size(), 13, 2); }
  void make_sinks() { numbers.sinks = draw(shape.heads, 14, 4); }
  void make_mask(uint64_t seed = 15) {
    mask.resize(grid_size());
    Random random(seed);
    for (size_t i = 0; i < mask.size(); ++i) mask[i] = random.uniform(i) < 0.7f;
  }
  // What a call may have beside q, k and v, a bit each: 1 a mask, 2 a bias, 4 a line, 8 a softcap, 16 sinks, 32 dropout.
  void add(int features) {
    if (features & 1) make_mask();
    if (features & 2) make_bias();
    if (features & 4) make_line();
    if (features & 8) softcap = 1.5f;
    if (features & 16) make_sinks();
    if (features & 32) dropout = {0.3f, 0x123456789ABCDEFull};
  }
  int64_t grid(int64_t sequence, int64_t head, int64_t i, int64_t j) const {
    return ((sequence * shape.heads + head) * shape.queries + i) * shape.keys + j;
  }
  bool visible(int64_t sequence, const SequenceSpan& s, int64_t head, int64_t i, int64_t j) const {
    int64_t aligned = i + (s.offset == SequenceSpan::aligned_to_end ? s.keys - s.queries : s.offset);
    if (causal && j > aligned) return false;
    if (window_left >= 0 && j < aligned - window_left) return false;
    if (window_right >= 0 && j > aligned + window_right) return false;
    return mask.empty() || mask[grid(sequence, head, i, j)];
  }
};

struct ReferenceResult {
  std::vector<double> out, lse, weights;  // weights [sequences, heads, queries, keys], before dropout
};

inline double reference_score(const AttentionCase& c, const ReferenceNumbers& n, int64_t sequence,
                              const SequenceSpan& s, int64_t h, int64_t i, int64_t j) {
  const AttentionShape& shape = c.shape;
  int64_t key_head = h / (shape.heads / shape.key_heads), width = shape.width;
  const double* q = n.q.data() + ((s.batch * shape.queries + s.query_begin + i) * shape.heads + h) * width;
  const double* k = n.k.data() + ((s.batch * shape.keys + s.key_begin + j) * shape.key_heads + key_head) * width;
  double x = 0;
  for (int64_t d = 0; d < width; ++d) {
    x += c.score == ScoreKind::dot ? c.scale * q[d] * k[d] : n.vector[h * width + d] * std::tanh(q[d] + k[d]);
  }
  if (c.softcap > 0) x = c.softcap * std::tanh(x / c.softcap);
  if (!n.line.empty())
    x += n.line[h * (2 * c.reach + 1) + c.reach + j -
                (i + (s.offset == SequenceSpan::aligned_to_end ? s.keys - s.queries : s.offset))];
  if (!n.bias.empty()) x += n.bias[c.grid(sequence, h, i, j)];
  return x;
}

inline ReferenceResult reference(const AttentionCase& c, const ReferenceNumbers& n) {
  const AttentionShape& shape = c.shape;
  std::vector<SequenceSpan> list = c.list();
  ReferenceResult r;
  r.out.assign(shape.batch * shape.queries * shape.heads * shape.value_width, 0.0);
  r.lse.assign(shape.batch * shape.heads * shape.queries, -INFINITY);
  r.weights.assign(c.grid_size(), 0.0);
  for (size_t b = 0; b < list.size(); ++b) {
    const SequenceSpan& s = list[b];
    for (int64_t h = 0; h < shape.heads; ++h) {
      for (int64_t i = 0; i < s.queries; ++i) {
        double sum = n.sinks.empty() ? 0 : std::exp(n.sinks[h]);
        double* w = r.weights.data() + c.grid(b, h, i, 0);
        for (int64_t j = 0; j < s.keys; ++j) {
          w[j] = c.visible(b, s, h, i, j) ? std::exp(reference_score(c, n, b, s, h, i, j)) : 0;
          sum += w[j];
        }
        r.lse[(s.batch * shape.heads + h) * shape.queries + s.query_begin + i] = std::log(sum);
        double* out =
            r.out.data() + ((s.batch * shape.queries + s.query_begin + i) * shape.heads + h) * shape.value_width;
        for (int64_t j = 0; j < s.keys; ++j) {
          if (!c.visible(b, s, h, i, j)) continue;
          w[j] /= sum;
          double p = w[j];
          if (c.dropout.probability > 0) p = dropped(c.dropout, b, h, i, j) ? 0 : p / (1 - c.dropout.probability);
          int64_t key_head = h / (shape.heads / shape.key_heads);
          const double* v =
              n.v.data() + ((s.batch * shape.keys + s.key_begin + j) * shape.key_heads + key_head) * shape.value_width;
          for (int64_t d = 0; d < shape.value_width; ++d) out[d] += p * v[d];
        }
      }
    }
  }
  return r;
}

// The case's numbers in float32 and the call that reads them.
struct AttentionArrays {
  std::vector<float> q, k, v, vector, line, bias, sinks;
  Attention call;

  explicit AttentionArrays(const AttentionCase& c)
      : q(floats(c.numbers.q)),
        k(floats(c.numbers.k)),
        v(floats(c.numbers.v)),
        vector(floats(c.numbers.vector)),
        line(floats(c.numbers.line)),
        bias(floats(c.numbers.bias)),
        sinks(floats(c.numbers.sinks)) {
    const AttentionShape& s = c.shape;
    auto tokens = [](const std::vector<float>& x, int64_t count, int64_t heads, int64_t width) {
      return TokenArray{x.data(), count * heads * width, heads * width, width};
    };
    call = {.shape = s,
            .sequences = c.sequences,
            .q = tokens(q, s.queries, s.heads, s.width),
            .k = tokens(k, s.keys, s.key_heads, s.width),
            .v = tokens(v, s.keys, s.key_heads, s.value_width),
            .score = c.score,
            .scale = c.scale,
            .softcap = c.softcap,
            .causal = c.causal,
            .window_left = c.window_left,
            .window_right = c.window_right,
            .dropout = c.dropout};
    if (!vector.empty()) call.vector = vector.data();
    if (!line.empty()) call.line = {line.data(), 2 * c.reach + 1, c.reach};
    int64_t query = s.keys, head = query * s.queries, batch = head * s.heads;
    if (!bias.empty()) call.bias = {bias.data(), batch, head, query, 1};
    if (!c.mask.empty()) call.mask = {c.mask.data(), batch, head, query, 1};
    if (!sinks.empty()) call.sinks = sinks.data();
  }
  AttentionArrays(const AttentionArrays&) = delete;
};

// The keys and values of a case in pages, NaN wherever nothing was written; the order of the pages in memory is none.
struct Pages {
  PageLayout layout;
  ScoreKind score;
  int64_t count;  // of a sequence
  std::vector<float> numbers;
  std::vector<const float*> pages;
  std::vector<const float* const*> tables;

  Pages(const AttentionCase& c, int64_t tokens, Precision precision = Precision::f32)
      : layout{tokens, c.shape.key_heads, c.shape.width, c.shape.value_width, precision},
        score(c.score),
        count((c.shape.keys + tokens - 1) / tokens),
        numbers(c.shape.batch * count * layout.floats(), std::numeric_limits<float>::quiet_NaN()) {
    const int64_t all = c.shape.batch * count;
    for (int64_t i = 0; i < all; ++i) pages.push_back(numbers.data() + (all - 1 - i) * layout.floats());
    for (int64_t b = 0; b < c.shape.batch; ++b) tables.push_back(pages.data() + b * count);
  }
  void write(const AttentionArrays& from, int64_t begin, int64_t end) {
    const TokenArray &k = from.call.k, &v = from.call.v;
    std::vector<PagePiece> pieces;
    for (size_t b = 0; b < tables.size(); ++b) {
      for (int64_t t = begin, n; t < end; t += n) {
        n = std::min(end - t, layout.tokens - t % layout.tokens);
        pieces.push_back({const_cast<float*>(tables[b][t / layout.tokens]), t % layout.tokens, n,
                          k.data + b * k.batch + t * k.token, v.data + b * v.batch + t * v.token});
      }
    }
    write_pages({layout, pieces, k.token, k.head, v.token, v.head, score});
  }
  Attention call(const AttentionArrays& from, std::span<const SequenceSpan> sequences) const {
    Attention call = from.call;
    call.sequences = sequences, call.k = {}, call.v = {}, call.pages = {tables.data(), layout.tokens, layout.precision};
    return call;
  }
};

struct ForwardArrays {
  std::vector<float> out;
  std::vector<RowSum> sums;
  explicit ForwardArrays(const AttentionShape& s, float fill = -7)
      : out(s.batch * s.queries * s.heads * s.value_width, fill),
        sums(s.batch * s.heads * s.queries, RowSum{fill, fill}),
        result{{out.data(), s.queries * s.heads * s.value_width, s.heads * s.value_width, s.value_width}, sums.data()} {
  }
  ForwardArrays(const ForwardArrays&) = delete;
  std::vector<float> lse() const {
    std::vector<float> logs;
    for (const RowSum& s : sums) logs.push_back(static_cast<float>(s.maximum + std::log(static_cast<double>(s.sum))));
    return logs;
  }
  AttentionOutput result;
};

}  // namespace fovea::kernels
