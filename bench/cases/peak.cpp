// The limit itself, against itself: the share shows how steady the machine is.
#include "fovea/kernels/peak.h"
#include "bench/bench.h"
#include "fovea/base/threads.h"

namespace fovea::benches {

extern const Bench peak = {.name = "peak",
                           .help = "fused multiply-adds in registers, the limit that the shares refer to",
                           .run = [](Bencher& b) {
                             const int64_t rounds = 40000;
                             double operations = static_cast<double>(kernels::fma_burst(1)) * rounds * threads();
                             b.flops("peak", "fma", operations,
                                     [] { parallel_for(threads(), [](int64_t) { kernels::fma_burst(rounds); }); });
                           }};

}  // namespace fovea::benches
