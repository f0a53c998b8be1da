// What can be trained: weights, an endless stream of batches with their loss, a validation, and a place in the data that
// can be found again.
//
//   class Translation final : public Trainee { … };
//   train(translation, {.steps = 1000}, {.folder = "my-model"});
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/nn/context.h"
#include "fovea/nn/weights.h"
#include "fovea/train/score.h"

namespace fovea {

struct StepLoss {
  Tensor loss;         // one number: the losses of the batch, added up
  int64_t losses = 0;  // how many these were
  int64_t tokens = 0;  // that were read for them
  double epochs = 0;   // passes over the data, with this batch
};

class Trainee {
 public:
  virtual ~Trainee() = default;

  virtual void weights(Weights&) = 0;
  virtual StepLoss next(const Context&) = 0;  // the context is that of training, its randomness that of this batch
  virtual std::vector<Score> validate() = 0;  // the first score says which model is the best, the second of equal ones
  virtual std::string position() const = 0;   // where in the data next() goes on, as JSON
  virtual void seek(const std::string& position) = 0;  // such that next() gives what it would have given there

  // Writes the model as its users load it into a folder that exists. As it stands here: model.safetensors alone.
  virtual void save(const std::filesystem::path& folder);
};

}  // namespace fovea
