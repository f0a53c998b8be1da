// Fused attention: forward, backward, with weights, and decoding.
#include <bit>
#include <vector>

#include "bench/bench.h"
#include "fovea/base/random.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/attention.h"
#include "fovea/kernels/unit.h"

namespace fovea::benches {
namespace {

using namespace kernels;

std::vector<float> random_floats(int64_t count, uint64_t seed) {
  std::vector<float> x(count);
  Random random(seed);
  for (int64_t i = 0; i < count; ++i) x[i] = random.uniform(i) - 0.5f;
  return x;
}

// Self-attention of one batch row with its buffers.
struct Problem {
  Problem(int64_t tokens, int64_t heads, int64_t width, bool causal)
      : q(random_floats(tokens * heads * width, 1)),
        k(random_floats(tokens * heads * width, 2)),
        v(random_floats(tokens * heads * width, 3)),
        out(tokens * heads * width),
        sums(heads * tokens) {
    int64_t row = heads * width;
    attention = {.shape = {.queries = tokens,
                           .keys = tokens,
                           .heads = heads,
                           .key_heads = heads,
                           .width = width,
                           .value_width = width},
                 .q = {q.data(), tokens * row, row, width},
                 .k = {k.data(), tokens * row, row, width},
                 .v = {v.data(), tokens * row, row, width},
                 .scale = 0.125f,
                 .causal = causal};
    result = {.out = {out.data(), tokens * row, row, width}, .sums = sums.data()};
    flops = 4.0 * tokens * tokens * width * heads / (causal ? 2 : 1);
    name = fmt::format("heads={} width={} tokens={} causal={}", heads, width, tokens, causal ? 1 : 0);
  }
  std::vector<float> q, k, v, out;
  std::vector<RowSum> sums;
  Attention attention;
  AttentionOutput result;
  double flops;
  std::string name;
};

void bench_forward(Bencher& b, int64_t tokens, int64_t width, bool causal) {
  Problem p(tokens, 12, width, causal);
  b.flops("attention_forward", p.name, p.flops, [&] { attention_forward(p.attention, p.result); });
}

void bench_backward(Bencher& b, int64_t tokens, int64_t width, bool causal) {
  Problem p(tokens, 12, width, causal);
  attention_forward(p.attention, p.result);
  std::vector<float> d_out = random_floats(p.out.size(), 4), d_q(p.q.size()), d_k(p.k.size()), d_v(p.v.size());
  const TokenArray& like = p.attention.q;
  auto target = [&](std::vector<float>& x) { return TokenArrayOut{x.data(), like.batch, like.token, like.head}; };
  AttentionGradients g = {.out = {p.out.data(), like.batch, like.token, like.head},
                          .d_out = {d_out.data(), like.batch, like.token, like.head},
                          .sums = p.sums.data(),
                          .d_q = target(d_q),
                          .d_k = target(d_k),
                          .d_v = target(d_v)};
  b.flops("attention_backward", p.name, 2.5 * p.flops, [&] { attention_backward(p.attention, g); });
}

// How many times as fast bf16 is, which rounds where bf16 runs on tiles (elsewhere it is the same): unit "x".
void bench_bf16(Bencher& b, int64_t tokens, int64_t width, bool causal, bool probed) {
  Problem p(tokens, 12, width, causal);
  const std::vector<int64_t> heads = {5};
  std::vector<float> weights(probed ? tokens * tokens : 0);
  AttentionProbe probe;
  if (probed) probe = {.heads = heads, .row_end = tokens, .key_end = tokens, .weights = weights.data()};
  Attention rounded = p.attention;
  rounded.precision = Precision::bf16;
  b.ratio(
      probed ? "attention_bf16_probe_one_head" : "attention_bf16", p.name,
      [&] { attention_forward(p.attention, p.result, probe); }, [&] { attention_forward(rounded, p.result, probe); });
}

// The same forward with the weights of one head, or of all of them, written out.
void bench_probe(Bencher& b, bool all, bool causal) {
  const int64_t tokens = 2048;
  Problem p(tokens, 12, 64, causal);
  std::vector<int64_t> heads = {5};
  if (all) heads = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::vector<float> weights(heads.size() * tokens * tokens);
  AttentionProbe probe = {.heads = heads, .row_end = tokens, .key_end = tokens, .weights = weights.data()};
  b.ratio(
      all ? "attention_probe_all" : "attention_probe_one_head", p.name,
      [&] { attention_forward(p.attention, p.result, probe); }, [&] { attention_forward(p.attention, p.result); });
}

// One query against a cache of pages: every key and value is read once.
void bench_decode(Bencher& b, int64_t heads, int64_t key_heads, int64_t page_tokens, Precision precision) {
  const int64_t keys = 16384, width = 64;
  const PageLayout page = {page_tokens, key_heads, width, width, precision};
  std::vector<float> q = random_floats(heads * width, 1),
                     numbers = random_floats(keys / page_tokens * page.floats(), 2), out(heads * width);
  if (precision == Precision::bf16) {  // two of them to a word
    for (float& x : numbers) {
      const uint32_t upper = std::bit_cast<uint32_t>(x) >> 16;
      x = std::bit_cast<float>(upper << 16 | upper);
    }
  }
  std::vector<const float*> table;
  for (int64_t j = 0; j < keys; j += page_tokens) table.push_back(numbers.data() + j / page_tokens * page.floats());
  const float* const* tables[] = {table.data()};
  Attention attention = {
      .shape =
          {.queries = 1, .keys = keys, .heads = heads, .key_heads = key_heads, .width = width, .value_width = width},
      .q = {q.data(), heads * width, heads * width, width},
      .pages = {tables, page_tokens, precision},
      .scale = 0.125f,
      .causal = true};
  AttentionOutput result = {.out = {out.data(), heads * width, heads * width, width}};
  b.rate("attention_decode",
         fmt::format("heads={} key_heads={} width={} keys={} page={} cache={}", heads, key_heads, width, keys,
                     page_tokens, fovea::name(precision)),
         4e-9 * page.floats() / page_tokens * keys, "GB/s", [&] { attention_forward(attention, result); });
}

}  // namespace

extern const Bench attention = {.name = "attention",
                                .help = "fused attention: forward, backward, with its weights, decoding",
                                .run = [](Bencher& b) {
                                  for (bool causal : {false, true}) {
                                    for (int64_t tokens : {512, 2048}) bench_forward(b, tokens, 64, causal);
                                  }
                                  bench_forward(b, 2048, 128, false);
                                  for (bool causal : {false, true}) bench_backward(b, 2048, 64, causal);
                                  for (bool causal : {false, true})
                                    bench_probe(b, false, causal), bench_probe(b, true, causal);
                                  for (bool causal : {false, true}) {
                                    for (int64_t tokens : {512, 2048}) bench_bf16(b, tokens, 64, causal, false);
                                    bench_bf16(b, 2048, 64, causal, true);
                                  }
                                  bench_bf16(b, 2048, 128, false, false);
                                  for (int64_t page : {16, 32, 256}) bench_decode(b, 12, 12, page, Precision::f32);
                                  bench_decode(b, 16, 4, 256, Precision::f32);
                                  if (unit_of(Precision::bf16) != Unit::tiles) return;
                                  for (int64_t page : {16, 32, 256}) bench_decode(b, 12, 12, page, Precision::bf16);
                                  bench_decode(b, 16, 4, 256, Precision::bf16);
                                }};

}  // namespace fovea::benches
