#include "fovea/train/trainer.h"

#include <chrono>
#include <cmath>

#include "fovea/base/denormals.h"
#include "fovea/base/file.h"
#include "fovea/base/folder.h"
#include "fovea/train/averaging.h"
#include "fovea/train/gradient_variance.h"
#include "fovea/train/log.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// All that the rest of a training depends on, besides the tensors.
struct State {
  int64_t step = 0;
  double epochs = 0, seconds = 0;
  double logged_loss = 0;  // added up since the last line of the log
  int64_t logged_losses = 0;
  int64_t validated_step = 0, validations_since_best = 0;
  int64_t best_step = 0;  // 0: no score yet
  std::string best_name;
  double best_value = 0, best_second = 0;
  bool best_is_highest = false;
  std::string position;

  void fields(Fields& f) {
    f("step", step, "steps done");
    f("epochs", epochs, "passes over the data");
    f("seconds", seconds, "time spent");
    f("logged_loss", logged_loss, "losses since the last line of the log, added up");
    f("logged_losses", logged_losses, "how many these were");
    f("validated_step", validated_step, "the last step that was validated");
    f("validations_since_best", validations_since_best, "validations since the best one");
    f("best_step", best_step, "step of the best score");
    f("best_name", best_name, "its name");
    f("best_value", best_value, "its value");
    f("best_second", best_second, "the value of the second score there, which decides where the first is the same");
    f("best_is_highest", best_is_highest, "whether higher is better");
    f("position", position, "where in the data the next batch is");
  }
};

void check(const TrainerConfig& c) {
  require(c.steps >= 0, "--steps: found {}, expected 0 or more", c.steps);
  require(c.epochs >= 0, "--epochs: found {}, expected 0 or more", c.epochs);
  require(c.minutes >= 0 && c.minutes < 1e9, "--minutes: found {}, expected 0 or more", c.minutes);
  require(c.steps > 0 || c.epochs > 0 || c.minutes > 0,
          "training: found none of --steps, --epochs and --minutes, expected one that says when to end");
  require(c.accumulate > 0, "--accumulate: found {}, expected 1 or more", c.accumulate);
  require(c.log_every > 0, "--log-every: found {}, expected 1 or more", c.log_every);
  require(c.validate_every >= 0, "--validate-every: found {}, expected 0 or more", c.validate_every);
  require(c.checkpoint_every >= 0, "--checkpoint-every: found {}, expected 0 or more", c.checkpoint_every);
  require(c.gradient_batches == 0 || c.gradient_batches > 1,
          "--gradient-batches: found {}, expected 0, or 2 or more for a variance", c.gradient_batches);
  require(c.patience >= 0, "--patience: found {}, expected 0 or more", c.patience);
  require(c.average >= 0 && c.average < 1, "--average: found {}, expected 0 or more and less than 1", c.average);
  schedule_factor(c.schedule, {.step = 1, .steps = c.steps});
}

void add(NamedTensors& all, const std::string& prefix, const NamedTensors& some) {
  for (const auto& [name, tensor] : some) all[prefix + name] = tensor;
}

NamedTensors below(const NamedTensors& all, const std::string& prefix) {
  NamedTensors found;
  for (const auto& [name, tensor] : all) {
    if (name.starts_with(prefix)) found[name.substr(prefix.size())] = tensor;
  }
  return found;
}

bool is_due(int64_t step, int64_t every) { return every > 0 && step % every == 0; }

// Whether there is what is to be resumed, and nothing otherwise.
void check_last(const TrainerOptions& options) {
  const bool found = recover_folder(options.folder / "last");
  require(options.resume || !found,
          "{}: found a training that began before; --resume goes on with it, another --output keeps it",
          options.folder.string());
  require(!options.resume || found, "{}: found no last/ to go on from; without --resume the training begins there",
          options.folder.string());
}

// As long as it lives, the weights are numbers that nobody learns from: what is computed records nothing.
class WithoutTape final {
 public:
  explicit WithoutTape(Trainee& trainee) : trainee_(trainee) {
    for_each_tensor(trainee, [&](const std::string&, Tensor& w, const Init&) {
      learning_.push_back(w);
      w = w.detach();
    });
  }
  ~WithoutTape() {
    size_t i = 0;
    for_each_tensor(trainee_, [&](const std::string&, Tensor& w, const Init&) { w = learning_[i++]; });
  }
  WithoutTape(const WithoutTape&) = delete;
  WithoutTape& operator=(const WithoutTape&) = delete;

 private:
  Trainee& trainee_;
  std::vector<Tensor> learning_;
};

class Training final {
 public:
  Training(Trainee& trainee, const TrainerConfig& config, const TrainerOptions& options)
      : trainee_(trainee),
        config_(config),
        options_(options),
        optimiser_(config.optimiser, list_weights(trainee)),
        random_(Random(static_cast<uint64_t>(config.seed)).fork("training")),
        first_position_(trainee.position()),
        lock_(options.folder) {
    if (config.average > 0) average_.emplace(config.average, list_weights(trainee));
    open_folder();
    log_.emplace(options.folder / "log.jsonl");
    earlier_seconds_ = state_.seconds;
  }

  TrainingResult run() {
    const FlushDenormals flush;
    while (!ends()) {
      step();
      const bool last = ends().has_value();
      // The last validation stands before its checkpoint like every other: a resumed training does not repeat it.
      std::vector<Score> scores;
      if (last || is_due(state_.step, config_.validate_every)) scores = validate();
      if (last || is_due(state_.step, config_.checkpoint_every)) write_checkpoint();
      report(std::move(scores));
      if (!last && options_.stop && options_.stop->load()) {
        write_checkpoint();
        return result(TrainingResult::stopped);
      }
    }
    write_checkpoint();
    if (state_.best_step == 0) write_best();
    return result(*ends());
  }

 private:
  void open_folder() {
    const fs::path last = options_.folder / "last", log = options_.folder / "log.jsonl";
    recover_folder(options_.folder / "best");
    check_last(options_);
    if (options_.resume) return restore(last);
    fs::remove(log);
  }

  void restore(const fs::path& last) {
    from_json(read_text(last / "training.json"), state_, (last / "training.json").string());
    const SafeTensors file(last / "training.safetensors");
    load(trainee_, below(file.tensors(), "weight."));
    optimiser_.restore(below(file.tensors(), "optimiser."));
    if (average_) average_->restore(below(file.tensors(), "average."));
    trainee_.seek(state_.position);
    truncate_log(options_.folder / "log.jsonl", state_.step);
    checkpoint_step_ = state_.step;
    checkpoint_validated_ = state_.validated_step;
  }

  // Reached limits and lost patience are seen in the state alone, so a resumed training ends where it would have.
  std::optional<TrainingResult::End> ends() const {
    if (config_.patience > 0 && state_.validations_since_best >= config_.patience) {
      return TrainingResult::no_improvement;
    }
    if (share_done() >= 1) return TrainingResult::finished;
    return std::nullopt;
  }

  double share_done() const {
    double share = 0;
    auto reached = [&](double value, double limit) {
      if (limit > 0) share = std::max(share, value / limit);
    };
    reached(static_cast<double>(state_.step), static_cast<double>(config_.steps));
    reached(state_.epochs, static_cast<double>(config_.epochs));
    reached(state_.seconds, 60 * config_.minutes);
    return share;
  }

  void step() {
    const Clock::time_point begin = Clock::now();
    const int64_t number = state_.step + 1;
    int64_t losses = 0, tokens = 0;
    for (int64_t i = 0; i < config_.accumulate; ++i) {
      const uint64_t batch = static_cast<uint64_t>(state_.step * config_.accumulate + i);
      const StepLoss loss = trainee_.next({.training = true, .random = random_.fork(batch)});
      const double value = loss.loss.item();
      check_finite("loss", value, number);
      loss.loss.backward();
      losses += loss.losses;
      tokens += loss.tokens;
      state_.epochs = loss.epochs;
      state_.logged_loss += value;
    }
    const double factor = schedule_factor(config_.schedule, {.step = number, .steps = config_.steps});
    require(losses > 0, "training: the batch of step {} has nothing to learn from", number);
    progress_.gradient_norm = optimiser_.step({.factor = factor, .divisor = static_cast<double>(losses)});
    check_finite("gradient", progress_.gradient_norm, number);
    if (average_) average_->update();
    state_.step = number;
    state_.logged_losses += losses;
    timed_tokens_ += tokens;
    timed_seconds_ += seconds_since(begin);
    measure(config_.optimiser.learning_rate * factor);
    if (is_due(number, config_.log_every)) write_log_line();
  }

  void check_finite(const char* what, double value, int64_t step) const {
    if (std::isfinite(value)) return;
    const std::string kept = checkpoint_step_ > 0 ? fmt::format("the checkpoint of step {} is in {}", checkpoint_step_,
                                                                (options_.folder / "last").string())
                                                  : std::string("no checkpoint had been written");
    throw Error(
        Error::invalid,
        "training: the {} of step {} is {}; {}; a lower --learning-rate or --clip, or a longer --warmup, may help",
        what, step, value, kept);
  }

  void measure(double learning_rate) {
    state_.seconds = earlier_seconds_ + seconds_since(begin_);
    progress_.step = state_.step;
    progress_.epochs = state_.epochs;
    progress_.seconds = state_.seconds;
    progress_.loss = state_.logged_loss / static_cast<double>(state_.logged_losses);
    progress_.learning_rate = learning_rate;
    progress_.tokens_per_second = static_cast<double>(timed_tokens_) / std::max(timed_seconds_, 1e-9);
    const double done = share_done();
    progress_.remaining_seconds = done >= 1 ? 0 : state_.seconds * (1 - done) / done;
  }

  void write_log_line() {
    log_->append({.step = state_.step,
                  .numbers = {{"loss", progress_.loss},
                              {"learning_rate", progress_.learning_rate},
                              {"gradient_norm", progress_.gradient_norm},
                              {"tokens_per_second", std::round(progress_.tokens_per_second)},
                              {"epochs", state_.epochs},
                              {"seconds", std::round(state_.seconds * 1000) / 1000}},
                  .validation = {}});
    state_.logged_loss = 0, state_.logged_losses = 0;
    timed_seconds_ = 0, timed_tokens_ = 0;
  }

  void report(std::vector<Score> scores) {
    if (!options_.progress) return;
    progress_.scores = std::move(scores);
    options_.progress(progress_);
  }

  std::vector<Score> validate() {
    std::vector<Score> scores;
    {
      const Averaged inside(average());
      const WithoutTape detached(trainee_);
      scores = trainee_.validate();
    }
    state_.validated_step = state_.step;
    LogLine line = {.step = state_.step, .numbers = gradient_numbers(), .validation = {}};
    for (const Score& score : scores) line.validation.emplace_back(score.name, score.value);
    if (!line.numbers.empty() || !scores.empty()) log_->append(line);
    if (scores.empty()) return scores;
    const Score &first = scores[0], &second = scores[scores.size() > 1 ? 1 : 0];
    const auto improves = [](const Score& s, double than) {
      return s.better == Score::higher ? s.value > than : s.value < than;
    };
    const bool better = improves(first, state_.best_value) ||
                        (first.value == state_.best_value && improves(second, state_.best_second));
    if (std::isfinite(first.value) && (state_.best_step == 0 || better)) {
      write_best();
      state_.best_step = state_.step;
      state_.best_name = first.name;
      state_.best_value = first.value, state_.best_second = second.value;
      state_.best_is_highest = first.better == Score::higher;
      state_.validations_since_best = 0;
    } else {
      ++state_.validations_since_best;
    }
    return scores;
  }

  // The same batches with the same randomness at each validation, so that what changes is the weights. The trainee then goes
  // on where it was: nothing that a step depends on is touched.
  LogLine::Numbers gradient_numbers() {
    if (config_.gradient_batches == 0) return {};
    const std::string position = trainee_.position();
    const Random random = random_.fork("gradient variance");
    GradientVariance gradients(list_weights(trainee_));
    trainee_.seek(first_position_);
    for (int64_t i = 0; i < config_.gradient_batches; ++i) {
      const StepLoss loss = trainee_.next({.training = true, .random = random.fork(static_cast<uint64_t>(i))});
      loss.loss.backward();
      gradients.add(static_cast<double>(loss.losses));
    }
    trainee_.seek(position);
    return {{"gradient_mean", gradients.mean()}, {"gradient_variance", gradients.variance()}};
  }

  void write_best() {
    const Averaged inside(average());
    replace_folder(options_.folder / "best", [&](const fs::path& fresh) { trainee_.save(fresh); });
  }

  void write_checkpoint() {
    if (checkpoint_step_ == state_.step && checkpoint_validated_ == state_.validated_step) return;
    state_.position = trainee_.position();
    log_->sync();
    replace_folder(options_.folder / "last", [&](const fs::path& fresh) {
      {
        const Averaged inside(average());
        trainee_.save(fresh);
      }
      NamedTensors tensors;
      add(tensors, "weight.", save(trainee_));
      add(tensors, "optimiser.", optimiser_.state());
      if (average_) add(tensors, "average.", average_->state());
      write_safetensors(fresh / "training.safetensors", tensors);
      write_text(fresh / "training.json", to_json(state_));
    });
    checkpoint_step_ = state_.step;
    checkpoint_validated_ = state_.validated_step;
  }

  Average* average() { return average_ ? &*average_ : nullptr; }

  TrainingResult result(TrainingResult::End end) const {
    TrainingResult result = {.end = end, .step = state_.step, .best = {}, .best_step = state_.best_step};
    if (state_.best_step > 0) {
      result.best = {state_.best_name, state_.best_value, state_.best_is_highest ? Score::higher : Score::lower};
    }
    return result;
  }

  Trainee& trainee_;
  const TrainerConfig& config_;
  const TrainerOptions& options_;
  Optimiser optimiser_;
  std::optional<Average> average_;
  std::optional<LogFile> log_;
  Random random_;
  std::string first_position_;  // of a training from the beginning
  FolderLock lock_;
  State state_;
  Progress progress_;
  Clock::time_point begin_ = Clock::now();
  double earlier_seconds_ = 0;
  double timed_seconds_ = 0;  // of steps alone, since the last line of the log
  int64_t timed_tokens_ = 0;
  int64_t checkpoint_step_ = 0, checkpoint_validated_ = -1;
};

}  // namespace

void check_folder(const TrainerOptions& options) {
  require(!options.folder.empty(), "training: found no folder to write to, expected --output");
  const FolderLock free(options.folder);
  check_last(options);
}

TrainingResult train(Trainee& trainee, const TrainerConfig& config, const TrainerOptions& options) {
  check(config);
  return Training(trainee, config, options).run();
}

std::string complete(TrainerConfig& c, int64_t batches_in_epoch) {
  std::string chosen;
  if (c.steps == 0 && c.epochs == 0 && c.minutes == 0) {
    c.steps = std::clamp<int64_t>(40 * batches_in_epoch / std::max<int64_t>(c.accumulate, 1), 300, 20000);
    c.minutes = 30;
    chosen = fmt::format("{} steps or {} minutes at the most", c.steps, c.minutes);
  }
  auto choose = [&](int64_t& value, int64_t by_the_data, const char* text) {
    if (value != -1) return;
    value = by_the_data;
    chosen += fmt::format("{}{} {} steps", chosen.empty() ? "" : ", ", text, value);
  };
  const int64_t accumulated = std::max<int64_t>(c.accumulate, 1);
  const int64_t pass = (batches_in_epoch + accumulated - 1) / accumulated;
  const int64_t all = c.steps > 0 ? c.steps : c.epochs > 0 ? c.epochs * pass : 20 * batches_in_epoch;
  choose(c.schedule.warmup, std::clamp<int64_t>(all / 10, 10, 1000), "warm-up of");
  const bool decays = c.schedule.kind == "linear" || c.schedule.kind == "cosine";
  if (decays && c.steps == 0 && c.epochs > 0 && c.schedule.decay_steps == 0) {
    c.schedule.decay_steps = -1;
    choose(c.schedule.decay_steps, all, "a decay over");
  }
  choose(c.validate_every, std::clamp<int64_t>(batches_in_epoch, 20, 300), "a validation every");
  choose(c.checkpoint_every, c.validate_every, "a checkpoint every");
  return chosen.empty() ? chosen : "chosen by the amount of data: " + chosen;
}

}  // namespace fovea
