#include "fovea/train/trainer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "fovea/base/file.h"
#include "fovea/base/threads.h"
#include "fovea/nn/dropout.h"
#include "fovea/nn/linear.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/loss.h"
#include "fovea/tensor/reduce.h"
#include "fovea/train/log.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

// Which of three fixed directions a point is most along, learned by two layers with dropout between them.
class Directions final : public Trainee {
 public:
  Directions() {
    initialise(*this, Random(7));
    points_ = normal({examples, 7}, Random(1));
    classes_ = argmax(linear(points_, normal({3, 7}, Random(2)), {}), -1);
  }

  void weights(Weights& w) override {
    w("hidden", hidden_);
    w("output", output_);
  }

  StepLoss next(const Context& context) override {
    std::vector<int64_t> chosen(batch);
    for (int64_t& example : chosen) {
      const auto number = static_cast<uint64_t>(next_++);
      example = static_cast<int64_t>(Random(5).fork(number / examples).below(examples, number % examples));
    }
    const Tensor ids = tensor({batch}, chosen);
    const Tensor logits = run(rows(points_, ids), context);
    Tensor loss = cross_entropy(logits, rows(classes_, ids), {.reduction = Reduction::sum});
    if (next_ / batch == broken_batch) loss = loss * std::numeric_limits<double>::quiet_NaN();
    return {loss, batch, batch, static_cast<double>(next_) / examples};
  }

  std::vector<Score> validate() override {
    ++validations;
    if (!seconds.empty())
      return {{"scripted", scripted[validations - 1], Score::higher}, {"loss", seconds[validations - 1]}};
    if (!scripted.empty()) return {{"scripted", scripted[validations - 1], Score::higher}};
    const Tensor logits = run(points_, {});
    const std::vector<int64_t> found = argmax(logits, -1).values<int64_t>(), expected = classes_.values<int64_t>();
    double right = 0;
    for (size_t i = 0; i < found.size(); ++i) right += found[i] == expected[i] ? 1 : 0;
    return {{"loss", cross_entropy(logits, classes_).item(), Score::lower},
            {"accuracy", right / examples, Score::higher}};
  }

  std::string position() const override { return nlohmann::json({{"next", next_}}).dump(); }
  void seek(const std::string& position) override { next_ = nlohmann::json::parse(position)["next"]; }

  int64_t broken_batch = -1;
  std::vector<double> scripted, seconds;
  size_t validations = 0;

  static constexpr int64_t examples = 60, batch = 6;

 private:
  Tensor run(const Tensor& x, const Context& context) const {
    return output_(Dropout(0.2)(hidden_(x, Activation::tanh), context.at("hidden")));
  }

  Linear hidden_ = Linear({.inputs = 7, .outputs = 17}), output_ = Linear({.inputs = 17, .outputs = 3});
  Tensor points_, classes_;
  int64_t next_ = 0;
};

TrainerConfig config_of(int64_t steps) {
  TrainerConfig config = {.steps = steps, .log_every = 3, .validate_every = 10, .checkpoint_every = 2};
  config.optimiser.learning_rate = 0.02;
  config.schedule = {.kind = "cosine", .warmup = 3};
  return config;
}

class Trainer : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override {
    fs::remove_all(folder_);
    set_threads(threads_);
  }

  NamedTensors tensors_of(const std::string& run) const {
    return SafeTensors(folder_ / run / "last" / "training.safetensors").tensors();
  }

  // Weights, moments and averages, bit for bit, and the log without its times.
  void expect_same(const std::string& a, const std::string& b) const {
    const NamedTensors first = tensors_of(a), second = tensors_of(b);
    ASSERT_EQ(first.size(), second.size());
    for (const auto& [name, tensor] : first) {
      ASSERT_TRUE(second.count(name)) << name;
      EXPECT_EQ(tensor.values<float>(), second.at(name).values<float>()) << name;
    }
    EXPECT_EQ(read_text(folder_ / a / "best/model.safetensors"), read_text(folder_ / b / "best/model.safetensors"));
    const std::vector<LogLine> log = read_log(folder_ / a / "log.jsonl"), other = read_log(folder_ / b / "log.jsonl");
    ASSERT_EQ(log.size(), other.size());
    for (size_t i = 0; i < log.size(); ++i) {
      EXPECT_EQ(log[i].step, other[i].step);
      EXPECT_EQ(log[i].validation, other[i].validation);
      for (size_t k = 0; k < 3 && k < log[i].numbers.size(); ++k) EXPECT_EQ(log[i].numbers[k], other[i].numbers[k]);
    }
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_trainer_" + std::to_string(getpid()));
  int threads_ = threads();
};

TEST_F(Trainer, LearnsAndKeepsTheBestModel) {
  Directions trainee;
  const double before = trainee.validate()[0].value;
  TrainerConfig config = config_of(120);
  const TrainingResult result = train(trainee, config, {.folder = folder_ / "a"});
  EXPECT_EQ(result.end, TrainingResult::finished);
  EXPECT_EQ(result.step, 120);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->name, "loss");
  EXPECT_LT(result.best->value, 0.5 * before);
  Directions loaded;
  load(loaded, SafeTensors(folder_ / "a" / "best").tensors());
  EXPECT_EQ(loaded.validate()[0].value, result.best->value);
  EXPECT_GT(loaded.validate()[1].value, 0.8);
}

// One step of plain gradient descent, computed here from the two batches' gradients.
TEST_F(Trainer, AccumulatedGradientsAreDividedByAllTokens) {
  Directions trained, formula;
  TrainerConfig config = config_of(1);
  config.accumulate = 2;
  config.optimiser = {.kind = "sgd", .learning_rate = 0.5, .weight_decay = 0, .momentum = 0, .clip = 0};
  config.schedule = {.kind = "constant", .warmup = 0};
  train(trained, config, {.folder = folder_ / "a"});
  require_gradients(formula);
  const Random random = Random(static_cast<uint64_t>(config.seed)).fork("training");
  for (uint64_t i : {0, 1}) formula.next({.training = true, .random = random.fork(i)}).loss.backward();
  const NamedTensors found = save(trained);
  for_each_tensor(formula, [&](const std::string& path, Tensor& w, const Init&) {
    const std::vector<double> value = w.values<double>(), gradient = w.gradient().values<double>();
    const std::vector<double> stepped = found.at(path).values<double>();
    for (size_t i = 0; i < value.size(); ++i) {
      EXPECT_NEAR(stepped[i], value[i] - 0.5 * gradient[i] / (2 * Directions::batch), 1e-6) << path;
    }
  });
}

TEST_F(Trainer, SameBitsForAnyNumberOfThreads) {
  for (int count : {1, 3}) {
    set_threads(count);
    Directions trainee;
    train(trainee, config_of(20), {.folder = folder_ / std::to_string(count)});
  }
  expect_same("1", "3");
}

TEST_F(Trainer, StoppedAndResumedEqualsUninterrupted) {
  for (double average : {0.0, 0.9}) {
    TrainerConfig config = config_of(20);
    config.average = average;
    config.accumulate = 2;
    config.gradient_batches = 4;
    const std::string straight = fmt::format("straight{}", average), broken = fmt::format("broken{}", average);
    Directions whole;
    train(whole, config, {.folder = folder_ / straight});
    for (int64_t until : {1, 7, 8, 10, 19, 20}) {
      Directions part;
      std::atomic<bool> stop = false;
      const TrainingResult result =
          train(part, config,
                {.folder = folder_ / broken, .resume = until > 1, .stop = &stop, .progress = [&](const Progress& p) {
                   if (p.step == until) stop = true;
                 }});
      EXPECT_EQ(result.end, until == 20 ? TrainingResult::finished : TrainingResult::stopped) << until;
    }
    expect_same(straight, broken);
  }
}

TEST_F(Trainer, KilledAtRandomMomentsAndResumedEqualsUninterrupted) {
  TrainerConfig config = config_of(60);
  config.average = 0.9;
  config.gradient_batches = 3;
  set_threads(1);  // a child process has no threads of its parent's pool
  {
    Directions whole;
    train(whole, config, {.folder = folder_ / "straight"});
  }
  int kills = 0;
  for (uint64_t attempt = 0;; ++attempt) {
    ASSERT_LT(attempt, 200u);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        Directions part;
        train(part, config, {.folder = folder_ / "killed", .resume = fs::exists(folder_ / "killed/last")});
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    // Longer from time to time, so that it comes to its end on any machine.
    const uint64_t most = 30'000 + 10'000 * (attempt / 4);
    std::this_thread::sleep_for(
        std::chrono::microseconds(Random(static_cast<uint64_t>(getpid())).below(most, attempt)));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status)) {
      ASSERT_EQ(WEXITSTATUS(status), 0);
      break;
    }
    ++kills;
  }
  EXPECT_GE(kills, 1);
  expect_same("straight", "killed");
}

TEST_F(Trainer, MeasuringTheGradientLeavesTheTrainingAsItIs) {
  for (int64_t batches : {0, 13}) {  // more than an epoch has
    TrainerConfig config = config_of(25);
    config.average = 0.9;
    config.accumulate = 2;
    config.gradient_batches = batches;
    Directions trainee;
    train(trainee, config, {.folder = folder_ / std::to_string(batches)});
    EXPECT_EQ(trainee.position(), R"({"next":300})");
  }
  expect_same("0", "13");
}

// Two passes in double over the gradients of the first batches, at the weights as they were at the last validation.
TEST_F(Trainer, TheGradientsMeanAndVarianceEqualTheirFormula) {
  TrainerConfig config = config_of(20);
  config.average = 0.9;
  config.gradient_batches = 5;
  Directions trained, formula;
  train(trained, config, {.folder = folder_ / "a"});
  std::vector<LogLine> validations;
  for (const LogLine& line : read_log(folder_ / "a/log.jsonl")) {
    if (!line.validation.empty()) validations.push_back(line);
  }
  ASSERT_EQ(validations.size(), 2u);
  const Random random = Random(static_cast<uint64_t>(config.seed)).fork("training").fork("gradient variance");
  std::vector<std::vector<double>> gradients(5);
  for (size_t i = 0; i < 5; ++i) {
    load(formula, save(trained));
    require_gradients(formula);
    const StepLoss loss = formula.next({.training = true, .random = random.fork(i)});
    loss.loss.backward();
    for_each_tensor(formula, [&](const std::string&, Tensor& w, const Init&) {
      for (double value : w.gradient().values<double>()) gradients[i].push_back(value / Directions::batch);
      w.clear_gradient();
    });
  }
  double mean_squares = 0, variance = 0;
  for (size_t k = 0; k < gradients[0].size(); ++k) {
    double mean = 0;
    for (const auto& g : gradients) mean += g[k] / 5;
    mean_squares += mean * mean;
    for (const auto& g : gradients) variance += (g[k] - mean) * (g[k] - mean) / 4;
  }
  const LogLine::Numbers& found = validations[1].numbers;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].first, "gradient_mean");
  EXPECT_NEAR(found[0].second, std::sqrt(mean_squares), 1e-9);
  EXPECT_EQ(found[1].first, "gradient_variance");
  EXPECT_NEAR(found[1].second, variance, 1e-9 * variance);
  EXPECT_NE(found, validations[0].numbers);
}

TEST_F(Trainer, AnInterruptedReplacementIsRecovered) {
  const TrainerConfig config = config_of(20);
  Directions whole;
  train(whole, config, {.folder = folder_ / "straight"});
  {
    Directions part;
    std::atomic<bool> stop = false;
    train(part, config,
          {.folder = folder_ / "broken", .stop = &stop, .progress = [&](const Progress& p) { stop = p.step >= 9; }});
  }
  fs::rename(folder_ / "broken/last", folder_ / "broken/last.old");
  fs::create_directories(folder_ / "broken/last.new");
  write_text(folder_ / "broken/last.new/training.json", "{\"st");
  const std::string log = read_text(folder_ / "broken/log.jsonl");
  write_text(folder_ / "broken/log.jsonl", log + "{\"step\":12,\"loss\":1}\n{\"step\":1");
  Directions part;
  train(part, config, {.folder = folder_ / "broken", .resume = true});
  expect_same("straight", "broken");
  EXPECT_FALSE(fs::exists(folder_ / "broken/last.old"));
  EXPECT_FALSE(fs::exists(folder_ / "broken/last.new"));
}

TEST_F(Trainer, ALossThatIsNotFiniteNamesTheStepAndKeepsTheCheckpoint) {
  Directions trainee;
  trainee.broken_batch = 8;
  try {
    train(trainee, config_of(20), {.folder = folder_ / "a"});
    FAIL() << "no Error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("the loss of step 8 is nan; the checkpoint of step 6"), std::string::npos)
        << e.what();
  }
  for (const auto& [name, tensor] : tensors_of("a")) {
    for (double value : tensor.values<double>()) ASSERT_TRUE(std::isfinite(value)) << name;
  }
}

TEST_F(Trainer, OfEqualFirstScoresTheSecondDecides) {
  TrainerConfig config = config_of(70);
  config.patience = 2;
  Directions trainee;
  trainee.scripted = {0, 0, 0, 0.5, 0.5, 0.5, 0.4};
  trainee.seconds = {4, 3, 3.5, 9, 8, 8, 1};
  const TrainingResult result = train(trainee, config, {.folder = folder_ / "a"});
  EXPECT_EQ(result.end, TrainingResult::no_improvement);
  EXPECT_EQ(result.step, 70);
  EXPECT_EQ(result.best_step, 50);
  EXPECT_EQ(result.best->value, 0.5);
}

TEST_F(Trainer, PatienceEndsTheTraining) {
  TrainerConfig config = config_of(1000);
  config.patience = 2;
  Directions trainee;
  trainee.scripted = {0.1, 0.5, std::nan(""), 0.5, 0.9};
  const TrainingResult result = train(trainee, config, {.folder = folder_ / "a"});
  EXPECT_EQ(result.end, TrainingResult::no_improvement);
  EXPECT_EQ(result.step, 40);
  EXPECT_EQ(result.best_step, 20);
  EXPECT_EQ(result.best->value, 0.5);
  Directions again;
  again.scripted = {0.9};
  EXPECT_EQ(train(again, config, {.folder = folder_ / "a", .resume = true}).step, 40);
}

TEST_F(Trainer, EpochsAndMinutesAreLimitsToo) {
  TrainerConfig config = config_of(0);
  config.schedule.kind = "inverse-sqrt";
  config.epochs = 3;
  Directions trainee;
  EXPECT_EQ(train(trainee, config, {.folder = folder_ / "epochs"}).step, 30);
  config.epochs = 0;
  config.minutes = 0.1 / 60;
  EXPECT_EQ(train(trainee, config, {.folder = folder_ / "minutes"}).end, TrainingResult::finished);
}

TEST_F(Trainer, TheAverageIsWhatIsValidatedAndSaved) {
  TrainerConfig config = config_of(20);
  config.average = 0.9;
  Directions trainee;
  const TrainingResult result = train(trainee, config, {.folder = folder_ / "a"});
  Directions averaged;
  load(averaged, SafeTensors(folder_ / "a/last/model.safetensors").tensors());
  const NamedTensors tensors = tensors_of("a");
  for (const auto& [name, tensor] : save(averaged)) {
    EXPECT_EQ(tensor.values<float>(), tensors.at("average.mean." + name).values<float>());
    EXPECT_NE(tensor.values<float>(), tensors.at("weight." + name).values<float>());
  }
  EXPECT_EQ(averaged.validate()[0].value, read_log(folder_ / "a/log.jsonl").back().validation[0].second);
  EXPECT_TRUE(result.best);
}

TEST_F(Trainer, ProgressTellsWhereItStands) {
  Directions trainee;
  std::vector<Progress> seen;
  train(trainee, config_of(20), {.folder = folder_ / "a", .progress = [&](const Progress& p) { seen.push_back(p); }});
  ASSERT_EQ(seen.size(), 20u);
  for (size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].step, static_cast<int64_t>(i) + 1);
    EXPECT_GT(seen[i].tokens_per_second, 0);
    EXPECT_TRUE(std::isfinite(seen[i].loss));
    EXPECT_EQ(seen[i].scores.size(), (i + 1) % 10 == 0 ? 2u : 0u);
  }
  EXPECT_GT(seen[4].remaining_seconds, 0);
  EXPECT_EQ(seen.back().remaining_seconds, 0);
  EXPECT_NEAR(seen.back().epochs, 2, 1e-12);
}

TEST_F(Trainer, BadConfigurationsAndFoldersAreErrors) {
  Directions trainee;
  auto fails = [&](TrainerConfig config) { EXPECT_THROW(train(trainee, config, {.folder = folder_ / "bad"}), Error); };
  fails(config_of(0));
  fails(config_of(-1));
  TrainerConfig config = config_of(4);
  config.accumulate = 0;
  fails(config);
  config = config_of(4);
  config.average = 1;
  fails(config);
  config = config_of(4);
  config.gradient_batches = 1;
  fails(config);
  config = config_of(4);
  config.optimiser.kind = "adagrad";
  fails(config);
  EXPECT_THROW(train(trainee, config_of(4), {}), Error);
  write_text(folder_ / "file", "");
  EXPECT_THROW(train(trainee, config_of(4), {.folder = folder_ / "file"}), Error);
  train(trainee, config_of(4), {.folder = folder_ / "a"});
  EXPECT_THROW(train(trainee, config_of(4), {.folder = folder_ / "a"}), Error);  // would overwrite the first one
  write_text(folder_ / "a/last/training.json", "{");
  EXPECT_THROW(train(trainee, config_of(8), {.folder = folder_ / "a", .resume = true}), Error);
}

}  // namespace
}  // namespace fovea
