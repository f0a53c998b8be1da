// Inputs of different lengths in batches of similar ones: sorted, but only among as many as lets results stream in order.
//
//   for_each_batch_by_length(sizes, 32, [&](const std::vector<size_t>& numbers) { … }, on_batch);
//
// Where there are small batches for all threads, each thread has its own: they would wait for each other at every product. Larger ones
// have all threads, one after the other: what lies between their products would not stay in the caches. So a body writes only what
// belongs to its numbers; its own loops may run on its thread alone.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <numeric>
#include <vector>

#include "fovea/base/threads.h"

namespace fovea {

// f(the numbers of a batch), then done(how many they were), one call at a time, if somebody wants to know. After
// batches_sorted_together batches everything before is done.
template <class F>
void for_each_batch_by_length(const std::vector<size_t>& sizes, size_t batch, F&& f,
                              const std::function<void(size_t)>& done = {}) {
  constexpr size_t batches_sorted_together = 16, small = 1024;  // tokens, with padding
  batch = std::clamp<size_t>(batch, 1, std::max<size_t>(sizes.size(), 1));
  const size_t window = batch * batches_sorted_together;
  std::mutex one_at_a_time;
  for (size_t begin = 0; begin < sizes.size(); begin += window) {
    std::vector<size_t> order(std::min(window, sizes.size() - begin));
    std::iota(order.begin(), order.end(), begin);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return sizes[a] < sizes[b]; });
    const auto run = [&](int64_t number) {
      const auto first = order.begin() + number * static_cast<int64_t>(batch);
      const auto last = std::min(first + static_cast<int64_t>(batch), order.end());
      f(std::vector<size_t>(first, last));
      const std::lock_guard lock(one_at_a_time);
      if (done) done(static_cast<size_t>(last - first));
    };
    const auto batches = static_cast<int64_t>((order.size() + batch - 1) / batch);
    const auto longest_of = [&](int64_t number) {
      return sizes[order[std::min((static_cast<size_t>(number) + 1) * batch, order.size()) - 1]];
    };
    int64_t apart = 0;  // the shorter ones come first
    while (apart < batches && longest_of(apart) * batch <= small) ++apart;
    if (apart < threads()) apart = 0;
    apart -= apart % threads();  // none has to wait for another's last batch
    parallel_for(apart, run);
    for (int64_t i = apart; i < batches; ++i) run(i);
  }
}

}  // namespace fovea
