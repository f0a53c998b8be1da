// Everything that varies from call to call: training or not, randomness, the cache, the trace. Nothing of it is global, so
// two requests in one process can trace different heads of one model.
//
//   Tensor y = layer(x, {.training = true, .random = Random(seed).fork(step)});
//   attention(x, c.at("self"));                        // names the place, for the trace and the randomness
#pragma once

#include <string>
#include <string_view>

#include "fovea/base/random.h"
#include "fovea/nn/trace.h"

namespace fovea {

class Cache;  // attention/cache.h

struct Context {
  bool training = false;
  Random random = Random(0);
  Trace* trace = nullptr;
  Cache* cache = nullptr;
  std::string place = {};  // if there is a trace

  // Named only where someone looks at places, and with randomness of its own only where something draws.
  Context at(std::string_view name) const {
    Context inner = *this;
    if (trace) inner.place = place.empty() ? std::string(name) : place + "." + std::string(name);
    if (training) inner.random = random.fork(name);
    return inner;
  }
};

}  // namespace fovea
