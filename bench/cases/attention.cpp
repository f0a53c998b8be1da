// Fused attention: forward, backward, with weights, and decoding.
#include <vector>

#include "bench/bench.h"
#include "fovea/base/random.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/attention.h"

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
        lse(heads * tokens) {
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
    result = {.out = {out.data(), tokens * row, row, width}, .lse = lse.data()};
    flops = 4.0 * tokens * tokens * width * heads / (causal ? 2 : 1);
    name = fmt::format("heads={} width={} tokens={} causal={}", heads, width, tokens, causal ? 1 : 0);
  }
  std::vector<float> q, k, v, out, lse;
  Attention attention;
  AttentionResult result;
  double flops;
  std::string name;
};

void bench_forward(Bencher& b, int64_t tokens, int64_t width, bool causal) {
  Problem p(tokens, 12, width, causal);
  b.flops("attention_forward", p.name, p.flops, [&] { attention_forward(p.attention, p.result); });
}

}  // namespace

extern const Bench attention = {.name = "attention", .help = "fused attention", .run = [](Bencher& b) {
                                  for (bool causal : {false, true}) {
                                    for (int64_t tokens : {512, 2048}) bench_forward(b, tokens, 64, causal);
                                  }
                                  bench_forward(b, 2048, 128, false);
                                }};

}  // namespace fovea::benches
