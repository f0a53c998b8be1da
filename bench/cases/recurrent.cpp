// LSTM and GRU over whole sequences, forward and backward with all gradients, as one training step of a layer needs
// them.
#include <vector>

#include "bench/bench.h"
#include "fovea/base/error.h"
#include "fovea/base/random.h"
#include "fovea/kernels/recurrent.h"

namespace fovea::benches {
namespace {

using kernels::RecurrentCell;

std::vector<float> random_floats(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.1f * (random.uniform(i) - 0.5f);
  return values;
}

void forward_backward(Bencher& b, std::string name, const kernels::RecurrentShape& s) {
  const int64_t rows = s.gates() * s.width, tokens = s.batch * s.steps;
  const std::vector<float> x = random_floats(tokens * s.inputs, 1), dy = random_floats(tokens * s.width, 2);
  const std::vector<float> w = random_floats(rows * s.inputs, 3), u = random_floats(rows * s.width, 4);
  const std::vector<float> input_bias = random_floats(rows, 5), hidden_bias = random_floats(rows, 6);
  std::vector<float> y(dy.size()), saved(static_cast<size_t>(recurrent_saved_size(s)));
  std::vector<float> dx(x.size()), dw(w.size()), du(u.size()), dbi(input_bias.size()), dbh(hidden_bias.size());
  const kernels::Recurrent r = {.shape = s,
                                .x = {x.data(), s.steps * s.inputs, s.inputs},
                                .weights = {w.data(), u.data(), input_bias.data(), hidden_bias.data()}};
  const double operations = 3 * 2.0 * static_cast<double>(tokens * rows * (s.inputs + s.width));
  b.flops(std::move(name), fmt::format("batch={} steps={} inputs={} width={}", s.batch, s.steps, s.inputs, s.width),
          operations, [&] {
            kernels::recurrent_forward(r, {.y = {y.data(), s.steps * s.width, s.width}, .saved = saved.data()});
            kernels::recurrent_backward(r, saved.data(), {.y = {dy.data(), s.steps * s.width, s.width}},
                                        {.x = {dx.data(), s.steps * s.inputs, s.inputs},
                                         .input = dw.data(),
                                         .hidden = du.data(),
                                         .input_bias = dbi.data(),
                                         .hidden_bias = dbh.data()});
          });
}

}  // namespace

extern const Bench recurrent = {
    .name = "recurrent", .help = "LSTM and GRU over sequences, forward and backward", .run = [](Bencher& b) {
      forward_backward(b, "lstm_forward_backward", {RecurrentCell::lstm, 64, 32, 256, 256});
      forward_backward(b, "gru_forward_backward", {RecurrentCell::gru, 64, 32, 256, 256});
    }};

}  // namespace fovea::benches
