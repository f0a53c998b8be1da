// The training loop: batches, gradients, steps, validation, checkpoints, a log.
//
//   TrainingResult result = train(translation, {.steps = 10000, .validate_every = 500}, {.folder = "my-model"});
//
// The folder then holds best/ (the model with the best first score, of equal ones with the best second), last/ (the model and all that
// resuming needs) and log.jsonl. A training that is stopped or killed and resumed ends with the same bits as one that was not: a step depends
// on the weights, the optimiser's state, the step's number, the seed and the data's position alone, and all are saved.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "fovea/base/fields.h"
#include "fovea/train/optimiser.h"
#include "fovea/train/schedule.h"
#include "fovea/train/trainee.h"

namespace fovea {

struct TrainerConfig {
  int64_t steps = 0, epochs = 0;
  double minutes = 0;
  int64_t accumulate = 1;
  int64_t log_every = 50, validate_every = 1000, checkpoint_every = 1000;
  int64_t gradient_batches = 0;
  int64_t patience = 0;
  double average = 0;
  int64_t seed = 1;
  OptimiserConfig optimiser = {};
  ScheduleConfig schedule = {};

  void fields(Fields& f) {
    f("steps", steps,
      "steps to train; 0: no limit (if nothing else sets one: 40 passes over the data, at most 20,000)");
    f("epochs", epochs, "passes over the data; 0: no limit");
    f("minutes", minutes, "minutes to train, those before a resume included; 0: no limit");
    f("accumulate", accumulate, "batches whose gradients make one step");
    f("log_every", log_every, "steps from line to line of log.jsonl");
    f("validate_every", validate_every,
      "steps from validation to validation; 0: at the end only; -1: a pass over the data, 20 to 300");
    f("checkpoint_every", checkpoint_every,
      "steps from checkpoint to checkpoint; 0: at the end only; -1: at each validation");
    f("gradient_batches", gradient_batches,
      "batches whose gradients give its mean and variance at each validation; 0: none");
    f("patience", patience, "validations without a better score after which training stops; 0: never");
    f("average", average, "validate and save an average of the weights that keeps this share a step; 0: none");
    f("seed", seed, "of all randomness");
    optimiser.fields(f);
    schedule.fields(f);
  }
};

// What was left to the data: when to end if nothing says so, and what is −1. Says what it chose, in a line for the user.
std::string complete(TrainerConfig&, int64_t batches_in_epoch);

struct Progress {
  int64_t step = 0;
  double epochs = 0, seconds = 0;
  double loss = 0;  // mean since the last line of the log
  double learning_rate = 0, gradient_norm = 0;
  double tokens_per_second = 0;
  double remaining_seconds = 0;
  std::vector<Score> scores;  // if this step was validated
};

struct TrainerOptions {
  std::filesystem::path folder;
  bool resume = false;                      // go on from last/; an Error if there is none
  const std::atomic<bool>* stop = nullptr;  // set by someone else: a checkpoint is written and train() returns
  std::function<void(const Progress&)> progress = {};  // after every step
};

struct TrainingResult {
  enum End { finished, stopped, no_improvement };
  End end = finished;
  int64_t step = 0;
  std::optional<Score> best;  // the best first score, and its step
  int64_t best_step = 0;
};

// An Error if the folder holds a training already and it is not to be resumed, or if it holds none that could be.
void check_folder(const TrainerOptions&);

// A loss or gradient that is NaN or infinite is an Error that names the step; last/ stays as it was.
TrainingResult train(Trainee&, const TrainerConfig&, const TrainerOptions&);

}  // namespace fovea
