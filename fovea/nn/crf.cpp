#include "fovea/nn/crf.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "fovea/base/threads.h"
#include "fovea/tensor/gradient.h"

namespace fovea {
namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

double larger(double a, double b) { return b > a || b != b ? b : a; }  // a NaN wins

double largest(const double* x, int64_t count) {
  double m = nothing;
  for (int64_t i = 0; i < count; ++i) m = larger(m, x[i]);
  return m;
}

// log Σ exp of x(0), x(1), …
template <class F>
double log_sum_exp(int64_t count, F&& x) {
  double m = nothing, sum = 0;
  for (int64_t i = 0; i < count; ++i) m = larger(m, x(i));
  if (m == nothing) return nothing;
  for (int64_t i = 0; i < count; ++i) sum += std::exp(x(i) - m);
  return m + std::log(sum);
}

// y[j] = log Σᵢ exp(x[i] + w[i, j]). With exp(w − highest) at hand a row costs `size` exponentials instead of size²; a sum
// that is too small for that is computed term by term, so the result is exact for any weights.
class LogProduct final {
 public:
  LogProduct(std::vector<double> w, int64_t size) : size_(size), w_(std::move(w)), factors_(w_.size()) {
    highest_ = largest(w_.data(), size * size);
    if (highest_ == nothing) highest_ = 0;
    for (size_t i = 0; i < w_.size(); ++i) factors_[i] = std::exp(w_[i] - highest_);
  }

  void operator()(const double* x, double* y) const {
    const double m = largest(x, size_);
    if (m == nothing) return void(std::fill_n(y, size_, nothing));
    std::fill_n(y, size_, 0.0);
    for (int64_t i = 0; i < size_; ++i) {
      const double mass = std::exp(x[i] - m), *row = factors_.data() + i * size_;
      for (int64_t j = 0; j < size_; ++j) y[j] += mass * row[j];
    }
    for (int64_t j = 0; j < size_; ++j) y[j] = y[j] > tiny ? m + highest_ + std::log(y[j]) : term_by_term(x, j);
  }

  // sums[i, j] += exp(x[i] + w[i, j] + y[j] − total), which are probabilities of pairs.
  void add_pairs(const double* x, const double* y, double total, double* sums) const {
    const double m = largest(x, size_), shift = m + highest_ - total;
    std::vector<double> right(static_cast<size_t>(size_));
    double most = nothing;
    for (size_t j = 0; j < right.size(); ++j) right[j] = y[j] + shift, most = std::max(most, right[j]);
    const bool exact = !(most < 600);  // exp would overflow
    for (double& r : right) r = exact ? r : std::exp(r);
    for (int64_t i = 0; i < size_; ++i) {
      const double *row = factors_.data() + i * size_, *logs = w_.data() + i * size_, mass = std::exp(x[i] - m);
      double* to = sums + i * size_;
      for (int64_t j = 0; j < size_; ++j)
        to[j] += exact ? std::exp(x[i] + logs[j] + y[j] - total) : mass * row[j] * right[static_cast<size_t>(j)];
    }
  }

 private:
  static constexpr double tiny = 1e-290;  // what underflowed is then less than the rounding

  double term_by_term(const double* x, int64_t j) const {
    const double* column = w_.data() + j;
    return log_sum_exp(size_, [&](int64_t i) { return x[i] + column[i * size_]; });
  }

  int64_t size_;
  double highest_;
  std::vector<double> w_, factors_;
};

std::vector<double> transposed(const std::vector<double>& w, int64_t size) {
  std::vector<double> t(w.size());
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) t[static_cast<size_t>(j * size + i)] = w[static_cast<size_t>(i * size + j)];
  return t;
}

// The weights and a batch of sentences, in double precision.
struct Chains {
  int64_t batch, words, labels;
  std::vector<double> emissions, start, transition, stop;
  std::vector<int64_t> lengths;
  LogProduct forward, backward;  // along the sentence and against it

  const double* emission(int64_t b, int64_t t) const { return emissions.data() + (b * words + t) * labels; }
  int64_t length(int64_t b) const { return lengths[static_cast<size_t>(b)]; }
  double start_at(int64_t label) const { return start[static_cast<size_t>(label)]; }
  double stop_at(int64_t label) const { return stop[static_cast<size_t>(label)]; }
  double move(int64_t from, int64_t to) const { return transition[static_cast<size_t>(from * labels + to)]; }
};

std::vector<int64_t> checked_lengths(const Tensor& lengths, int64_t batch, int64_t words) {
  if (!lengths) return std::vector<int64_t>(static_cast<size_t>(batch), words);
  require(lengths.dtype() == DType::i64 && lengths.shape() == Shape{batch},
          "Crf: found lengths {} {}, expected I64 [{}]", name(lengths.dtype()), lengths.shape(), batch);
  std::vector<int64_t> n = lengths.values<int64_t>();
  for (int64_t length : n)
    require(0 <= length && length <= words, "Crf: found a length of {}, expected 0 to {}", length, words);
  return n;
}

std::shared_ptr<const Chains> chains(const Tensor& emissions, const Tensor& lengths,
                                     const std::vector<Tensor>& weights) {
  const int64_t labels = weights[0].size(0);
  require(emissions.rank() == 3 && emissions.size(2) == labels, "Crf: found emissions {}, expected [batch, words, {}]",
          emissions.shape(), labels);
  const std::vector<double> transition = weights[1].values<double>();
  return std::make_shared<const Chains>(
      Chains{.batch = emissions.size(0),
             .words = emissions.size(1),
             .labels = labels,
             .emissions = emissions.values<double>(),
             .start = weights[0].values<double>(),
             .transition = transition,
             .stop = weights[2].values<double>(),
             .lengths = checked_lengths(lengths, emissions.size(0), emissions.size(1)),
             .forward = LogProduct(transition, labels),
             .backward = LogProduct(transposed(transition, labels), labels)});
}

// α[t, j] = log Σ exp s of all beginnings that end in label j at word t. Returns log Σ exp s(y).
double walk_forward(const Chains& c, int64_t b, double* alpha) {
  const int64_t n = c.length(b), labels = c.labels;
  for (int64_t t = 0; t < n; ++t) {
    double* row = alpha + t * labels;
    if (t == 0)
      std::copy(c.start.begin(), c.start.end(), row);
    else
      c.forward(row - labels, row);
    for (int64_t j = 0; j < labels; ++j) row[j] += c.emission(b, t)[j];
  }
  if (n == 0) return 0;
  const double* last = alpha + (n - 1) * labels;
  return log_sum_exp(labels, [&](int64_t j) { return last[j] + c.stop_at(j); });
}

// β[t, i] = log Σ exp s of all ends after label i at word t.
std::vector<double> walk_backward(const Chains& c, int64_t b) {
  const int64_t n = c.length(b), labels = c.labels;
  std::vector<double> beta(static_cast<size_t>(n * labels)), right(static_cast<size_t>(labels));
  for (int64_t t = n - 1; t >= 0; --t) {
    double* row = beta.data() + t * labels;
    if (t == n - 1) {
      std::copy(c.stop.begin(), c.stop.end(), row);
      continue;
    }
    for (int64_t j = 0; j < labels; ++j) right[static_cast<size_t>(j)] = row[labels + j] + c.emission(b, t + 1)[j];
    c.backward(right.data(), row);
  }
  return beta;
}

double score_of(const Chains& c, int64_t b, const int64_t* y) {
  const int64_t n = c.length(b);
  if (n == 0) return 0;
  double s = c.start_at(y[0]) + c.stop_at(y[n - 1]);
  for (int64_t t = 0; t < n; ++t) s += c.emission(b, t)[y[t]];
  for (int64_t t = 1; t < n; ++t) s += c.move(y[t - 1], y[t]);
  return s;
}

// p(label of a word) = exp(α + β − log Σ exp s)
void write_probabilities(const Chains& c, int64_t b, const double* alpha, const double* beta, double total, double* p) {
  for (int64_t i = 0; i < c.length(b) * c.labels; ++i) p[i] = std::exp(alpha[i] + beta[i] - total);
}

// What is left of the forward pass for the gradient.
struct Walked {
  std::vector<double> alpha, totals;  // [batch, words, labels], [batch]
};

Walked walk_forward(const Chains& c) {
  Walked w = {std::vector<double>(c.emissions.size()), std::vector<double>(c.lengths.size())};
  parallel_for(c.batch, [&](int64_t b) {
    w.totals[static_cast<size_t>(b)] = walk_forward(c, b, w.alpha.data() + b * c.words * c.labels);
  });
  return w;
}

std::vector<int64_t> checked_labels(const Tensor& labels, const Chains& c) {
  require(labels && labels.dtype() == DType::i64 && labels.shape() == Shape({c.batch, c.words}),
          "Crf: found labels {}, expected I64 [{}, {}]", labels ? labels.shape().text() : "missing", c.batch, c.words);
  std::vector<int64_t> y = labels.values<int64_t>();
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t t = 0; t < c.length(b); ++t) {
      const int64_t label = y[static_cast<size_t>(b * c.words + t)];
      require(0 <= label && label < c.labels, "Crf: found label {} at word {} of sentence {}, expected 0 to {}", label,
              t, b, c.labels - 1);
    }
  }
  return y;
}

// The gradients of −log p: expected counts less those of the labels.
struct Counts {
  std::vector<double> start, transition, stop;
  explicit Counts(int64_t labels)
      : start(static_cast<size_t>(labels)), transition(static_cast<size_t>(labels * labels)), stop(start) {}
};

void add(const std::vector<double>& x, std::vector<double>& sum) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += x[i];
}

void add_sentence(const Chains& c, int64_t b, const Walked& w, const int64_t* y, double* emissions, Counts& counts) {
  const int64_t n = c.length(b), labels = c.labels;
  if (n == 0) return;
  const double *alpha = w.alpha.data() + b * c.words * labels, total = w.totals[static_cast<size_t>(b)];
  const std::vector<double> beta = walk_backward(c, b);
  std::vector<double> right(static_cast<size_t>(labels));
  write_probabilities(c, b, alpha, beta.data(), total, emissions);
  for (int64_t t = 0; t < n; ++t) emissions[t * labels + y[t]] -= 1;
  for (int64_t j = 0; j < labels; ++j) {
    counts.start[static_cast<size_t>(j)] += emissions[j];
    counts.stop[static_cast<size_t>(j)] += emissions[(n - 1) * labels + j];
  }
  for (int64_t t = 1; t < n; ++t) {
    for (int64_t j = 0; j < labels; ++j)
      right[static_cast<size_t>(j)] = beta[static_cast<size_t>(t * labels + j)] + c.emission(b, t)[j];
    c.forward.add_pairs(alpha + (t - 1) * labels, right.data(), total, counts.transition.data());
    counts.transition[static_cast<size_t>(y[t - 1] * labels + y[t])] -= 1;
  }
}

// Sentences are counted in groups of a fixed size and the groups added in order: the same bits for any thread count.
Gradients gradients(const Chains& c, const Walked& w, const std::vector<int64_t>& y, double scale) {
  constexpr int64_t group = 4;
  const int64_t groups = (c.batch + group - 1) / group, sentence = c.words * c.labels;
  std::vector<double> emissions(c.emissions.size());
  std::vector<Counts> parts(static_cast<size_t>(groups), Counts(c.labels));
  parallel_for(groups, [&](int64_t g) {
    for (int64_t b = g * group; b < std::min(c.batch, (g + 1) * group); ++b)
      add_sentence(c, b, w, y.data() + b * c.words, emissions.data() + b * sentence, parts[static_cast<size_t>(g)]);
  });
  Counts sum(c.labels);
  for (const Counts& part : parts)
    add(part.start, sum.start), add(part.transition, sum.transition), add(part.stop, sum.stop);
  for (std::vector<double>* values : {&emissions, &sum.start, &sum.transition, &sum.stop})
    for (double& v : *values) v *= scale;
  return {tensor({c.batch, c.words, c.labels}, emissions), tensor({c.labels}, sum.start),
          tensor({c.labels, c.labels}, sum.transition), tensor({c.labels}, sum.stop)};
}

// Viterbi (1967): the best way to each label at each word, then back along it.
void walk_best(const Chains& c, int64_t b, int64_t* y) {
  const int64_t n = c.length(b), labels = c.labels;
  if (n == 0) return;
  std::vector<double> scores = c.start, next(scores);
  std::vector<int64_t> from(static_cast<size_t>(n * labels));
  for (int64_t t = 0; t < n; ++t) {
    int64_t* came = from.data() + t * labels;
    if (t > 0) std::fill(next.begin(), next.end(), nothing);
    for (int64_t i = 0; t > 0 && i < labels; ++i) {
      for (int64_t j = 0; j < labels; ++j) {
        const double s = scores.data()[i] + c.move(i, j);
        if (s > next.data()[j]) next.data()[j] = s, came[j] = i;
      }
    }
    for (int64_t j = 0; j < labels; ++j) scores.data()[j] = next.data()[j] + c.emission(b, t)[j];
  }
  add(c.stop, scores);
  y[n - 1] = std::max_element(scores.begin(), scores.end()) - scores.begin();
  for (int64_t t = n - 1; t > 0; --t) y[t - 1] = from[static_cast<size_t>(t * labels + y[t])];
}

// Of each label of each word.
std::vector<double> probabilities_of(const Chains& c, const Walked& w) {
  std::vector<double> p(c.emissions.size());
  parallel_for(c.batch, [&](int64_t b) {
    const int64_t begin = b * c.words * c.labels;
    write_probabilities(c, b, w.alpha.data() + begin, walk_backward(c, b).data(), w.totals[static_cast<size_t>(b)],
                        p.data() + begin);
  });
  return p;
}

}  // namespace

Crf::Crf(const Config& c) {
  require(c.labels > 0, "Crf: found {} labels, expected at least 1", c.labels);
  start_ = Weight({c.labels}), transition_ = Weight({c.labels, c.labels}), stop_ = Weight({c.labels});
}

void Crf::weights(Weights& w) {
  w("start", start_, {Init::zeros});
  w("transition", transition_, {Init::zeros});
  w("stop", stop_, {Init::zeros});
}

Tensor Crf::loss(const Tensor& emissions, const Tensor& labels, const Tensor& lengths) const {
  const auto c = chains(emissions, lengths, {*start_, *transition_, *stop_});
  std::vector<int64_t> y = checked_labels(labels, *c);
  Walked w = walk_forward(*c);
  double sum = 0;
  for (int64_t b = 0; b < c->batch; ++b)
    sum += w.totals[static_cast<size_t>(b)] - score_of(*c, b, y.data() + b * c->words);
  const DType type = emissions.dtype(), weight_type = start_.dtype();
  const Tensor loss = full({}, sum, type);
  if (!needs_gradient(emissions, *start_, *transition_, *stop_)) return loss;
  return with_gradient("crf", loss, {emissions, *start_, *transition_, *stop_},
                       [c, y = std::move(y), w = std::move(w), type, weight_type](const Tensor& dy) {
                         Gradients g = gradients(*c, w, y, dy.item());
                         for (size_t i = 0; i < g.size(); ++i) g[i] = g[i].to(i == 0 ? type : weight_type);
                         return g;
                       });
}

Tensor Crf::best(const Tensor& emissions, const Tensor& lengths) const {
  const auto c = chains(emissions, lengths, {*start_, *transition_, *stop_});
  Tensor labels = zeros({c->batch, c->words}, DType::i64);
  int64_t* y = labels.data<int64_t>();
  parallel_for(c->batch, [&](int64_t b) { walk_best(*c, b, y + b * c->words); });
  return labels;
}

Tensor Crf::probabilities(const Tensor& emissions, const Tensor& lengths) const {
  const auto c = chains(emissions, lengths, {*start_, *transition_, *stop_});
  return tensor(emissions.shape(), probabilities_of(*c, walk_forward(*c))).to(emissions.dtype());
}

// p = Z(with the label alone) / Z and 1 − p = Z(without it) / Z, each a chain in which the others cannot be; the gradient of a
// log Z is its chain's probabilities.
Tensor Crf::log_odds(const Tensor& emissions, const Tensor& lengths, std::span<const int64_t> words,
                     int64_t label) const {
  const auto all = chains(emissions, lengths, {*start_, *transition_, *stop_});
  require(static_cast<int64_t>(words.size()) == all->batch && 0 <= label && label < all->labels,
          "Crf: found {} words and label {}, expected {} and less than {}", words.size(), label, all->batch,
          all->labels);
  auto chained = [&](bool alone) {
    std::vector<double> e = all->emissions;
    for (int64_t b = 0; b < all->batch; ++b) {
      const int64_t word = words[static_cast<size_t>(b)];
      require(0 <= word && word < all->length(b), "Crf: found word {}, expected less than {}", word, all->length(b));
      for (int64_t j = 0; j < all->labels; ++j)
        if ((j == label) != alone) e[static_cast<size_t>((b * all->words + word) * all->labels + j)] = nothing;
    }
    return chains(tensor(emissions.shape(), e), lengths, {*start_, *transition_, *stop_});
  };
  const auto with = chained(true), without = chained(false);
  const Walked up = walk_forward(*with), down = walk_forward(*without);
  std::vector<double> odds;
  for (size_t b = 0; b < up.totals.size(); ++b) odds.push_back(up.totals[b] - down.totals[b]);
  const DType type = emissions.dtype();
  return with_gradient("crf odds", tensor({all->batch}, odds).to(type), {emissions},
                       [with, without, up, down, shape = emissions.shape(), type](const Tensor& dy) {
                         std::vector<double> g = probabilities_of(*with, up);
                         const std::vector<double> less = probabilities_of(*without, down), d = dy.values<double>();
                         const auto each = static_cast<size_t>(with->words * with->labels);
                         for (size_t i = 0; i < g.size(); ++i) g[i] = (g[i] - less[i]) * d[i / each];
                         return Gradients{tensor(shape, g).to(type)};
                       });
}

}  // namespace fovea
