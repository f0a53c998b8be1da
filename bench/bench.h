// `fovea bench`: what the kernels reach on this machine, as shares of its own limit. One file per group in cases/.
//
//   extern const Bench linear = {.name = "linear", .help = "matrix products", .run = [](Bencher& b) {
//     b.flops("linear", "512x768x768", 2.0 * 512 * 768 * 768, [&] { gemm(…); });
//   }};
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "fovea/base/catalogue.h"
#include "fovea/base/precision.h"

namespace fovea {

// One line of the result. `peak` and `share` are 0 where the unit has no limit to compare with.
struct Measurement {
  std::string bench, configuration;
  int threads = 1;
  double value = 0;
  std::string unit;
  double peak = 0, share = 0;
};

class Bencher final {
 public:
  // `seconds`: how long each line may measure; `emit` receives each line as it is known.
  Bencher(double seconds, std::function<void(const Measurement&)> emit) : seconds_(seconds), emit_(std::move(emit)) {}

  // Work of so many floating-point operations a call, as GFLOP/s and as a share of the FMA peak of threads() cores.
  // Bursts of the work and of the peak take turns, and the best decile of each counts: a noisy neighbour disturbs both
  // or neither. The same for blocks of whole numbers, as GOP/s and as a share of the peak of block_burst.
  double flops(std::string bench, std::string configuration, double operations, const std::function<void()>& work);

  double whole_numbers(std::string bench, std::string configuration, double operations,
                       const std::function<void()>& work);

  // The same for products with weights of that precision, against the peak of the unit that multiplies them.
  double product(Precision, std::string bench, std::string configuration, double operations,
                 const std::function<void()>& work);

  // A step over `count` tokens that takes so many operations, as tokens/s and as a share of the same peak.
  struct Tokens {
    int64_t count = 0;
    double operations = 0;
  };
  double tokens(std::string bench, std::string configuration, const Tokens& amount, const std::function<void()>& work);

  // Any other rate: `amount` of `unit` a call, e.g. 1e-9 × terms for "G terms/s".
  double rate(std::string bench, std::string configuration, double amount, std::string unit,
              const std::function<void()>& work);

  // A call's time in milliseconds, for work that is compared with other work: unit "ms".
  double time(std::string bench, std::string configuration, const std::function<void()>& work);

  // How much slower `work` is than `reference`, the two taking turns: unit "x".
  double ratio(std::string bench, std::string configuration, const std::function<void()>& work,
               const std::function<void()>& reference);

  // The same of the processor's time, which does not count what others do meanwhile.
  double cost(std::string bench, std::string configuration, const std::function<void()>& work,
              const std::function<void()>& reference);

  void emit(const Measurement& m) { emit_(m); }

 private:
  struct Seconds {
    double work, operation;  // of a call, and of one operation at the peak
  };
  using Burst = int64_t (*)(int64_t rounds);
  Seconds beside_peak(Burst, const std::function<void()>& work) const;
  double share(Measurement, Burst, double operations, const std::function<void()>& work) const;

  double seconds_;
  std::function<void(const Measurement&)> emit_;
};

struct Bench {
  static constexpr std::string_view noun = "benchmark";
  std::string_view name, help;
  void (*run)(Bencher&);
};

}  // namespace fovea
