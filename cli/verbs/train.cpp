// `fovea train`: a model from a file of examples, by a recipe or by flags alone.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>

#include "cli/verb.h"
#include "fovea/base/folder.h"
#include "fovea/base/text.h"
#include "fovea/base/threads.h"
#include "fovea/models/zoo.h"
#include "fovea/train/prepare.h"

namespace fovea::verbs {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string known_tasks() {
  std::string tasks;
  for (const TaskKind* task : catalogue<TaskKind>())
    tasks += fmt::format("{}{}", tasks.empty() ? "" : ", ", task->name);
  return tasks;
}

struct TrainOptions {
  std::shared_ptr<Recipe> recipe;
  bool resume = false, quiet = false;
  int64_t threads = 0;

  explicit TrainOptions(CommandLine& line) {
    const std::optional<std::string> first = line.take_first();
    const bool is_recipe = first && (first->ends_with(".yaml") || first->ends_with(".yml"));
    if (is_recipe) line.use_recipe(*first);
    const std::optional<std::string> task = first && !is_recipe ? first : line.peek("task");
    int64_t rank = 0;
    if (is_recipe) detail::Reader(detail::Reader::yaml, read_text(*first), *first)("lora", rank, "");
    recipe = std::make_shared<Recipe>(
        task.value_or("translation"), family_of(line),
        RecipeBeginning{.tuned = is_tuned(line.peek("from").value_or("")),
                        .lora = line.typed_flag("lora") ? line.peek("lora") != "0" : rank > 0});
    named_ = task.has_value();
  }

  void fields(Fields& f) {
    recipe->fields(f);
    f("resume", resume, "go on with the training that --output holds");
    f("quiet", quiet, "no progress on stderr");
    f("threads", threads, "threads to use; 0: one for each core");
  }

  void complete() {
    recipe->check();
    require(named_, "fovea train: found no task, expected a recipe (a .yaml file) or one of {}", known_tasks());
  }

 private:
  // What --family says, or else the family of the model that is gone on from.
  static std::string family_of(const CommandLine& line) {
    if (const auto family = line.peek("family")) return *family;
    const auto from = line.peek("from");
    if (!from || from->empty()) return {};
    return std::string(described_model(find_model(*from))->family());
  }

  bool named_ = false;
};

std::atomic<bool> stop_wanted = false;
std::atomic<int> stop_signal = 0;

// The first Ctrl-C (or the end of the terminal) ends the training at its next step, the second one ends the process.
void stop_at_signal() {
  struct sigaction action = {};
  action.sa_handler = [](int signal) { stop_signal = signal, stop_wanted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

std::string duration(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

// One live line on a terminal; elsewhere a line every half minute. Validations always have a line of their own.
class Report final {
 public:
  Report(bool quiet, std::string unit) : quiet_(quiet), unit_(std::move(unit)), terminal_(isatty(STDERR_FILENO)) {}
  ~Report() { end_line(); }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  void end_line() const {
    if (!quiet_ && terminal_) fmt::print(stderr, "\r\x1b[K");
  }

  void say(const std::string& text) const {
    if (!quiet_) fmt::print(stderr, "{}{}\n", terminal_ ? "\r\x1b[K" : "", printable(text));
  }

  void operator()(const Progress& p) {
    if (quiet_) return;
    const Clock::time_point now = Clock::now();
    std::string scores;
    for (const Score& score : p.scores) scores += fmt::format("  {} {:.4g}", score.name, score.value);
    if (!scores.empty()) {
      metric_ = fmt::format("  {} {:.4g}", p.scores[0].name, p.scores[0].value);
      say(fmt::format("step {}: validation{}", p.step, scores));
    }
    if (now - last_ < (terminal_ ? std::chrono::milliseconds(100) : std::chrono::seconds(30))) return;
    last_ = now;
    const std::string line = fmt::format("step {}  epoch {:.2f}  loss {:.4f}{}  {:.0f} {}/s  {} left", p.step, p.epochs,
                                         p.loss, metric_, p.tokens_per_second, unit_, duration(p.remaining_seconds));
    fmt::print(stderr, "{}{}{}", terminal_ ? "\r\x1b[K" : "", line, terminal_ ? "" : "\n");
    std::fflush(stderr);
  }

 private:
  bool quiet_;
  std::string unit_;  // of what is read
  bool terminal_;
  Clock::time_point last_ = Clock::now();
  std::string metric_;
};

void run(const TrainOptions& o) {
  Recipe& recipe = *o.recipe;
  require(o.threads >= 0 && o.threads <= 1024, "--threads: found {}, expected 0 to 1024", o.threads);
  set_threads(static_cast<int>(o.threads));
  const fs::path folder = recipe.output, last = folder / "last";
  Report report(o.quiet, recipe.task().reads_text() ? "tokens" : "pictures");
  TrainerOptions options = {.folder = folder, .resume = o.resume, .stop = &stop_wanted};
  options.progress = [&](const Progress& p) { report(p); };
  check_folder(options);
  const std::unique_ptr<Trainee> trainee = prepare(
      recipe, {.resumed = o.resume ? last : fs::path(), .say = [&](const std::string& text) { report.say(text); }});
  stop_at_signal();
  const TrainingResult result = train(*trainee, recipe.trainer, options);
  report.end_line();
  if (result.end == TrainingResult::stopped) {
    report.say(fmt::format("stopped after step {}; go on with: fovea train {} --resume", result.step,
                           (last / "recipe.yaml").string()));
    // Whoever waits for this process sees by what it ended, as of any other.
    std::signal(stop_signal, SIG_DFL);
    std::raise(stop_signal);
  }
  if (result.end == TrainingResult::no_improvement)
    report.say(fmt::format("{} validations without a better score", recipe.trainer.patience));
  const std::string score = result.best ? fmt::format("\t{} {:.4g}", result.best->name, result.best->value) : "";
  fmt::print("{}\tstep {}{}\n", (folder / "best").string(), result.best ? result.best_step : result.step, score);
}

}  // namespace

extern const Verb train = {
    .name = "train",
    .group = "train",
    .help = "train a model: fovea train RECIPE.yaml, or fovea train TASK --data FILE -o FOLDER",
    .examples =
        "fovea train translation --data pairs.tsv -o my-model --minutes 10\n"
        "fovea train classification --data labelled.tsv -o my-classifier\n"
        "fovea train tagging --data tagged.conll -o my-tagger --epochs 5\n"
        "fovea train language --data text.txt -o my-language-model --minutes 10\n"
        "fovea train masked --data text.txt -o my-filler --minutes 10\n"
        "fovea train images --data pictures -o my-seer --minutes 10\n"
        "fovea train images --from my-looker --data pictures -o my-finer-looker --epochs 2\n"
        "fovea train recipe.yaml --seed 2 -o another-model\n"
        "fovea train my-model/last/recipe.yaml --resume --minutes 20\n"
        "fovea train classification --from my-classifier --data labelled.tsv -o finer-classifier --epochs 2\n"
        "fovea train classification --from my-encoder --data labelled.tsv -o my-labeller\n"
        "fovea train tagging --from my-encoder --data tagged.conll -o my-bert-tagger --freeze "
        "embeddings,encoder.layer.0\n"
        "fovea train classification --from my-encoder --lora 4 --data labelled.tsv -o my-adapter\n"
        "fovea train tagging --help",
    .run = [](const TrainOptions& o) { run(o); }};

}  // namespace fovea::verbs
