#include "fovea/train/prepare.h"

#include <fmt/ranges.h>

#include <optional>

#include "fovea/data/text/bytes.h"
#include "fovea/formats/matrix_text.h"
#include "fovea/models/adapter_folder.h"
#include "fovea/models/zoo.h"
#include "fovea/train/card.h"
#include "fovea/train/data_summary.h"
#include "fovea/train/frozen.h"
#include "fovea/train/load_to_learn.h"

namespace fovea {
namespace {

struct Position {
  Batches::State state;
  std::string fingerprint;

  void fields(Fields& f) {
    f("epoch", state.epoch, "passes over the data");
    f("batch", state.batch, "batches of this pass");
    f("examples", state.examples, "examples of the data");
    f("fingerprint", fingerprint, "of their bytes");
  }
};

constexpr int64_t usual_passes = 3;  // over the data of a fine-tuning

Examples read_with_notes(const Recipe& recipe, const Preparation& preparation) {
  check(recipe.examples);
  preparation.say(fmt::format("reading {}", fmt::join(recipe.examples.data, ", ")));
  Examples examples = recipe.read();
  for (const std::string& line : split_text(summarise(examples).text(), '\n')) preparation.say(line);
  require(!examples.training.empty(), "training: found {} examples, of which none is left to learn from",
          examples.data.size());
  require(
      !examples.validation.empty(),
      "training: found {} examples, of which none is left to validate on; give --validation, or a larger --hold-out "
      "than {}",
      examples.data.size(), recipe.examples.hold_out);
  return examples;
}

// A task's examples as rows of ids, in batches.
class RecipeTrainee final : public Trainee {
 public:
  RecipeTrainee(Recipe& recipe, const Preparation& preparation)
      : recipe_(recipe), task_(recipe.task()), examples_(read_with_notes(recipe, preparation)) {
    if (recipe.from.empty()) {
      trained_.tokenizer = tokenizer(preparation);
      make_model();
    } else {
      // What an adapter belongs to lies where it lay.
      const bool again = !preparation.resumed.empty() && recipe.lora.rank == 0;
      go_on_from(again ? preparation.resumed : find_model(recipe.from), preparation);
    }
    for_each_weight(
        model(), [&](const std::string&, Weight& w, const Init&) { w.multiply_in(parse_precision(recipe.precision)); });
    make_samples(preparation);
  }

  void weights(Weights& w) override {
    if (lora_) return lora_->weights(model(), w);
    LearningWeights learning(w, frozen_);
    model().weights(learning);
  }

  StepLoss next(const Context& context) override {
    const Batch batch = batches_->next();
    const Batches::State& at = batches_->state();
    const double share = static_cast<double>(at.batch) / static_cast<double>(batches_->batches_in_epoch());
    if (lora_) lora_->begin_step(model(), context.random.fork("lora"));
    const Tensor loss = task_.loss(trained_, batch, context);
    if (lora_) lora_->end_step(model());
    return {loss, task_.losses(batch), batch.tokens, static_cast<double>(at.epoch) + share};
  }

  // The task's own scores, and the mean loss.
  std::vector<Score> validate() override {
    double sum = 0;
    int64_t terms = 0;
    Batches batches(validation_, {.tokens = task_.batch_tokens(), .shuffle = false});
    for (int64_t i = 0; i < batches.batches_in_epoch(); ++i) {
      const Batch batch = batches.next();
      sum += task_.loss(trained_, batch, {}).item();
      terms += task_.losses(batch);
    }
    scores_ = task_.score_losses(examples_, sum, terms);
    if (!scores_.empty()) return scores_;
    validated_ = task_.predict(trained_, examples_.data, examples_.validation, {.draft = true});
    scores_ = task_.score(validated_);
    scores_.push_back({"loss", sum / static_cast<double>(terms), Score::lower});
    return scores_;
  }

  std::string position() const override { return to_json(Position{batches_->state(), fingerprint()}); }

  void seek(const std::string& position) override {
    Position p;
    from_json(position, p, "position in the data");
    require(p.fingerprint == fingerprint(),
            "training: found other data than that of the checkpoint; go on with the same files, or begin a new "
            "training with "
            "--from");
    batches_->restore(p.state);
  }

  void save(const std::filesystem::path& folder) override {
    save_trained(folder, recipe_, {model(), trained_.tokenizer.get(), lora_ ? &*lora_ : nullptr, base_}, scores_);
    if (model().foreign() && !trained_.folder.empty()) keep_files(trained_.folder, folder);
    task_.save(folder, validated_);
  }

 private:
  Model& model() { return *trained_.model; }
  std::string fingerprint() const { return fmt::format("{:016x}", examples_.data.fingerprint()); }

  std::unique_ptr<Tokenizer> tokenizer(const Preparation& preparation) const {
    if (!task_.reads_text()) return nullptr;
    if (!preparation.resumed.empty()) return load_tokenizer(preparation.resumed);
    const std::string& kind = recipe_.vocabulary.kind;
    if (std::error_code error; !is_kind_of_vocabulary(kind) && std::filesystem::exists(kind, error)) {
      preparation.say(fmt::format("taking the vocabulary of {}", recipe_.vocabulary.kind));
      return load_tokenizer(recipe_.vocabulary.kind);
    }
    preparation.say(
        fmt::format("learning a vocabulary ({}) from {} examples", recipe_.vocabulary.kind, examples_.training.size()));
    return task_.learn(recipe_.vocabulary, examples_);
  }

  // The model as it is, and its own sizes in the recipe, so that the recipe says what is trained.
  void go_on_from(const std::filesystem::path& folder, const Preparation& preparation) {
    preparation.say(fmt::format("going on from {}", folder.string()));
    trained_ = load_to_learn(folder, {.task = recipe_.task_name(),
                                      .facts = [&](const Tokenizer& t) { return task_.facts(examples_, t); },
                                      .random = weights_random(),
                                      .say = preparation.say});
    require(trained_.model->family() == recipe_.family_name(),
            "--from: found a model of family {} for a recipe of family {}, expected the same", trained_.model->family(),
            recipe_.family_name());
    FamilyConfig<ModelConfig> config = {recipe_.family_name(), recipe_.model()};
    from_json(trained_.model->config(), config, folder.string());
    task_.go_on_from(trained_);
    if (!recipe_.freeze.empty()) frozen_ = Frozen(recipe_.freeze, model());
    if (recipe_.lora.rank != 0) add_lora(folder);
  }

  // What begins anew learns as a whole.
  void add_lora(const std::filesystem::path& folder) {
    require(recipe_.freeze.empty(),
            "--lora: found it beside --freeze, expected one of them; with it the model's weights stay");
    require(!is_adapter(folder), "--lora: found an adapter, {}, to go on from; merge it first with fovea quantize",
            folder.string());
    std::error_code error;
    base_ = std::filesystem::exists(recipe_.from, error) ? std::filesystem::absolute(folder).string() : recipe_.from;
    lora_.emplace(recipe_.lora, model(), new_weights(model(), folder), weights_random().fork("lora"));
  }

  Random weights_random() const { return Random(static_cast<uint64_t>(recipe_.trainer.seed)).fork("weights"); }

  void make_model() {
    require(recipe_.freeze.empty() && recipe_.lora.rank == 0,
            "--{}: found it without --from, expected a model that has learned something",
            recipe_.freeze.empty() ? "lora" : "freeze");
    const DataFacts facts =
        trained_.tokenizer ? task_.facts(examples_, *trained_.tokenizer) : task_.facts(examples_, Bytes());
    tell(recipe_.model(), facts);
    task_.fit(recipe_.model(), examples_);
    trained_.model = recipe_.model().make();
    if (trained_.tokenizer)
      check_fits(Abilities::of(model()), facts.needs, "--tokenizer",
                 fmt::format("{}, for a {} that", trained_.tokenizer->kind(), recipe_.family_name()),
                 recipe_.task_name());
    initialise(model(), weights_random());
    task_.begin(model());
  }

  void make_samples(const Preparation& preparation) {
    const size_t examples = examples_.training.size();
    preparation.say(task_.reads_text() ? fmt::format("cutting {} examples into tokens", examples)
                                       : fmt::format("fitting {} pictures", examples));
    task_.add_samples(trained_, examples_.data, examples_.training, training_);
    task_.add_samples(trained_, examples_.data, examples_.validation, validation_);
    batches_.emplace(training_, Batches::Options{.tokens = task_.batch_tokens(),
                                                 .longest = task_.max_tokens(),
                                                 .seed = static_cast<uint64_t>(recipe_.trainer.seed)});
    const std::string left_out =
        batches_->left_out() > 0 ? fmt::format(" ({} left out as too long)", batches_->left_out()) : "";
    TrainerConfig& trainer = recipe_.trainer;
    const bool tuned = !recipe_.from.empty() && model().foreign();
    if (tuned && trainer.steps == 0 && trainer.epochs == 0 && trainer.minutes == 0) trainer.epochs = usual_passes;
    const std::string chosen = complete(recipe_.trainer, batches_->batches_in_epoch());
    preparation.say(fmt::format("{} examples in {} batches{}, {} to validate on; {} with {} weights",
                                training_.size() - batches_->left_out(), batches_->batches_in_epoch(), left_out,
                                validation_.size(), model().family(), count(model())));
    if (frozen_.weights() > 0)
      preparation.say(fmt::format("{} of them, in {} tensors, stay as they are", frozen_.numbers(), frozen_.weights()));
    if (lora_)
      preparation.say(
          fmt::format("low-rank additions to {} matrices: {} numbers learn", lora_->matrices(), lora_->numbers()));
    if (!chosen.empty()) preparation.say(chosen);
    if (tuned) say_tuning(preparation);
  }

  void say_tuning(const Preparation& preparation) const {
    const TrainerConfig& t = recipe_.trainer;
    std::string end;
    if (t.steps > 0) end += fmt::format(", {} steps", t.steps);
    if (t.epochs > 0) end += fmt::format(", {} epochs", t.epochs);
    if (t.minutes > 0) end += fmt::format(", {} minutes", t.minutes);
    preparation.say(fmt::format("fine-tuning: learning rate {}, {} schedule after {} steps, weight decay {}{}",
                                t.optimiser.learning_rate, t.schedule.kind, t.schedule.warmup, t.optimiser.weight_decay,
                                end));
  }

  Recipe& recipe_;
  Task& task_;
  Examples examples_;
  Pretrained trained_;
  Frozen frozen_;
  std::optional<Lora> lora_;
  std::string base_;  // that the additions belong to
  Samples training_, validation_;
  std::optional<Batches> batches_;
  Predictions validated_;
  std::vector<Score> scores_;
};

}  // namespace

std::unique_ptr<Trainee> prepare(Recipe& recipe, const Preparation& preparation) {
  recipe.check();
  return std::make_unique<RecipeTrainee>(recipe, preparation);
}

}  // namespace fovea
