// How the learning rate changes: a factor for each step, a pure function of the step's number. Steps count from 1.
//
//   ScheduleConfig schedule = {.kind = "cosine", .warmup = 100};
//   double factor = schedule_factor(schedule, {.step = 250, .steps = 1000});
//
// All of them rise linearly over the first `warmup` steps, step / warmup, and then, with t = (step − warmup) / (decay −
// warmup) from 0 to 1 and l the last factor,
//
//   constant       1
//   inverse-sqrt   √(warmup / step)                        (Vaswani et al. 2017)
//   linear         1 − (1 − l) t
//   cosine         l + (1 − l) (1 + cos π t) / 2           (Loshchilov and Hutter 2017)
#pragma once

#include <cstdint>
#include <string>

#include "fovea/base/fields.h"

namespace fovea {

struct ScheduleConfig {
  std::string kind = "inverse-sqrt";
  int64_t warmup = 1000;
  int64_t decay_steps = 0;
  double last_factor = 0;

  void fields(Fields& f) {
    f("schedule", kind, "how the learning rate changes: constant, inverse-sqrt, linear or cosine");
    f("warmup", warmup, "steps over which the learning rate rises from 0; -1: a tenth of all, 10 to 1000");
    f("decay_steps", decay_steps,
      "step at which linear and cosine have reached their end; 0: the last of the training");
    f("last_factor", last_factor, "share of the learning rate at which linear and cosine end");
  }
};

struct Moment {
  int64_t step = 1;
  int64_t steps = 0;  // of the whole training, 0 if that is not known
};

// An Error for an unknown kind, values that make no sense, or an end that is needed but not known.
double schedule_factor(const ScheduleConfig&, const Moment&);

}  // namespace fovea
