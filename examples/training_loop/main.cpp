// A model of one's own and the loop that trains it: which is the largest digit of eight?
#include <fmt/core.h>
#include <fovea/attention/multi_head.h>
#include <fovea/nn/embedding.h>
#include <fovea/tensor/arithmetic.h>
#include <fovea/tensor/loss.h>
#include <fovea/tensor/reduce.h>
#include <fovea/train/optimiser.h>

#include <algorithm>

using namespace fovea;

struct Largest {
  Embedding digits{{.entries = 10, .width = 32}};
  MultiHeadAttention attention{{.width = 32, .heads = 2}};
  Linear output{{.inputs = 32, .outputs = 10}};

  Tensor operator()(const Tensor& ids, const Context& c) const {  // i64 [batch, 8] → [batch, 10]
    const Tensor x = digits(ids);
    return output(mean(x + attention(x, {}, c.at("attention")), {1}));
  }
  // The one list: what is initialised, trained, counted, saved and loaded.
  void weights(Weights& w) { w("digits", digits), w("attention", attention), w("output", output); }
};

struct Drawn {
  Tensor ids, largest;
};

Drawn draw(const Random& random) {
  constexpr int64_t rows = 64, length = 8;
  std::vector<int64_t> ids, largest;
  for (int64_t i = 0; i < rows * length; ++i)
    ids.push_back(static_cast<int64_t>(random.below(10, static_cast<uint64_t>(i))));
  for (auto row = ids.begin(); row != ids.end(); row += length) largest.push_back(*std::max_element(row, row + length));
  return {tensor({rows, length}, ids), tensor({rows}, largest)};
}

double accuracy(const Largest& model, const Drawn& batch) {
  const Tensor logits = model(batch.ids, {});
  int64_t right = 0;
  for (int64_t i = 0; i < logits.size(0); ++i) {
    const std::vector<float> row = logits.select(0, i).values<float>();
    right += std::max_element(row.begin(), row.end()) - row.begin() == batch.largest.data<int64_t>()[i];
  }
  return static_cast<double>(right) / static_cast<double>(logits.size(0));
}

int main() {
  const Random random(1);
  Largest model;
  initialise(model, random.fork("weights"));
  Optimiser optimiser({.learning_rate = 1e-2}, list_weights(model));

  for (uint64_t step = 0; step < 300; ++step) {
    const Drawn batch = draw(random.fork("training").fork(step));
    const Tensor loss = cross_entropy(model(batch.ids, {.training = true, .random = random.fork(step)}), batch.largest);
    loss.backward();
    optimiser.step({});
    if (step % 100 == 0) fmt::print("step {:3}  loss {:.3f}\n", step, loss.item());
  }
  fmt::print("accuracy {:.3f}\n", accuracy(model, draw(random.fork("test"))));
}
