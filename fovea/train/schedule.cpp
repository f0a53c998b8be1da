#include "fovea/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fovea/base/catalogue.h"

namespace fovea {
namespace {

// From 0 at the end of the warm-up to 1 at the end of the decay.
double decayed(const ScheduleConfig& c, const Moment& m) {
  const int64_t end = c.decay_steps > 0 ? c.decay_steps : m.steps;
  require(end > 0, "--schedule {}: found neither --steps nor --decay-steps, expected one of them", c.kind);
  if (m.step >= end) return 1;
  return static_cast<double>(m.step - c.warmup) / static_cast<double>(end - c.warmup);
}

}  // namespace

double schedule_factor(const ScheduleConfig& c, const Moment& m) {
  require(c.warmup >= 0, "--warmup: found {}, expected 0 or more", c.warmup);
  require(c.decay_steps >= 0, "--decay-steps: found {}, expected 0 or more", c.decay_steps);
  require(c.last_factor >= 0 && c.last_factor <= 1, "--last-factor: found {}, expected 0 to 1", c.last_factor);
  const bool linear = c.kind == "linear", cosine = c.kind == "cosine", root = c.kind == "inverse-sqrt";
  if (!linear && !cosine && !root && c.kind != "constant") {
    throw_unknown("schedule", c.kind, {"constant", "inverse-sqrt", "linear", "cosine"});
  }
  const double t = linear || cosine ? decayed(c, m) : 0;
  if (m.step <= c.warmup) return static_cast<double>(m.step) / static_cast<double>(c.warmup);
  if (linear) return 1 - (1 - c.last_factor) * t;
  if (cosine) return c.last_factor + (1 - c.last_factor) * (1 + std::cos(std::numbers::pi * t)) / 2;
  if (root) return std::sqrt(static_cast<double>(std::max<int64_t>(1, c.warmup)) / static_cast<double>(m.step));
  return 1;
}

}  // namespace fovea
