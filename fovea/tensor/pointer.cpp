#include "fovea/tensor/pointer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "fovea/base/threads.h"
#include "fovea/kernels/softmax.h"
#include "fovea/kernels/sum.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/map.h"

namespace fovea {
namespace {

constexpr double least_mass = 1e-30;

// The different ids of one source, in the order in which they come, and which of them each token is; −1: none.
struct SourceIds {
  std::vector<int64_t> ids, number;
};

SourceIds different(const int64_t* ids, int64_t tokens) {
  SourceIds s;
  std::unordered_map<int64_t, int64_t> seen;
  for (int64_t j = 0; j < tokens; ++j) {
    if (ids[j] < 0) {
      s.number.push_back(-1);
      continue;
    }
    const auto [at, fresh] = seen.emplace(ids[j], static_cast<int64_t>(s.ids.size()));
    if (fresh) s.ids.push_back(ids[j]);
    s.number.push_back(at->second);
  }
  return s;
}

// Everything contiguous; a row is one query.
struct Mixture {
  Tensor logits, gate, weights;    // the gradient needs no logits
  std::vector<SourceIds> sources;  // of each batch row
  int64_t rows, queries, vocabulary, tokens, width;

  Shape shape() const { return {rows / std::max<int64_t>(queries, 1), queries, vocabulary}; }
  const SourceIds& source(int64_t row) const { return sources[static_cast<size_t>(row / queries)]; }
};

Mixture checked(const Tensor& logits, const Tensor& gate, const Tensor& weights, const Tensor& source_ids) {
  require(
      logits.rank() == 3 && weights.rank() == 3 && gate.shape() == Shape{logits.size(0), logits.size(1), 1} &&
          weights.size(0) == logits.size(0) && weights.size(1) == logits.size(1) && logits.size(2) > 0,
      "mix_copies: found logits {}, a gate {} and weights {}, expected [batch, queries, vocabulary], [batch, queries, "
      "1] and [batch, queries, tokens]",
      logits.shape(), gate.shape(), weights.shape());
  require(source_ids.dtype() == DType::i64 && source_ids.shape() == Shape{weights.size(0), weights.size(2)},
          "mix_copies: found ids {} {}, expected I64 [{}, {}]", name(source_ids.dtype()), source_ids.shape(),
          weights.size(0), weights.size(2));
  require(gate.dtype() == logits.dtype() && weights.dtype() == logits.dtype(),
          "mix_copies: found {}, {} and {}, expected one type", name(logits.dtype()), name(gate.dtype()),
          name(weights.dtype()));
  Mixture m = {
      logits.detach().contiguous(), gate.detach().contiguous(), weights.detach().contiguous(), {}, 0, 0, 0, 0, 0};
  m.queries = logits.size(1), m.rows = logits.size(0) * m.queries;
  m.vocabulary = m.width = logits.size(2), m.tokens = weights.size(2);
  const Tensor ids = source_ids.contiguous();
  for (int64_t b = 0; b < logits.size(0); ++b) {
    m.sources.push_back(different(ids.data<int64_t>() + b * m.tokens, m.tokens));
    for (int64_t id : m.sources.back().ids) m.width = std::max(m.width, id + 1);
  }
  require(
      m.width - m.vocabulary <= ids.elements(),
      "mix_copies: found the id {} for a vocabulary of {}, expected those behind it to be numbered one after another",
      m.width - 1, m.vocabulary);
  return m;
}

void sums_of(const Mixture& m, float* sums) {
  kernels::log_sum_exp({.rows = m.rows, .width = m.vocabulary}, m.logits.data<float>(), sums);
}

void sums_of(const Mixture& m, double* sums) {
  for (int64_t row = 0; row < m.rows; ++row) {
    const double* z = m.logits.data<double>() + row * m.vocabulary;
    const double largest = *std::max_element(z, z + m.vocabulary);
    double sum = 0;
    for (int64_t v = 0; v < m.vocabulary; ++v) sum += std::exp(z[v] - largest);
    sums[row] = largest + std::log(sum);
  }
}

// log σ(x)
template <class T>
T log_sigmoid(T x) {
  return std::min(x, T(0)) - std::log1p(std::exp(-std::abs(x)));
}

template <class T>
T log_sum(T a, T b) {
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

// What each different id of the source gets, added up in the order of the tokens.
template <class T>
std::vector<T> masses(const SourceIds& source, const T* weights) {
  std::vector<T> mass(source.ids.size());
  for (size_t j = 0; j < source.number.size(); ++j)
    if (source.number[j] >= 0) mass[static_cast<size_t>(source.number[j])] += weights[j];
  return mass;
}

// y of one row; `from_vocabulary` gets log(p softmax) of each different id of the source.
template <class T>
void mix_row(const Mixture& m, int64_t row, T sum, T* y, T* from_vocabulary) {
  const SourceIds& source = m.source(row);
  const T gate = m.gate.data<T>()[row], generated = log_sigmoid(gate), copied = log_sigmoid(-gate);
  const T *z = m.logits.data<T>() + row * m.vocabulary, shift = generated - sum;
  for (int64_t v = 0; v < m.vocabulary; ++v) y[v] = z[v] + shift;
  std::fill(y + m.vocabulary, y + m.width, T(-HUGE_VAL));
  const std::vector<T> mass = masses(source, m.weights.data<T>() + row * m.tokens);
  for (size_t i = 0; i < mass.size(); ++i) {
    T& value = y[source.ids[i]];
    from_vocabulary[i] = value;
    if (source.ids[i] >= m.vocabulary)
      value = copied + std::log(std::max(mass[i], T(least_mass)));
    else if (!(mass[i] <= 0))  // a NaN stays visible
      value = log_sum(value, copied + std::log(mass[i]));
  }
}

struct MixtureGradient {
  Tensor logits, gate, weights;
};

// With r[v] the share of y[v] that the vocabulary has, S = Σ dy r and C = Σ dy (1 − r):
//   dz = dy r − softmax(z) S     d gate = S (1 − p) − C p     d weights[j] = dy (1 − p) / e^y  at the id of j
// `dz` holds S e^(y − log p) already, which is softmax(z) S for all that is not copied.
template <class T>
void add_row(const Mixture& m, int64_t row, const T* y, const T* dy, const T* from_vocabulary, T sum,
             MixtureGradient& g) {
  const SourceIds& source = m.source(row);
  const T gate = m.gate.data<T>()[row], generated = log_sigmoid(gate), copied = log_sigmoid(-gate);
  T* dz = g.logits.data<T>() + row * m.vocabulary;
  for (int64_t v = 0; v < m.vocabulary; ++v) dz[v] = dy[v] - dz[v];
  const std::vector<T> mass = masses(source, m.weights.data<T>() + row * m.tokens);
  std::vector<T> d_mass(mass.size());
  T copies = 0;
  for (size_t i = 0; i < mass.size(); ++i) {
    const int64_t v = source.ids[i];
    const bool known = v < m.vocabulary;
    const T share = known ? std::exp(from_vocabulary[i] - y[v]) : T(0);
    copies += dy[v] * (1 - share);
    if (known) dz[v] = dy[v] * share - std::exp(from_vocabulary[i] - generated) * sum;
    if (known || mass[i] >= T(least_mass))
      d_mass[i] = dy[v] * std::exp(std::min(copied - y[v], T(-std::log(least_mass))));
  }
  g.gate.data<T>()[row] = sum * std::exp(copied) - copies * std::exp(generated);
  T* dw = g.weights.data<T>() + row * m.tokens;
  for (size_t j = 0; j < source.number.size(); ++j)
    dw[j] = source.number[j] < 0 ? T(0) : d_mass[static_cast<size_t>(source.number[j])];
}

float sum_of(const float* x, int64_t count) {
  float sum;
  kernels::row_sums({.rows = 1, .columns = count, .stride = count}, x, &sum);
  return sum;
}

double sum_of(const double* x, int64_t count) { return std::accumulate(x, x + count, 0.0); }

// S of a row.
template <class T>
T generated_sum(const Mixture& m, int64_t row, const T* y, const T* dy, const T* from_vocabulary) {
  const SourceIds& source = m.source(row);
  T sum = sum_of(dy, m.vocabulary);
  for (size_t i = 0; i < source.ids.size(); ++i)
    if (const int64_t v = source.ids[i]; v < m.vocabulary) sum += dy[v] * (std::exp(from_vocabulary[i] - y[v]) - 1);
  return sum;
}

// S e^(y − log p), [vocabulary], of one row.
void spread(const Mixture& m, const float* y, float generated, float sum, float* to) {
  kernels::softmax_difference({.rows = 1, .width = m.vocabulary}, y, &generated, &sum, 0, to);
}

void spread(const Mixture& m, const double* y, double generated, double sum, double* to) {
  for (int64_t v = 0; v < m.vocabulary; ++v) to[v] = sum * std::exp(y[v] - generated);
}

Gradients gradients_of(const Mixture& m, const Tensor& y, const Tensor& from_vocabulary, const Tensor& gradient) {
  const Tensor dy = gradient.contiguous();
  MixtureGradient g = {Tensor(m.shape(), y.dtype()), Tensor(m.gate.shape(), y.dtype()),
                       Tensor(m.weights.shape(), y.dtype())};
  with_number("mix_copies", y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    parallel_for(m.rows, [&](int64_t row) {
      const T *values = y.data<T>() + row * m.width, *d = dy.data<T>() + row * m.width;
      const T* kept = from_vocabulary.data<T>() + row * m.tokens;
      const T sum = generated_sum(m, row, values, d, kept);
      spread(m, values, log_sigmoid(m.gate.data<T>()[row]), sum, g.logits.data<T>() + row * m.vocabulary);
      add_row(m, row, values, d, kept, sum, g);
    });
  });
  return {g.logits, g.gate, g.weights};
}

}  // namespace

Tensor mix_copies(const Tensor& logits, const Tensor& gate, const Tensor& weights, const Tensor& source_ids) {
  Mixture m = checked(logits, gate, weights, source_ids);
  Tensor y({logits.size(0), logits.size(1), m.width}, logits.dtype());
  Tensor from_vocabulary(weights.shape(), logits.dtype());
  with_number("mix_copies", logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> sums(static_cast<size_t>(m.rows));
    sums_of(m, sums.data());
    parallel_for(m.rows, [&](int64_t row) {
      mix_row(m, row, sums[static_cast<size_t>(row)], y.data<T>() + row * m.width,
              from_vocabulary.data<T>() + row * m.tokens);
    });
  });
  if (!needs_gradient(logits, gate, weights)) return y;
  m.logits = {};
  return with_gradient(
      "mix_copies", y, {logits, gate, weights},
      [m = std::move(m), y, from_vocabulary](const Tensor& dy) { return gradients_of(m, y, from_vocabulary, dy); });
}

}  // namespace fovea
