#include "fovea/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(Schedule, EveryKindRisesLinearlyFirst) {
  for (const char* kind : {"constant", "inverse-sqrt", "linear", "cosine"}) {
    const ScheduleConfig c = {.kind = kind, .warmup = 4};
    for (int64_t step = 1; step <= 4; ++step) {
      EXPECT_DOUBLE_EQ(schedule_factor(c, {step, 100}), 0.25 * static_cast<double>(step)) << kind;
    }
    EXPECT_LE(schedule_factor(c, {5, 100}), 1);
  }
}

TEST(Schedule, InverseSquareRootIsThatOfVaswaniUpToItsPeak) {
  const ScheduleConfig c = {.kind = "inverse-sqrt", .warmup = 400};
  const double peak = std::pow(400.0, -0.5);
  for (double step : {1.0, 17.0, 400.0, 401.0, 1600.0, 100000.0}) {
    const double paper = std::min(std::pow(step, -0.5), step * std::pow(400.0, -1.5));
    EXPECT_NEAR(schedule_factor(c, {static_cast<int64_t>(step), 0}), paper / peak, 1e-12) << step;
  }
}

TEST(Schedule, LinearAndCosineReachTheirEndAndStayThere) {
  const ScheduleConfig linear = {.kind = "linear", .warmup = 10, .last_factor = 0.2};
  const ScheduleConfig cosine = {.kind = "cosine", .warmup = 10, .last_factor = 0.2};
  EXPECT_NEAR(schedule_factor(linear, {35, 110}), 0.8, 1e-12);
  EXPECT_NEAR(schedule_factor(cosine, {35, 110}), 0.2 + 0.8 * (1 + std::sqrt(0.5)) / 2, 1e-12);
  EXPECT_NEAR(schedule_factor(cosine, {60, 110}), 0.6, 1e-12);
  for (const ScheduleConfig& c : {linear, cosine}) {
    EXPECT_NEAR(schedule_factor(c, {110, 110}), 0.2, 1e-12);
    EXPECT_NEAR(schedule_factor(c, {5000, 110}), 0.2, 1e-12);
  }
}

TEST(Schedule, DecayStepsComeBeforeTheStepsOfTheTraining) {
  const ScheduleConfig c = {.kind = "linear", .warmup = 0, .decay_steps = 10};
  EXPECT_NEAR(schedule_factor(c, {5, 1000}), 0.5, 1e-12);
  EXPECT_NEAR(schedule_factor(c, {5, 0}), 0.5, 1e-12);
}

TEST(Schedule, NoWarmUpAndWarmUpsLongerThanTheTrainingStayFinite) {
  for (const char* kind : {"constant", "inverse-sqrt", "linear", "cosine"}) {
    for (int64_t warmup : {0, 10, 11}) {
      for (int64_t step = 1; step <= 12; ++step) {
        const double factor = schedule_factor({.kind = kind, .warmup = warmup}, {step, 10});
        EXPECT_TRUE(factor >= 0 && factor <= 1.1) << kind << " " << warmup << " " << step << ": " << factor;
      }
    }
  }
}

TEST(Schedule, BadValuesAreErrors) {
  EXPECT_THROW(schedule_factor({.kind = "cosin"}, {1, 10}), Error);
  EXPECT_THROW(schedule_factor({.kind = "cosine"}, {1, 0}), Error);
  EXPECT_THROW(schedule_factor({.warmup = -1}, {1, 10}), Error);
  EXPECT_THROW(schedule_factor({.last_factor = 2}, {1, 10}), Error);
}

}  // namespace
}  // namespace fovea
