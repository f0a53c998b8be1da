#include "bench/bench.h"

#include <cstdlib>

#include "cli/verb.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/simd.h"

namespace fovea {

extern const Verb bench = {.name = "bench",
                           .help = "what the kernels reach on this machine",
                           .run = [](const std::vector<std::string>& arguments) {
                             if (const char* wanted = std::getenv("FOVEA_SIMD")) use_simd(parse_simd(wanted));
                             Bencher bencher(0.3, [](const Measurement& m) {
                               fmt::print("{:<20} {:<50} {} {:>8.1f} {:<10} {:.3f}\n", m.bench, m.configuration,
                                          m.threads, m.value, m.unit, m.share);
                             });
                             for (const Bench* b : catalogue<Bench>()) {
                               if (!arguments.empty() && arguments[0] != b->name) continue;
                               for (int n : {1, usable_cores()}) {
                                 set_threads(n);
                                 b->run(bencher);
                               }
                             }
                             return 0;
                           }};

}  // namespace fovea
