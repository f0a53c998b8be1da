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

// Stands where embedded tokens enter a model, to look at them or to put others into their place.
class Entrance {
 public:
  virtual ~Entrance() = default;
  // The tokens' own vectors, before positions are added: of "source", what an encoder reads, or "text", what a decoder does.
  virtual Tensor enter(std::string_view sequence, const Tensor& embedded) = 0;
};

struct Context {
  bool training = false;
  Random random = Random(0);
  Trace* trace = nullptr;
  Cache* cache = nullptr;
  Entrance* entrance = nullptr;
  std::string place = {};  // if there is a trace

  // Named only where someone looks at places, and with randomness of its own only where something draws.
  Context at(std::string_view name) const {
    Context inner = *this;
    if (trace) inner.place = place.empty() ? std::string(name) : place + "." + std::string(name);
    if (training) inner.random = random.fork(name);
    return inner;
  }
  Tensor entering(std::string_view sequence, const Tensor& embedded) const {
    return entrance ? entrance->enter(sequence, embedded) : embedded;
  }
};

}  // namespace fovea
