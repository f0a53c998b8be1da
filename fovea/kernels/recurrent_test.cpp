#include "fovea/kernels/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/random.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/simd.h"

namespace fovea::kernels {
namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

// Every array that the outputs depend on, and where each output goes, in one precision.
template <class T>
struct Problem {
  RecurrentShape shape;
  std::vector<T> x = {}, input = {}, hidden = {}, input_bias = {}, hidden_bias = {}, first_hidden = {}, first_cell = {};
  std::vector<int64_t> lengths = {};
  bool reverse = false;

  int64_t length(int64_t b) const { return lengths.empty() ? shape.steps : lengths[size_t(b)]; }
  std::vector<std::vector<T>*> arrays() {
    return {&x, &input, &hidden, &input_bias, &hidden_bias, &first_hidden, &first_cell};
  }
};

template <class T>
struct Result {
  std::vector<T> y, last_hidden, last_cell;
};

Problem<float> make(const RecurrentShape& s, bool lengths, bool reverse) {
  Problem<float> p{.shape = s, .reverse = reverse};
  const int64_t rows = s.gates() * s.width;
  const int64_t sizes[] = {
      s.batch * s.steps * s.inputs, rows * s.inputs, rows * s.width, rows, rows, s.batch * s.width, s.batch * s.width};
  uint64_t seed = 1;
  for (Floats* array : p.arrays()) {
    Random random(seed);
    array->resize(size_t(sizes[seed - 1]));
    for (size_t i = 0; i < array->size(); ++i) (*array)[i] = 0.6f * random.normal(i);
    ++seed;
  }
  for (int64_t b = 0; lengths && b < s.batch; ++b) p.lengths.push_back((2 * b + s.steps) % (s.steps + 1));
  return p;
}

Problem<double> in_double(const Problem<float>& p) {
  Problem<double> q{.shape = p.shape, .lengths = p.lengths, .reverse = p.reverse};
  Problem<float> copy = p;
  auto from = copy.arrays();
  auto to = q.arrays();
  for (size_t i = 0; i < from.size(); ++i) to[i]->assign(from[i]->begin(), from[i]->end());
  return q;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The equations of the header, one number at a time.
Result<double> by_loops(const Problem<double>& p) {
  const auto [cell, batch, steps, inputs, width, precision] = p.shape;
  Result<double> r{Doubles(size_t(batch * steps * width)), p.first_hidden, p.first_cell};
  for (int64_t b = 0; b < batch; ++b) {
    double *h = &r.last_hidden[size_t(b * width)], *c = &r.last_cell[size_t(b * width)];
    for (int64_t step = 0; step < p.length(b); ++step) {
      const int64_t t = p.reverse ? p.length(b) - 1 - step : step, rows = p.shape.gates() * width;
      Doubles wx(size_t(rows), 0), uh(size_t(rows), 0);
      for (int64_t g = 0; g < rows; ++g) {
        wx[size_t(g)] = p.input_bias[size_t(g)], uh[size_t(g)] = p.hidden_bias[size_t(g)];
        for (int64_t k = 0; k < inputs; ++k) {
          wx[size_t(g)] += p.input[size_t(g * inputs + k)] * p.x[size_t((b * steps + t) * inputs + k)];
        }
        for (int64_t k = 0; k < width; ++k) uh[size_t(g)] += p.hidden[size_t(g * width + k)] * h[k];
      }
      for (int64_t j = 0; j < width; ++j) {
        auto sum = [&](int64_t gate) { return wx[size_t(gate * width + j)] + uh[size_t(gate * width + j)]; };
        if (cell == RecurrentCell::lstm) {
          c[j] = sigmoid(sum(1)) * c[j] + sigmoid(sum(0)) * std::tanh(sum(2));
          h[j] = sigmoid(sum(3)) * std::tanh(c[j]);
        } else {
          const double z = sigmoid(sum(1));
          const double n = std::tanh(wx[size_t(2 * width + j)] + sigmoid(sum(0)) * uh[size_t(2 * width + j)]);
          h[j] = (1 - z) * n + z * h[j];
        }
        r.y[size_t((b * steps + t) * width + j)] = h[j];
      }
    }
  }
  return r;
}

Recurrent described(const Problem<float>& p) {
  const RecurrentShape& s = p.shape;
  return {.shape = s,
          .x = {p.x.data(), s.steps * s.inputs, s.inputs},
          .weights = {p.input.data(), p.hidden.data(), p.input_bias.data(), p.hidden_bias.data()},
          .first_hidden = p.first_hidden.data(),
          .first_cell = p.first_cell.data(),
          .lengths = p.lengths.empty() ? nullptr : p.lengths.data(),
          .reverse = p.reverse};
}

struct Pass {
  Result<float> result;
  Floats saved;
};

Pass forward(const Problem<float>& p) {
  const RecurrentShape& s = p.shape;
  Pass run{{Floats(size_t(s.batch * s.steps * s.width), 9.0f), p.first_hidden, p.first_cell},
           Floats(size_t(recurrent_saved_size(s)))};
  recurrent_forward(described(p), {.y = {run.result.y.data(), s.steps * s.width, s.width},
                                   .last_hidden = run.result.last_hidden.data(),
                                   .last_cell = run.result.last_cell.data(),
                                   .saved = run.saved.data()});
  return run;
}

// The gradients of Σ output · upstream with respect to each array, in the order of Problem::arrays.
std::vector<Floats> backward(const Problem<float>& p, const Pass& run, const Result<float>& up) {
  const RecurrentShape& s = p.shape;
  std::vector<Floats> d;
  Problem<float> copy = p;
  for (Floats* array : copy.arrays()) d.emplace_back(array->size(), 9.0f);
  recurrent_backward(described(p), run.saved.data(),
                     {.y = {up.y.data(), s.steps * s.width, s.width},
                      .last_hidden = up.last_hidden.data(),
                      .last_cell = s.cell == RecurrentCell::lstm ? up.last_cell.data() : nullptr},
                     {.x = {d[0].data(), s.steps * s.inputs, s.inputs},
                      .input = d[1].data(),
                      .hidden = d[2].data(),
                      .input_bias = d[3].data(),
                      .hidden_bias = d[4].data(),
                      .first_hidden = d[5].data(),
                      .first_cell = d[6].data()});
  return d;
}

Result<float> upstream(const RecurrentShape& s) {
  Result<float> up{Floats(size_t(s.batch * s.steps * s.width)), Floats(size_t(s.batch * s.width)),
                   Floats(size_t(s.batch * s.width))};
  for (size_t i = 0; i < up.y.size(); ++i) up.y[i] = Random(11).normal(i);
  for (size_t i = 0; i < up.last_hidden.size(); ++i) {
    up.last_hidden[i] = Random(12).normal(i), up.last_cell[i] = Random(13).normal(i);
  }
  return up;
}

double loss(const Problem<double>& p, const Result<float>& up) {
  const Result<double> r = by_loops(p);
  double sum = 0;
  for (size_t i = 0; i < r.y.size(); ++i) sum += r.y[i] * up.y[i];
  for (size_t i = 0; i < r.last_hidden.size(); ++i) sum += r.last_hidden[i] * up.last_hidden[i];
  if (p.shape.cell == RecurrentCell::gru) return sum;
  for (size_t i = 0; i < r.last_cell.size(); ++i) sum += r.last_cell[i] * up.last_cell[i];
  return sum;
}

class Cells : public testing::TestWithParam<std::tuple<Simd, RecurrentCell>> {
 protected:
  void SetUp() override { use_simd(std::get<0>(GetParam())); }
  void TearDown() override {
    use_simd(before_);
    set_threads(0);
  }
  RecurrentCell cell() const { return std::get<1>(GetParam()); }
  Simd before_ = simd();
};
INSTANTIATE_TEST_SUITE_P(, Cells,
                         testing::Combine(testing::ValuesIn(supported_simds()),
                                          testing::Values(RecurrentCell::lstm, RecurrentCell::gru)),
                         [](const auto& i) {
                           return std::string(name(std::get<0>(i.param))) +
                                  (std::get<1>(i.param) == RecurrentCell::lstm ? "_lstm" : "_gru");
                         });

void expect_near(const Floats& found, const Doubles& wanted, double tolerance, const std::string& what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], wanted[i], tolerance) << what << " at " << i;
}

TEST_P(Cells, ForwardEqualsLoopsInFloat64) {
  for (RecurrentShape s :
       {RecurrentShape{cell(), 1, 1, 1, 1}, {cell(), 3, 5, 3, 7}, {cell(), 2, 4, 17, 33}, {cell(), 9, 6, 5, 16}}) {
    for (bool lengths : {false, true}) {
      for (bool reverse : {false, true}) {
        const Problem<float> p = make(s, lengths, reverse);
        const Pass run = forward(p);
        const Result<double> wanted = by_loops(in_double(p));
        expect_near(run.result.y, wanted.y, 3e-6, "y");
        expect_near(run.result.last_hidden, wanted.last_hidden, 3e-6, "last hidden");
        if (cell() == RecurrentCell::lstm) expect_near(run.result.last_cell, wanted.last_cell, 5e-6, "last cell");
      }
    }
  }
}

TEST_P(Cells, BackwardEqualsFiniteDifferencesInFloat64) {
  const char* names[] = {"x", "input", "hidden", "input bias", "hidden bias", "first hidden", "first cell"};
  for (bool lengths : {false, true}) {
    for (bool reverse : {false, true}) {
      const Problem<float> p = make({cell(), 3, 5, 3, 7}, lengths, reverse);
      const Result<float> up = upstream(p.shape);
      const std::vector<Floats> found = backward(p, forward(p), up);
      Problem<double> q = in_double(p);
      for (size_t a = 0; a < (cell() == RecurrentCell::lstm ? 7 : 6); ++a) {
        Doubles& array = *q.arrays()[a];
        Doubles wanted(array.size());
        for (size_t i = 0; i < array.size(); ++i) {
          const double kept = array[i], step = 1e-5;
          array[i] = kept + step;
          const double above = loss(q, up);
          array[i] = kept - step;
          wanted[i] = (above - loss(q, up)) / (2 * step);
          array[i] = kept;
        }
        expect_near(found[a], wanted, 2e-5, names[a]);
      }
    }
  }
}

TEST_P(Cells, SameBitsForAnyThreadCountAndBatchSize) {
  const RecurrentShape s = {cell(), 21, 6, 33, 40};
  const Problem<float> p = make(s, true, false);
  const Result<float> up = upstream(s);
  set_threads(1);
  const Pass reference = forward(p);
  const std::vector<Floats> gradients = backward(p, reference, up);
  for (int threads : {2, 3, 8}) {
    set_threads(threads);
    const Pass run = forward(p);
    EXPECT_EQ(run.result.y, reference.result.y);
    EXPECT_EQ(backward(p, run, up), gradients);
  }
  for (int64_t b : {0, 7, 20}) {
    Problem<float> one = p;
    one.shape.batch = 1;
    auto only = [&](Floats& array, int64_t size) {
      array = Floats(array.begin() + b * size, array.begin() + (b + 1) * size);
    };
    only(one.x, s.steps * s.inputs), only(one.first_hidden, s.width), only(one.first_cell, s.width);
    one.lengths = {p.lengths[size_t(b)]};
    Floats y = reference.result.y;
    only(y, s.steps * s.width);
    EXPECT_EQ(forward(one).result.y, y) << "item " << b << " alone";
  }
}

TEST_P(Cells, PaddingIsNeitherReadNorGivenAGradient) {
  Problem<float> p = make({cell(), 5, 7, 4, 9}, true, false);
  const Result<float> up = upstream(p.shape);
  const Pass clean = forward(p);
  const std::vector<Floats> gradients = backward(p, clean, up);
  const RecurrentShape& s = p.shape;
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t i = p.length(b) * s.inputs; i < s.steps * s.inputs; ++i) {
      EXPECT_EQ(gradients[0][size_t(b * s.steps * s.inputs + i)], 0.0f);
      p.x[size_t(b * s.steps * s.inputs + i)] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  const Pass dirty = forward(p);
  EXPECT_EQ(dirty.result.y, clean.result.y);
  EXPECT_EQ(backward(p, dirty, up), gradients);
}

TEST_P(Cells, StridesOfTimeMajorSequencesAndNothingSaved) {
  const RecurrentShape s = {cell(), 4, 5, 6, 10};
  const Problem<float> p = make(s, false, true);
  const Pass wanted = forward(p);
  Floats x(p.x.size()), y(wanted.result.y.size()), turned(y.size());
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t t = 0; t < s.steps; ++t) {
      std::copy_n(&p.x[size_t((b * s.steps + t) * s.inputs)], s.inputs, &x[size_t((t * s.batch + b) * s.inputs)]);
    }
  }
  Recurrent r = described(p);
  r.x = {x.data(), s.inputs, s.batch * s.inputs};
  recurrent_forward(r, {.y = {y.data(), s.width, s.batch * s.width}});
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t t = 0; t < s.steps; ++t) {
      std::copy_n(&y[size_t((t * s.batch + b) * s.width)], s.width, &turned[size_t((b * s.steps + t) * s.width)]);
    }
  }
  EXPECT_EQ(turned, wanted.result.y);
}

TEST_P(Cells, EmptyBatchesAndBadLengths) {
  Problem<float> p = make({cell(), 0, 3, 2, 4}, false, false);
  EXPECT_TRUE(forward(p).result.y.empty());
  const std::vector<Floats> gradients = backward(p, forward(p), upstream(p.shape));
  EXPECT_EQ(gradients[1], Floats(gradients[1].size(), 0.0f));
  p = make({cell(), 2, 3, 2, 4}, true, false);
  p.lengths[1] = 4;
  EXPECT_THROW(forward(p), Error);
}

}  // namespace
}  // namespace fovea::kernels
