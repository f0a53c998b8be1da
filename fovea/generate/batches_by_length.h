// Inputs of different lengths in batches of similar ones: sorted, but only among as many as lets results stream in order.
//
//   for_each_batch_by_length(sizes, 32, [&](const std::vector<size_t>& numbers) { … });
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace fovea {

// f(the numbers of a batch). After batches_sorted_together batches everything before is done.
template <class F>
void for_each_batch_by_length(const std::vector<size_t>& sizes, size_t batch, F&& f) {
  constexpr size_t batches_sorted_together = 16;
  batch = std::clamp<size_t>(batch, 1, std::max<size_t>(sizes.size(), 1));
  const size_t window = batch * batches_sorted_together;
  for (size_t begin = 0; begin < sizes.size(); begin += window) {
    std::vector<size_t> order(std::min(window, sizes.size() - begin));
    std::iota(order.begin(), order.end(), begin);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return sizes[a] < sizes[b]; });
    for (size_t i = 0; i < order.size(); i += batch) {
      const auto first = order.begin() + static_cast<std::ptrdiff_t>(i);
      f(std::vector<size_t>(first, first + static_cast<std::ptrdiff_t>(std::min(batch, order.size() - i))));
    }
  }
}

}  // namespace fovea
