#include "bench/bench.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

#include "fovea/base/threads.h"
#include "fovea/kernels/peak.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double time_of(const std::function<void()>& work) {
  Clock::time_point start = Clock::now();
  work();
  return seconds_since(start);
}

double processor_time_of(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// The best decile: fast enough to leave the neighbours' noise out, not so fast as a single lucky reading.
double best_decile(std::vector<double>& times) {
  auto decile = times.begin() + static_cast<int64_t>(times.size()) / 10;
  std::nth_element(times.begin(), decile, times.end());
  return *decile;
}

struct Pair {
  double first, second;  // seconds a call
};

// Measures two kinds of work in turns for about `seconds`, at least five times each.
Pair take_turns(double seconds, const std::function<void()>& first, const std::function<void()>& second,
                double (*taken_by)(const std::function<void()>&) = time_of) {
  first(), second();
  std::vector<double> a, b;
  Clock::time_point start = Clock::now();
  while (a.size() < 5 || seconds_since(start) < seconds) {
    b.push_back(taken_by(second));
    a.push_back(taken_by(first));
  }
  return {best_decile(a), best_decile(b)};
}

constexpr int64_t burst_rounds = 40000;

}  // namespace

Bencher::Seconds Bencher::beside_peak(Burst burst, const std::function<void()>& work) const {
  double burst_operations = static_cast<double>(burst(1)) * burst_rounds * threads();
  Pair time = take_turns(seconds_, work, [&] { parallel_for(threads(), [&](int64_t) { burst(burst_rounds); }); });
  return {time.first, time.second / burst_operations};
}

double Bencher::share(Measurement m, Burst burst, double operations, const std::function<void()>& work) const {
  const Seconds time = beside_peak(burst, work);
  m.threads = threads(), m.value = operations / time.work * 1e-9, m.peak = 1e-9 / time.operation;
  m.share = m.value / m.peak;
  emit_(m);
  return m.share;
}

double Bencher::flops(std::string bench, std::string configuration, double operations,
                      const std::function<void()>& work) {
  return share({.bench = std::move(bench), .configuration = std::move(configuration), .unit = "GFLOP/s"},
               kernels::fma_burst, operations, work);
}

double Bencher::whole_numbers(std::string bench, std::string configuration, double operations,
                              const std::function<void()>& work) {
  return share({.bench = std::move(bench), .configuration = std::move(configuration), .unit = "GOP/s"},
               kernels::block_burst, operations, work);
}

double Bencher::product(Precision p, std::string bench, std::string configuration, double operations,
                        const std::function<void()>& work) {
  const bool whole = p == Precision::int8;
  const Burst burst = whole ? kernels::int8_burst : p == Precision::bf16 ? kernels::bf16_burst : kernels::fma_burst;
  return share(
      {.bench = std::move(bench), .configuration = std::move(configuration), .unit = whole ? "GOP/s" : "GFLOP/s"},
      burst, operations, work);
}

double Bencher::tokens(std::string bench, std::string configuration, const Tokens& amount,
                       const std::function<void()>& work) {
  const Seconds time = beside_peak(kernels::fma_burst, work);
  const double count = static_cast<double>(amount.count);
  double value = count / time.work, peak = count / (amount.operations * time.operation);
  emit_({std::move(bench), std::move(configuration), threads(), value, "tokens/s", peak, value / peak});
  return value / peak;
}

double Bencher::rate(std::string bench, std::string configuration, double amount, std::string unit,
                     const std::function<void()>& work) {
  double value = amount / take_turns(seconds_, work, [] {}).first;
  emit_({std::move(bench), std::move(configuration), threads(), value, std::move(unit)});
  return value;
}

double Bencher::time(std::string bench, std::string configuration, const std::function<void()>& work) {
  double value = 1e3 * take_turns(seconds_, work, [] {}).first;
  emit_({std::move(bench), std::move(configuration), threads(), value, "ms"});
  return value;
}

double Bencher::ratio(std::string bench, std::string configuration, const std::function<void()>& work,
                      const std::function<void()>& reference) {
  Pair time = take_turns(seconds_, work, reference);
  double value = time.first / time.second;
  emit_({std::move(bench), std::move(configuration), threads(), value, "x"});
  return value;
}

double Bencher::cost(std::string bench, std::string configuration, const std::function<void()>& work,
                     const std::function<void()>& reference) {
  Pair time = take_turns(seconds_, work, reference, processor_time_of);
  double value = time.first / time.second;
  emit_({std::move(bench), std::move(configuration), threads(), value, "x"});
  return value;
}

}  // namespace fovea
