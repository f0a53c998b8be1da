// Fused attention (Vaswani et al. 2017; tiled as Dao et al. 2022): nothing of size queries × keys is allocated.
//
//   AttentionShape shape = {.queries = n, .keys = n, .heads = 12, .key_heads = 12, .width = 64, .value_width = 64};
//   attention_forward({.shape = shape, .q = {q, n * 768, 768, 64}, .k = …, .v = …, .causal = true}, {.out = …});
//
//   s(i,j) = scale · q_i·k_j                                    dot
//          = Σ_d vector[head][d] · tanh(q_id + k_jd)            additive (Bahdanau et al. 2014), of projected q and k
//   s = softcap · tanh(s / softcap), if softcap > 0;  s += line + bias;  s = −∞ behind a mask
//   w(i,j) = exp(s(i,j)) / (exp(sink[head]) + Σ_j exp(s(i,j)));  o_i = Σ_j dropout(w)(i,j) · v_j
//
// In bf16 the forward pass rounds scale · q, k, v and what w is made of, exp(s − maximum), to bf16 for the two products, if the
// scores are dots and bf16 runs on tiles (the instruction set amx, unit.h); sums, scores, denominators and what probes see stay
// f32, and numbers below 2⁻¹²⁶ count as zeros. In all other cases bf16 is f32. In f16 k and v of dot scores are rounded to halves,
// and nothing else.
//
// A fully masked row gives zeros. A NaN behind a mask does not leak, a NaN in what a row sees stays visible in that
// row. Same bits: a row's result depends on that row and on the keys it sees, on the instruction set, the precision and
// nothing else: not on the batch, the threads, the number of queries, trailing masked keys, who packed the keys or their pages.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fovea/base/precision.h"

namespace fovea::kernels {

// Element (b, t, h, d) of a [batch, tokens, heads, width] array is data[b * batch + t * token + h * head + d].
struct TokenArray {
  const float* data = nullptr;
  int64_t batch = 0, token = 0, head = 0;
};
struct TokenArrayOut {
  float* data = nullptr;
  int64_t batch = 0, token = 0, head = 0;
};

// Element (b, h, i, j) of something that every score has; a stride of 0 broadcasts. b counts the sequences, i and j
// count from the sequence's first query and key.
template <class T>
struct Grid {
  T* data = nullptr;
  int64_t batch = 0, head = 0, query = 0, key = 0;
};

// One sequence: queries [query_begin, + queries) and keys [key_begin, + keys) of batch row `batch`. Padded batches, key
// lengths and packed sequences are lists of these. Query i stands at the position of key i + shift().
struct SequenceSpan {
  static constexpr int64_t aligned_to_end = std::numeric_limits<int64_t>::min();

  int64_t batch = 0, query_begin = 0, queries = 0, key_begin = 0, keys = 0;
  int64_t offset = aligned_to_end;

  int64_t shift() const { return offset == aligned_to_end ? keys - queries : offset; }
};

struct AttentionShape {
  int64_t batch = 1, queries = 0, keys = 0;  // tokens of a batch row of q and of k (packed sequences: all of them)
  int64_t heads = 1, key_heads = 1;  // query heads are a multiple of key heads: head h reads h / (heads / key_heads)
  int64_t width = 0, value_width = 0;
};

enum class ScoreKind { dot, additive };

// bias(i,j) of head h is data[h * head + offset + j − (i + shift)], shift being the sequence's: ALiBi and T5's relative
// buckets in O(tokens). The caller sees to it that every distance of a visible pair lies inside.
struct DistanceLine {
  const float* data = nullptr;
  int64_t head = 0, offset = 0;
};

// Inverted dropout of the weights: w / (1 − probability) or 0. See dropped().
struct WeightDropout {
  float probability = 0;
  uint64_t key = 0;
};

// One page of keys and values, in floats: for each key head panels [tokens / 16][width][16] and then values [tokens][value_width
// rounded up to 16]. In f16 they are halves in the same order; in bf16 words of two numbers, as attention_words-inl.h has them.
struct PageLayout {
  int64_t tokens = 16;  // 16, 32, 64, 128 or 256
  int64_t key_heads = 1, width = 0, value_width = 0;
  Precision precision = Precision::f32;  // or, for dot scores, f16, and on tiles bf16

  int64_t key_floats() const {
    return precision == Precision::f32 ? width : precision == Precision::f16 ? (width + 1) / 2 : (width + 31) / 32 * 16;
  }
  int64_t value_stride() const { return (value_width + 15) / 16 * 16; }  // of f32 and f16, in numbers
  int64_t values() const { return tokens * key_floats(); }               // where they begin among a head's floats
  int64_t head() const { return values() + tokens * value_stride() / (precision == Precision::f32 ? 1 : 2); }
  int64_t floats() const { return key_heads * head(); }
};

// Token j of sequence s is token j % tokens of page tables[s][j / tokens]. Only pages of tokens that are seen are read, and
// of the last one no value behind the sequence's last.
struct KeyPages {
  const float* const* const* tables = nullptr;
  int64_t tokens = 0;  // of a page
  Precision precision = Precision::f32;
};

struct Attention {
  AttentionShape shape;
  std::span<const SequenceSpan> sequences = {};  // empty: batch sequences of shape.queries and shape.keys
  TokenArray q = {}, k = {}, v = {};
  KeyPages pages = {};  // in the forward pass instead of k and v; then each key_begin is 0
  ScoreKind score = ScoreKind::dot;
  float scale = 1;                // of dot scores
  const float* vector = nullptr;  // [heads, width], of additive scores
  float softcap = 0;
  bool causal = false;            // a query sees no key behind its own position
  int64_t window_left = -1;       // how many keys before its position it sees, −1: all
  int64_t window_right = -1;      // and how many after it, −1: all
  Grid<const uint8_t> mask = {};  // nonzero: visible
  DistanceLine line = {};
  Grid<const float> bias = {};   // −∞ masks
  const float* sinks = nullptr;  // [heads], a logit that takes weight without a value
  WeightDropout dropout = {};
  Precision precision = Precision::f32;  // of the forward pass; with pages, theirs counts
};

// Whether dropout drops w(i,j) of the given sequence (its number) and query head:
//   unit_interval(philox({key / 4, query, head, sequence}, {low, high half of dropout.key})[key % 4]) < probability
bool dropped(const WeightDropout&, int64_t sequence, int64_t head, int64_t query, int64_t key);

// Of one row: Σ_j exp(s(i,j)) + exp(sink) = sum · exp(maximum), kept apart since the digits of a large maximum would drown
// those of the sum; the sum is 0 where nothing is seen.
struct RowSum {
  float maximum = 0, sum = 0;
};

struct AttentionOutput {
  TokenArrayOut out;
  RowSum* sums = nullptr;  // [batch, heads, queries] as in shape, or nothing
};

// Looks at exact weights (before dropout) while they pass by. Row slots are the entries of `rows`, or of [row_begin,
// row_end) when `rows` is empty; outputs are contiguous, [sequences, heads.size(), row slots, …], and absent rows and
// keys give 0 (indices −1). Every pointer may be missing. Reductions other than mass look at the whole row.
struct AttentionProbe {
  std::span<const int64_t> heads = {};  // query heads, each at most once
  std::span<const int64_t> rows = {};   // rising query numbers, counted from the sequence's first
  int64_t row_begin = 0, row_end = 0;
  int64_t key_begin = 0, key_end = 0;  // which keys `weights` and `mass` hold
  float* weights = nullptr;            // […, key_end − key_begin]
  float* mass = nullptr;               // [sequences, heads, key_end − key_begin]: sum over the rows, in rising order
  int64_t top = 0;                     // the largest weights, falling; equal ones by rising key
  float* top_values = nullptr;         // […, top]
  int64_t* top_keys = nullptr;         // […, top]
  int64_t* argmax = nullptr;           // […]
  float* entropy = nullptr;            // […], nats
  const float* uniforms = nullptr;  // […], in [0, 1): the sampled key is the first whose running sum exceeds u · (sum)
  int64_t* sampled = nullptr;       // […]
  float* log_probability = nullptr;  // […], of the sampled key
};

void attention_forward(const Attention&, const AttentionOutput&, const AttentionProbe& = {});

// The gradient of  Σ out · d_out  +  Σ_i selected_gradient_i · log w(i, selected_i).
struct AttentionGradients {
  TokenArray out, d_out;                     // of the forward pass
  const RowSum* sums = nullptr;              // [batch, heads, queries]
  const int64_t* selected = nullptr;         // [batch, heads, queries], −1: none
  const float* selected_gradient = nullptr;  // [batch, heads, queries]
  TokenArrayOut d_q, d_k, d_v;               // overwritten, for every token of every sequence
  float* d_line = nullptr;                   // like line, added to
  Grid<float> d_bias = {};    // one element per (b, h, i, j); overwritten where a tile is seen, so give zeros
  float* d_sinks = nullptr;   // [heads], added to
  float* d_vector = nullptr;  // [heads, width], added to
};

// Needs k and v themselves (pages are not read). Masked NaNs in k and v do not leak into any gradient.
void attention_backward(const Attention&, const AttentionGradients&);

// Tokens [begin, begin + tokens) of a page; the others stay. k and v point at the first of them: element (t, h, d) is
// k[t * k_token + h * k_head + d]. Additive panels hold e^{2k}, |k| clamped to 21.
struct PagePiece {
  float* page = nullptr;
  int64_t begin = 0, tokens = 0;
  const float *k = nullptr, *v = nullptr;
};
struct WritePages {
  PageLayout layout;
  std::span<const PagePiece> pieces;
  int64_t k_token = 0, k_head = 0, v_token = 0, v_head = 0;
  ScoreKind score = ScoreKind::dot;
};
void write_pages(const WritePages&);

// The first `tokens` tokens of a page into another.
void copy_page(const PageLayout&, const float* from, int64_t tokens, float* to);

// scores[i * row_stride + j] = Σ_d vector[d] · tanh(q_id + k_jd), of rows q [queries, width] and k [keys, width]; |q|,
// |k| are clamped to 21, where tanh has long been 1.
struct AdditiveScores {
  int64_t queries = 0, keys = 0, width = 0;
  const float* q = nullptr;
  int64_t q_stride = 0;
  const float* k = nullptr;
  int64_t k_stride = 0;
  const float* vector = nullptr;
  float* scores = nullptr;
  int64_t row_stride = 0;
};
void additive_scores(const AdditiveScores&);

}  // namespace fovea::kernels
