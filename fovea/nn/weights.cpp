#include "fovea/nn/weights.h"

#include <cmath>

#include "fovea/base/catalogue.h"

namespace fovea {

namespace {

// Xavier: Glorot and Bengio 2010, uniform in ±√(6 / (fan-in + fan-out)). Kaiming: He et al. 2015, normal with √(2 / fan-in).
void draw(Tensor& weight, const Init& init, const Random& random) {
  const Shape& shape = weight.shape();
  double receptive = 1;
  for (int axis = 2; axis < shape.rank(); ++axis) receptive *= static_cast<double>(shape[axis]);
  double fan_out = receptive * static_cast<double>(shape.rank() > 0 ? shape[0] : 1);
  double fan_in = receptive * static_cast<double>(shape.rank() > 1 ? shape[1] : 1);
  switch (init.kind) {
    case Init::zeros:
      return weight.fill(0);
    case Init::ones:
      return weight.fill(init.scale);
    case Init::normal:
      return weight.copy_from(normal(shape, random, 0, init.scale));
    case Init::uniform:
      return weight.copy_from(uniform(shape, random, -init.scale, init.scale));
    case Init::kaiming:
      return weight.copy_from(normal(shape, random, 0, init.scale * std::sqrt(2 / fan_in)));
    case Init::xavier: {
      double bound = init.scale * std::sqrt(6 / (fan_in + fan_out));
      return weight.copy_from(uniform(shape, random, -bound, bound));
    }
  }
}

}  // namespace

void initialise(Tensor& weight, const Init& init, const Random& random) {
  draw(weight, init, random);
  if (init.zero_row >= 0) weight.select(0, init.zero_row).fill(0);
}

void load(Weight& weight, const NamedTensors& tensors, const std::string& path) {
  auto found = tensors.find(path);
  if (found == tensors.end()) {
    std::vector<std::string> known;
    for (const auto& [key, tensor] : tensors) known.push_back(key);
    throw_unknown("weight", path, known);
  }
  try {
    weight.numbers().copy_from(weight.as_used(found->second));
  } catch (const Error& e) {
    throw Error(e.kind(), "weight '{}': {}", path, e.what());
  }
}

}  // namespace fovea
