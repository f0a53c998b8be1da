#include "fovea/kernels/select.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/select.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The next index from `begin` on where a run of eight vectors holds something above `threshold`, or `end` where only less
// than a run is left.
int64_t next_run_above(const float* x, int64_t begin, int64_t end, float threshold) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), run = 8 * lanes;
  const auto bar = hn::Set(d, threshold);
  for (; begin + run <= end; begin += run) {
    auto above = hn::Gt(hn::LoadU(d, x + begin), bar);
    for (int64_t i = lanes; i < run; i += lanes) above = hn::Or(above, hn::Gt(hn::LoadU(d, x + begin + i), bar));
    if (!hn::AllFalse(d, above)) return begin;
  }
  return begin;
}

int64_t run_length() { return 8 * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>())); }

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(next_run_above);
HWY_EXPORT(run_length);

}  // namespace

RunAbove next_above(std::span<const float> x, int64_t begin, float threshold) {
  const auto size = static_cast<int64_t>(x.size());
  const int64_t first = HWY_DYNAMIC_DISPATCH(next_run_above)(x.data(), begin, size, threshold);
  return {first, std::min(size, first + HWY_DYNAMIC_DISPATCH(run_length)())};
}

// What does not exceed the least of the chosen ones is passed over run by run; after the first few runs nearly all is.
std::vector<Chosen> largest(std::span<const float> x, int64_t count) {
  auto better = [](const Chosen& a, const Chosen& b) {
    return a.value != b.value ? a.value > b.value : a.index < b.index;
  };
  std::vector<Chosen> heap;  // the worst in front
  if (count <= 0) return heap;
  const auto next = HWY_DYNAMIC_DISPATCH(next_run_above);
  const int64_t size = static_cast<int64_t>(x.size()), run = HWY_DYNAMIC_DISPATCH(run_length)();
  float threshold = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; (i = next(x.data(), i, size, threshold)) < size;) {
    for (const int64_t end = std::min(size, i + run); i < end; ++i) {
      const float value = x[static_cast<size_t>(i)];
      if (!(value > threshold)) continue;
      if (static_cast<int64_t>(heap.size()) == count) std::pop_heap(heap.begin(), heap.end(), better), heap.pop_back();
      heap.push_back({value, i}), std::push_heap(heap.begin(), heap.end(), better);
      if (static_cast<int64_t>(heap.size()) == count) threshold = heap.front().value;
    }
  }
  std::sort_heap(heap.begin(), heap.end(), better);
  return heap;
}

}  // namespace fovea::kernels
#endif
