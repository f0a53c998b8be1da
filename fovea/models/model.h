// A model is weights and a config; what it can do is said by the abilities that it has (abilities.h).
#pragma once

#include <string>
#include <string_view>

#include "fovea/nn/weights.h"

namespace fovea {

class Model {
 public:
  virtual ~Model() = default;
  virtual void weights(Weights&) = 0;
  virtual std::string_view family() const = 0;
  virtual std::string config() const = 0;  // as config.json has it
  virtual int64_t vocabulary() const = 0;  // entries that its tokenizer has to have
};

}  // namespace fovea
