#include "fovea/tensor/loss.h"

#include <algorithm>
#include <cmath>

#include "fovea/kernels/softmax.h"
#include "fovea/kernels/sum.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/map.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

struct Logits {
  Tensor values, targets;  // contiguous [rows, classes] and [rows]
  int64_t rows, classes;
  std::vector<int64_t> possible =
      {};  // with smoothing: how many classes of a row are not −∞, if that is not all of them
};

void sums_of(const Logits& l, const float* x, float* sums) {
  kernels::log_sum_exp({.rows = l.rows, .width = l.classes}, x, sums);
}

void sums_of(const Logits& l, const double* x, double* sums) {
  for (int64_t row = 0; row < l.rows; ++row) {
    const double* p = x + row * l.classes;
    double m = p[0], sum = 0;
    for (int64_t i = 1; i < l.classes; ++i) m = p[i] > m || p[i] != p[i] ? p[i] : m;
    for (int64_t i = 0; i < l.classes; ++i) sum += std::exp(p[i] - m);
    sums[row] = std::isinf(m) ? m : m + std::log(sum);
  }
}

void means_of(const Logits& l, const float* x, float* means) {
  kernels::row_sums({.rows = l.rows, .columns = l.classes, .stride = l.classes}, x, means);
  for (int64_t row = 0; row < l.rows; ++row) means[row] /= static_cast<float>(l.classes);
}

void means_of(const Logits& l, const double* x, double* means) {
  for (int64_t row = 0; row < l.rows; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < l.classes; ++i) sum += x[row * l.classes + i];
    means[row] = sum / static_cast<double>(l.classes);
  }
}

void difference(const Logits& l, const float* sums, const float* scale, float spread, float* dx) {
  kernels::softmax_difference({.rows = l.rows, .width = l.classes}, l.values.data<float>(), sums, scale, spread, dx);
}

void difference(const Logits& l, const double* sums, const double* scale, double spread, double* dx) {
  const double* x = l.values.data<double>();
  for (int64_t i = 0; i < l.rows * l.classes; ++i) {
    const int64_t row = i / l.classes;
    dx[i] = scale[row] * (std::exp(x[i] - sums[row]) - spread);
  }
}

Logits checked(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  require(logits.rank() > 0 && logits.size(-1) > 0, "cross_entropy: found logits {}, expected [..., classes]",
          logits.shape());
  require(targets.dtype() == DType::i64, "cross_entropy: found targets of type {}, expected I64",
          name(targets.dtype()));
  require(options.smoothing >= 0 && options.smoothing <= 1, "cross_entropy: found smoothing {}, expected 0 to 1",
          options.smoothing);
  Shape rows = logits.shape();
  rows.erase(-1);
  require(targets.shape() == rows, "cross_entropy: found targets {} for logits {}, expected {}", targets.shape(),
          logits.shape(), rows);
  Logits l = {logits.detach().contiguous(), targets.contiguous(), rows.elements(), logits.size(-1)};
  const int64_t* t = l.targets.data<int64_t>();
  for (int64_t row = 0; row < l.rows; ++row) {
    if (t[row] != options.ignored && (t[row] < 0 || t[row] >= l.classes))
      throw Error(Error::invalid, "cross_entropy: found target {} at place {}, expected 0 to {} or {} to ignore it",
                  t[row], row, l.classes - 1, options.ignored);
  }
  return l;
}

// The means of rows with −∞ over the other classes.
template <class T>
void take_possible_means(Logits& l, const T* x, T* means) {
  for (int64_t row = 0; row < l.rows; ++row) {
    if (means[row] != T(-HUGE_VAL)) continue;
    l.possible.resize(static_cast<size_t>(l.rows), l.classes);
    T sum = 0;
    int64_t count = 0;
    for (const T *p = x + row * l.classes, *end = p + l.classes; p < end; ++p)
      if (*p != T(-HUGE_VAL)) sum += *p, ++count;
    means[row] = sum / static_cast<T>(std::max<int64_t>(count, 1));
    l.possible[static_cast<size_t>(row)] = count;
  }
}

// loss = log Σ e^x − (1 − smoothing) x[target] − smoothing · mean(x), and 0 where the target is ignored.
Tensor losses(Logits& l, const Tensor& sums, const Shape& shape, const CrossEntropyOptions& options) {
  Tensor result(shape, sums.dtype());
  with_number("cross_entropy", sums.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* x = l.values.data<T>();
    const int64_t* t = l.targets.data<int64_t>();
    const T *s = sums.data<T>(), smoothing = T(options.smoothing);
    T* loss = result.data<T>();
    if (smoothing > 0) means_of(l, x, loss), take_possible_means(l, x, loss);
    for (int64_t row = 0; row < l.rows; ++row) {
      if (t[row] == options.ignored) {
        loss[row] = 0;
        continue;
      }
      const T hit = s[row] - x[row * l.classes + t[row]];
      loss[row] = smoothing > 0 ? (1 - smoothing) * hit + smoothing * (s[row] - loss[row]) : hit;
    }
  });
  return result;
}

// What spreading over the possible classes alone changes in a row's gradient.
template <class T>
void respread(const Logits& l, int64_t row, const T* x, T scale, T smoothing, T* dx) {
  if (l.possible.empty() || l.possible[static_cast<size_t>(row)] == l.classes) return;
  const T more =
      scale * smoothing * (1 / static_cast<T>(l.classes) - 1 / static_cast<T>(l.possible[static_cast<size_t>(row)]));
  for (int64_t i = 0; i < l.classes; ++i) dx[i] = x[i] == T(-HUGE_VAL) ? T(0) : dx[i] + more;
}

// dx = scale (softmax(x) − (1 − smoothing) [i = target] − smoothing / classes), scale being each loss's gradient.
Tensor gradient_of(const Logits& l, const Tensor& sums, const Tensor& scale, const CrossEntropyOptions& options) {
  // Logits that nobody else holds are as large as what they become, and no longer needed.
  Tensor dx = l.possible.empty() && l.values.owns_alone() ? l.values : Tensor(l.values.shape(), sums.dtype());
  with_number("cross_entropy", sums.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* factor = scale.data<T>();
    const int64_t* t = l.targets.data<int64_t>();
    T* to = dx.data<T>();
    difference(l, sums.data<T>(), factor, T(options.smoothing) / static_cast<T>(l.classes), to);
    for (int64_t row = 0; row < l.rows; ++row) {
      T* d = to + row * l.classes;
      if (t[row] == options.ignored) {
        std::fill_n(d, l.classes, T(0));
        continue;
      }
      respread(l, row, l.values.data<T>() + row * l.classes, factor[row], T(options.smoothing), d);
      d[t[row]] -= factor[row] * (1 - T(options.smoothing));
    }
  });
  return dx;
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  Logits l = checked(logits, targets, options);
  Tensor sums({l.rows}, logits.dtype());
  with_number("cross_entropy", logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    sums_of(l, l.values.data<T>(), sums.data<T>());
  });
  const int64_t* t = l.targets.data<int64_t>();
  const int64_t counted = l.rows - std::count(t, t + l.rows, options.ignored);
  const double share =
      options.reduction == Reduction::mean ? 1.0 / static_cast<double>(std::max<int64_t>(1, counted)) : 1;
  Tensor y = losses(l, sums, targets.shape(), options);
  if (options.reduction != Reduction::none) y = sum(y) * share;
  if (!needs_gradient(logits)) return y;
  return with_gradient("cross_entropy", y, {logits}, [l = std::move(l), sums, share, options](const Tensor& dy) {
    const Tensor scale =
        options.reduction == Reduction::none ? dy.contiguous() : (dy * share).expand({l.rows}).contiguous();
    return Gradients{gradient_of(l, sums, scale, options)};
  });
}

}  // namespace fovea
