// What a template may still do: one step for each node that is visited, each item that is made and each 16 bytes that are
// written, so that one number bounds time, memory and output.
//
//   budget.bytes(a.size() * times);        // a Fault of kind invalid before anything is allocated
#pragma once

#include <cstdint>
#include <limits>

#include "fovea/data/text/jinja/fault.h"

namespace fovea::jinja {

class Budget final {
 public:
  Budget(int64_t steps, int depth) : allowed_(steps), left_(steps), depth_(depth) {}

  void steps(int64_t count) {
    if (count > left_) {
      throw Fault(Error::invalid, "the template takes more than {} steps (nodes, items and 16 bytes of text)",
                  allowed_);
    }
    left_ -= count;
  }
  void items(uint64_t count) { steps(bounded(count, 4)); }
  void bytes(uint64_t count) { steps(bounded(count / 16, 1)); }
  // Looking for a part in a text, which at worst compares it at each byte.
  void search(uint64_t text, uint64_t part) {
    bytes(text);
    if (part > 64) steps(bounded(text / 1024 + 1, part));
  }

  // Nested statements, expressions and macros; held while one of them runs.
  class Level final {
   public:
    explicit Level(Budget& budget) : budget_(budget) {
      if (budget_.depth_ == 0)
        throw Fault(Error::invalid, "the template is nested too deep; does a macro call itself?");
      --budget_.depth_;
    }
    ~Level() { ++budget_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Budget& budget_;
  };

 private:
  static int64_t bounded(uint64_t count, uint64_t each) {
    constexpr uint64_t most = std::numeric_limits<int64_t>::max() / 16;
    return static_cast<int64_t>(count > most / each ? most : count * each);
  }

  int64_t allowed_, left_;
  int depth_;
};

}  // namespace fovea::jinja
