// One number that says how good a model is.
#pragma once

#include <string>

namespace fovea {

struct Score {
  enum Better { lower, higher };
  std::string name;
  double value = 0;
  Better better = lower;
};

}  // namespace fovea
