// A translator that chooses one source token at each step: REINFORCE against the expected loss over all choices.
#include "fovea/models/families/seq2seq.h"
#include "fovea/models/labels_golden.h"
#include "fovea/tensor/arithmetic.h"

namespace fovea {
namespace {

// Two source tokens and two steps: four ways to choose. Which one a seed takes follows from its random numbers and the traced
// weights; its probability is their product.
class FourWays {
 public:
  explicit FourWays(const Seq2Seq::Config& c) : model(c) {
    randomise(model, 5);
    for_each_tensor(model, [](const std::string&, Tensor& w, const Init&) { w.copy_from(w * 2.0); });
    convert(model, DType::f64);
    for (uint64_t seed = 0; ways_.size() < 4 && seed < 200; ++seed) ways_.emplace(run(seed).choices, seed);
  }

  // Σ p(choices) · loss(choices)
  double expected_loss() const {
    double sum = 0, total = 0;
    for (const auto& [choices, seed] : ways_) {
      const Run r = run(seed);
      EXPECT_EQ(r.choices, choices);
      sum += r.probability * r.loss, total += r.probability;
    }
    EXPECT_NEAR(total, 1, 1e-12);
    return sum;
  }
  size_t ways() const { return ways_.size(); }

  Seq2Seq model;
  static Source source(int64_t copies) { return {repeated({3, 4}, copies), {}}; }
  static Tensor inputs(int64_t copies) { return repeated({1, 5}, copies); }
  static Tensor wanted(int64_t copies) { return repeated({5, 2}, copies); }

 private:
  struct Run {
    std::vector<int> choices;
    double probability = 1, loss = 0;
  };

  static Tensor repeated(const std::vector<int64_t>& ids, int64_t copies) {
    return tensor({1, 2}, ids).expand({copies, 2}).contiguous();
  }
  Run run(uint64_t seed) const {
    Trace trace;
    const Context c = {.training = true, .random = Random(seed), .trace = &trace};
    Run r;
    r.loss = model.loss(source(1), inputs(1), wanted(1), {.ignored = 0, .reduction = Reduction::sum}, c).item();
    const auto& steps = trace.results().at("decoder.attention");
    EXPECT_EQ(steps.size(), 2u);
    for (uint64_t t = 0; t < 2; ++t) {
      const std::vector<double> w = steps[t].weights.values<double>();
      const Random here = c.random.fork("decoder").fork(t).fork("attention").fork("selection");
      const int chosen = static_cast<double>(here.uniform(0)) < w[0] ? 0 : 1;
      r.choices.push_back(chosen);
      r.probability *= w[static_cast<size_t>(chosen)];
    }
    return r;
  }

  std::map<std::vector<int>, uint64_t> ways_;
};

TEST(Reinforce, TranslatorsFollowTheGradientOfTheExpectedLoss) {
  for (const std::string order : {"bahdanau", "luong"}) {
    for (const bool coverage : {false, true}) {
      SCOPED_TRACE(order + (coverage ? " with coverage" : ""));
      Seq2Seq::Config config = {.vocabulary = 6, .cell = "gru", .embedding = 3, .encoder_width = 2, .decoder_width = 4};
      config.attention = "dot", config.order = order, config.entropy_bonus = 0;
      config.selection = "hard", config.hard_gradient = "reinforce";
      config.coverage = coverage, config.coverage_loss = coverage ? 0.5 : 0;
      FourWays four(config);
      ASSERT_EQ(four.ways(), 4u);

      Seq2Seq sampled(config);
      load(sampled, save(four.model));
      constexpr int rounds = 40;
      constexpr int64_t copies = 256;
      std::map<std::string, std::vector<std::vector<double>>> gradients;
      for (uint64_t round = 0; round < rounds; ++round) {
        require_gradients(sampled);
        sampled
            .loss(FourWays::source(copies), FourWays::inputs(copies), FourWays::wanted(copies),
                  {.ignored = 0, .reduction = Reduction::sum}, {.training = true, .random = Random(1).fork(round)})
            .backward();
        for_each_tensor(sampled, [&](const std::string& path, Tensor& w, const Init&) {
          gradients[path].push_back((w.gradient() / static_cast<double>(copies)).values<double>());
        });
      }
      double clearest = 0;
      for_each_tensor(four.model, [&](const std::string& path, Tensor& w, const Init&) {
        const int64_t first = path.find("embedding") == std::string::npos ? 0 : 3 * w.size(1);  // not that of padding
        for (int64_t i = first; i < std::min(w.elements(), first + 4); ++i) {
          double& number = w.data<double>()[i];
          const double before = number;
          number = before + 1e-5;
          const double above = four.expected_loss();
          number = before - 1e-5;
          const double exact = (above - four.expected_loss()) / 2e-5;
          number = before;
          double mean = 0, variance = 0;
          for (const auto& g : gradients[path]) mean += g[static_cast<size_t>(i)] / rounds;
          for (const auto& g : gradients[path])
            variance += std::pow(g[static_cast<size_t>(i)] - mean, 2) / (rounds - 1);
          const double deviation = std::sqrt(variance / rounds);
          EXPECT_NEAR(mean, exact, 5 * deviation + 1e-5) << path << " at " << i;
          if (path == "encoder.weight_ih_l0") clearest = std::max(clearest, std::abs(exact) / (deviation + 1e-9));
        }
      });
      EXPECT_GT(clearest, 10) << "the gradient is lost in the noise";
    }
  }
}

TEST(Reinforce, ALossOutsideOfTrainingIsTheCrossEntropy) {
  Seq2Seq::Config c = {.vocabulary = 11, .embedding = 9, .encoder_width = 10, .decoder_width = 20};
  c.selection = "hard", c.hard_gradient = "reinforce", c.coverage = true, c.coverage_loss = 1;
  Seq2Seq model(c);
  randomise(model);
  const Source source = {random_ids({3, 5}, 3, 8, 1), tensor({3}, std::vector<int64_t>{5, 2, 3})};
  const Tensor inputs = random_ids({3, 4}, 3, 8, 2), wanted = random_ids({3, 4}, 2, 9, 3);
  for (const Reduction reduction : {Reduction::sum, Reduction::mean}) {
    const CrossEntropyOptions options = {.smoothing = 0.1f, .ignored = 2, .reduction = reduction};
    const double plain = cross_entropy(model.logits(source, inputs, {}), wanted, options).item();
    EXPECT_EQ(model.loss(source, inputs, wanted, options, {}).item(), plain);
  }
}

// In training the value is that of the choices, whatever is added for the gradient.
TEST(Reinforce, TheValueIsThatOfTheChoices) {
  Seq2Seq::Config c = {.vocabulary = 11, .embedding = 9, .encoder_width = 10, .decoder_width = 20, .dropout = 0.2};
  c.selection = "hard", c.hard_gradient = "reinforce";
  Seq2Seq model(c);
  randomise(model);
  require_gradients(model);
  const Source source = {random_ids({3, 5}, 3, 8, 1), tensor({3}, std::vector<int64_t>{5, 2, 3})};
  const Tensor inputs = random_ids({3, 4}, 3, 8, 2), wanted = random_ids({3, 4}, 2, 9, 3);
  const Context training = {.training = true, .random = Random(4)};
  const double plain = cross_entropy(model.logits(source, inputs, training), wanted, {.ignored = 2}).item();
  EXPECT_NEAR(model.loss(source, inputs, wanted, {.ignored = 2}, training).item(), plain, 1e-6);
}

}  // namespace
}  // namespace fovea
