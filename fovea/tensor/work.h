// What a forward pass does, product by product, told to whoever watches the thread (base/watched.h); of a training also how long the
// way back and the step after it take.
//
//   TimedWork timed(Work::Kind::norm);                 // as soon as the work begins
//   …
//   if (timed) timed.done({.weight = w.bytes(), .flops = 5.0 * n, .input = &x, .output = &y});
//
// A model's weights are known to a watcher by where their numbers lie, so that no layer has to name itself.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/base/block_type.h"
#include "fovea/base/precision.h"
#include "fovea/base/watched.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct Work {
  enum class Kind { linear, attention, norm, embedding, recurrent, search, backward, update };

  Kind kind = Kind::linear;
  const void* weight = nullptr;             // where its first number lies; of several, the first one's
  double flops = 0, bytes = 0;              // operations, and bytes that are read and written at least once
  std::optional<Precision> precision = {};  // of packed weights
  std::optional<BlockType> blocks = {};     // or the blocks they are in
  std::string_view how = {};                // what ran, if there is more to say
  const Tensor *input = nullptr, *output = nullptr;
  double seconds = 0;  // without what other work inside of it took
  int threads = 1;     // that it could use
};

constexpr std::string_view name(Work::Kind kind) {
  constexpr std::string_view names[] = {"linear",    "attention", "norm",     "embedding",
                                        "recurrent", "search",    "backward", "update"};
  return names[static_cast<size_t>(kind)];
}

// Called from any thread that is watched.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void knows(const std::string& path, const void* weight) = 0;  // of a model that was loaded
  virtual void saw(const Work&) = 0;
};

class TimedWork final {
 public:
  explicit TimedWork(Work::Kind);
  ~TimedWork();
  TimedWork(const TimedWork&) = delete;
  TimedWork& operator=(const TimedWork&) = delete;

  explicit operator bool() const { return watcher_ != nullptr; }
  void done(Work work);

 private:
  using Clock = std::chrono::steady_clock;
  Watcher* watcher_;
  Work::Kind kind_;
  TimedWork* around_ = nullptr;
  Clock::time_point begin_ = {};
  double inside_ = 0;  // seconds of the work inside of it
};

double bytes_of(const Tensor&);  // of its numbers; 0 for none

}  // namespace fovea
