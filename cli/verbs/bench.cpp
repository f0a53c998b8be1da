#include "bench/bench.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/verb.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/simd.h"

namespace fovea::verbs {
namespace {

struct BenchOptions {
  static constexpr const char* positional = "which";
  std::vector<std::string> which;
  int64_t threads = 0;
  double seconds = 0.4;
  bool json = false;
  void fields(Fields& f) {
    std::string groups;
    for (const Bench* bench : catalogue<Bench>())
      groups += fmt::format("{}{}", groups.empty() ? "" : ", ", bench->name);
    f("which", which, fmt::format("groups to measure, of {}; all if not given", groups).c_str());
    f("threads", threads, "threads to measure with; 0: once with one, once with one for each core");
    f("seconds", seconds, "how long each line is measured");
    f("json", json, "each line as a JSON object");
  }
};

void print_json(const Measurement& m) {
  nlohmann::ordered_json line = {
      {"bench", m.bench}, {"case", m.configuration}, {"threads", m.threads}, {"value", m.value}, {"unit", m.unit}};
  if (m.peak > 0) line["peak"] = m.peak, line["share"] = m.share;
  fmt::print("{}\n", line.dump());
}

void print_text(const Measurement& m) {
  std::string share = m.peak > 0 ? fmt::format("{:6.1f} % of {:.0f}", 100 * m.share, m.peak) : "";
  const int digits = m.unit == "ms" ? 3 : 2;
  fmt::print("{:<26} {:<46} {:>2} {:>10.{}f} {:<9} {}\n", m.bench, m.configuration, m.threads, m.value, digits, m.unit,
             share);
}

void run_benches(const BenchOptions& o, const std::vector<int>& counts) {
  std::vector<const Bench*> chosen;
  for (const std::string& name : o.which) chosen.push_back(&find<Bench>(name));
  if (chosen.empty()) chosen.assign(catalogue<Bench>().begin(), catalogue<Bench>().end());
  require(o.seconds > 0 && o.seconds <= 60, "--seconds: found {}, expected more than 0 and at most 60", o.seconds);
  if (!o.json) fmt::print("{:<26} {:<46} threads, value, share of the peak ({})\n", "bench", "case", name(simd()));
  Bencher bencher(o.seconds, [&](const Measurement& m) {
    o.json ? print_json(m) : print_text(m);
    std::fflush(stdout);
  });
  for (const Bench* bench : chosen) {
    for (int count : counts) {
      set_threads(count);
      bench->run(bencher);
    }
  }
}

}  // namespace

extern const Verb bench = {
    .name = "bench",
    .group = "measure",
    .help = "what the kernels reach on this machine, as shares of its own limit",
    .examples = "fovea bench\nfovea bench attention --threads 1 --json\nfovea bench peak --simd avx2",
    .run = [](const BenchOptions& o) {
      require(o.threads >= 0 && o.threads <= 1024, "--threads: found {}, expected 0 to 1024", o.threads);
      if (o.threads > 0)
        run_benches(o, {static_cast<int>(o.threads)});
      else if (usable_cores() == 1)
        run_benches(o, {1});
      else
        run_benches(o, {1, usable_cores()});
    }};

}  // namespace fovea::verbs
