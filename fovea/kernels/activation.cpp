#include "fovea/kernels/activation.h"

#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/activation.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernels/math-inl.h"
#include "fovea/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void activate_range(Activation f, int64_t count, const float* x, float* y) {
  with_activation(f, [&]<Activation g>() HWY_ATTR {
    for_each_vector(
        count, [&](int64_t i, auto part) HWY_ATTR { part.store(activated<g>(RowTag(), part.load(x + i)), y + i); });
  });
}

void gradient_range(Activation f, int64_t count, const float* x, const float* dy, float* dx) {
  with_activation(f, [&]<Activation g>() HWY_ATTR {
    for_each_vector(count, [&](int64_t i, auto part) HWY_ATTR {
      part.store(hn::Mul(part.load(dy + i), activated_slope<g>(RowTag(), part.load(x + i))), dx + i);
    });
  });
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {

HWY_EXPORT(activate_range);
HWY_EXPORT(gradient_range);
constexpr int64_t grain = 8192;  // elements that are worth another thread

}  // namespace

void activate(Activation f, int64_t count, const float* x, float* y) {
  parallel_ranges(count, grain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(activate_range)(f, end - begin, x + begin, y + begin);
  });
}

void activate_gradient(Activation f, int64_t count, const float* x, const float* dy, float* dx) {
  parallel_ranges(count, grain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(gradient_range)(f, end - begin, x + begin, dy + begin, dx + begin);
  });
}

}  // namespace fovea::kernels
#endif
