// Models of every kind learn four pairs by heart, and generation then says them.
#include <algorithm>
#include <cmath>

#include "fovea/generate/search.h"
#include "fovea/models/variants.h"
#include "fovea/nn/golden.h"
#include "test_paths.h"

namespace fovea {
namespace {

// Adam (Kingma and Ba 2015) as its paper writes it.
class Adam final {
 public:
  template <Module M>
  void step(M& model, double rate) {
    ++steps_;
    const double left1 = 1 - std::pow(0.9, steps_), left2 = 1 - std::pow(0.999, steps_);
    for_each_tensor(model, [&](const std::string& path, Tensor& w, const Init&) {
      std::vector<double>&first = first_[path], &second = second_[path];
      first.resize(static_cast<size_t>(w.elements())), second.resize(first.size());
      const std::vector<double> gradient = w.gradient().values<double>();
      for (size_t i = 0; i < first.size(); ++i) {
        first[i] = 0.9 * first[i] + 0.1 * gradient[i];
        second[i] = 0.999 * second[i] + 0.001 * gradient[i] * gradient[i];
        w.data<float>()[i] -= static_cast<float>(rate * first[i] / left1 / (std::sqrt(second[i] / left2) + 1e-8));
      }
      w.clear_gradient();
    });
  }

 private:
  int steps_ = 0;
  std::map<std::string, std::vector<double>> first_, second_;
};

class LearnsByHeart : public testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(Search, LearnsByHeart,
                         testing::ValuesIn(test_sanitized ? first_of_each_family(writers()) : writers()),
                         [](const auto& info) { return info.param.name; });

TEST_P(LearnsByHeart, FourPairs) {
  const std::vector<std::vector<int64_t>> sources = {{3, 4, 5}, {6}, {5, 4, 3, 9, 8}, {3, 4, 6}};
  const std::vector<std::vector<int64_t>> targets = {{9, 9, 3, 7}, {4, 5}, {10}, {8, 3, 8, 3, 6}};
  const std::unique_ptr<Model> model = GetParam().make();
  const Generator& writer = as<Generator>(*model);
  const int64_t start = writer.special_ids().bos;
  Tensor source = zeros({4, 5}, DType::i64), lengths = zeros({4}, DType::i64);
  Tensor inputs = zeros({4, 6}, DType::i64), wanted = zeros({4, 6}, DType::i64);
  for (int64_t i = 0; i < 4; ++i) {
    const auto &s = sources[static_cast<size_t>(i)], &t = targets[static_cast<size_t>(i)];
    std::copy(s.begin(), s.end(), source.data<int64_t>() + i * 5);
    lengths.data<int64_t>()[i] = static_cast<int64_t>(s.size());
    inputs.data<int64_t>()[i * 6] = start;
    std::copy(t.begin(), t.end(), inputs.data<int64_t>() + i * 6 + 1);
    std::copy(t.begin(), t.end(), wanted.data<int64_t>() + i * 6);
    wanted.data<int64_t>()[i * 6 + static_cast<int64_t>(t.size())] = 2;
  }
  require_gradients(*model);
  constexpr int steps = 250;
  Adam adam;
  double last = 0;
  for (int step = 0; step < steps; ++step) {
    const Tensor logits = writer.logits({source, lengths}, inputs,
                                        {.training = true, .random = Random(1).fork(static_cast<uint64_t>(step))});
    const Tensor loss = cross_entropy(logits, wanted, {.ignored = 0});
    loss.backward();
    last = loss.item();
    adam.step(*model, 0.005 * std::min(1.0, 2 - 2.0 * step / steps));  // falls to 0 in the second half
  }
  EXPECT_LT(last, 0.1);
  std::vector<Request> requests;
  for (const auto& s : sources) requests.push_back({.source = s});
  for (const int64_t beam : {1, 4}) {
    const std::vector<Hypotheses> found = generate(writer, requests, {.beam_size = beam, .max_length = 20});
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(found[i][0].ids, targets[i]) << "beam " << beam << ", pair " << i;
  }
}

}  // namespace
}  // namespace fovea
