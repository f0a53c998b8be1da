// The limits themselves, against themselves: the share shows how steady the machine is.
#include "fovea/kernels/peak.h"
#include "bench/bench.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/unit.h"

namespace fovea::benches {
namespace {

constexpr int64_t rounds = 40000;

using Burst = int64_t (*)(int64_t rounds);

void measure(Bencher& b, Precision p, const char* what, Burst burst) {
  const bool has_unit = kernels::unit_of(p) != kernels::Unit::vectors;
  const std::string how = has_unit ? fmt::format(" unit={}", kernels::name_of_unit(p)) : "";
  b.product(p, "peak", what + how, static_cast<double>(burst(1)) * rounds * threads(),
            [&] { parallel_for(threads(), [&](int64_t) { burst(rounds); }); });
}

}  // namespace

extern const Bench peak = {
    .name = "peak", .help = "multiply-adds in registers, the limits that the shares refer to", .run = [](Bencher& b) {
      measure(b, Precision::f32, "fma", kernels::fma_burst);
      if (kernels::unit_of(Precision::bf16) != kernels::Unit::vectors)
        measure(b, Precision::bf16, "bf16", kernels::bf16_burst);
      measure(b, Precision::int8, "int8", kernels::int8_burst);
    }};

}  // namespace fovea::benches
