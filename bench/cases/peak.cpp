// The limits themselves, against themselves: the share shows how steady the machine is.
#include "fovea/kernels/peak.h"
#include "bench/bench.h"
#include "fovea/base/threads.h"

namespace fovea::benches {
namespace {

constexpr int64_t rounds = 40000;

double operations(int64_t (*burst)(int64_t)) { return static_cast<double>(burst(1)) * rounds * threads(); }

}  // namespace

extern const Bench peak = {
    .name = "peak", .help = "multiply-adds in registers, the limits that the shares refer to", .run = [](Bencher& b) {
      b.flops("peak", "fma", operations(kernels::fma_burst),
              [] { parallel_for(threads(), [](int64_t) { kernels::fma_burst(rounds); }); });
      b.whole_numbers("peak", "int8", operations(kernels::int8_burst),
                      [] { parallel_for(threads(), [](int64_t) { kernels::int8_burst(rounds); }); });
    }};

}  // namespace fovea::benches
