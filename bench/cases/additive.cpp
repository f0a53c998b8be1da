// Additive scores (Bahdanau et al. 2014): how many terms v·tanh(q + k) a second.
#include <vector>

#include "bench/bench.h"
#include "bench/tanh_loop.h"
#include "fovea/base/random.h"
#include "fovea/kernels/attention.h"

namespace fovea::benches {

extern const Bench additive = {
    .name = "additive", .help = "additive scores, alone and against a vectorised tanh", .run = [](Bencher& b) {
      const int64_t n = 512, width = 64;
      std::vector<float> q(n * width), k(n * width), v(width), scores(n * n);
      Random random(1);
      for (int64_t i = 0; i < n * width; ++i)
        q[i] = 4 * random.uniform(i) - 2, k[i] = 4 * random.uniform(i + n * width) - 2;
      for (int64_t i = 0; i < width; ++i) v[i] = random.normal(i);
      kernels::AdditiveScores problem = {.queries = n,
                                         .keys = n,
                                         .width = width,
                                         .q = q.data(),
                                         .q_stride = width,
                                         .k = k.data(),
                                         .k_stride = width,
                                         .vector = v.data(),
                                         .scores = scores.data(),
                                         .row_stride = n};
      const char* name = "queries=512 keys=512 width=64";
      b.rate("additive_scores", name, 1e-9 * n * n * width, "G terms/s", [&] { kernels::additive_scores(problem); });
      b.ratio(
          "additive_vs_tanh", name, [&] { tanh_scores(problem); }, [&] { kernels::additive_scores(problem); });
    }};

}  // namespace fovea::benches
