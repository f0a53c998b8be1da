#include "fovea/train/prepare.h"

#include <fmt/ranges.h>

#include <optional>

#include "fovea/formats/matrix_text.h"
#include "fovea/models/zoo.h"
#include "fovea/train/card.h"
#include "fovea/train/data_summary.h"

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
      go_on_from(preparation.resumed.empty() ? find_model(recipe.from) : preparation.resumed, preparation);
    }
    make_samples(preparation);
  }

  void weights(Weights& w) override { model().weights(w); }

  StepLoss next(const Context& context) override {
    const Batch batch = batches_->next();
    const Batches::State& at = batches_->state();
    const double share = static_cast<double>(at.batch) / static_cast<double>(batches_->batches_in_epoch());
    return {task_.loss(trained_, batch, context), task_.losses(batch), batch.tokens,
            static_cast<double>(at.epoch) + share};
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
    save_trained(folder, recipe_, model(), *trained_.tokenizer, scores_);
    task_.save(folder, validated_);
  }

 private:
  Model& model() { return *trained_.model; }
  std::string fingerprint() const { return fmt::format("{:016x}", examples_.data.fingerprint()); }

  std::unique_ptr<Tokenizer> tokenizer(const Preparation& preparation) const {
    if (!preparation.resumed.empty()) return load_tokenizer(preparation.resumed);
    if (std::error_code error; std::filesystem::exists(recipe_.vocabulary.kind, error)) {
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
    trained_ = load_pretrained(folder, {.learns = true});
    require(trained_.model->family() == recipe_.family_name(),
            "--from: found a model of family {} for a recipe of family {}, expected the same", trained_.model->family(),
            recipe_.family_name());
    FamilyConfig<ModelConfig> config = {recipe_.family_name(), recipe_.model()};
    from_json(trained_.model->config(), config, folder.string());
    task_.facts(examples_, *trained_.tokenizer);
  }

  void make_model() {
    tell(recipe_.model(), task_.facts(examples_, *trained_.tokenizer));
    trained_.model = recipe_.model().make();
    initialise(model(), Random(static_cast<uint64_t>(recipe_.trainer.seed)).fork("weights"));
  }

  void make_samples(const Preparation& preparation) {
    preparation.say(fmt::format("cutting {} examples into tokens", examples_.training.size()));
    task_.add_samples(trained_, examples_.data, examples_.training, training_);
    task_.add_samples(trained_, examples_.data, examples_.validation, validation_);
    batches_.emplace(training_, Batches::Options{.tokens = task_.batch_tokens(),
                                                 .longest = task_.max_tokens(),
                                                 .seed = static_cast<uint64_t>(recipe_.trainer.seed)});
    const std::string left_out =
        batches_->left_out() > 0 ? fmt::format(" ({} left out as too long)", batches_->left_out()) : "";
    const std::string chosen = complete(recipe_.trainer, batches_->batches_in_epoch());
    preparation.say(fmt::format("{} examples in {} batches{}, {} to validate on; {} with {} weights",
                                training_.size() - batches_->left_out(), batches_->batches_in_epoch(), left_out,
                                validation_.size(), model().family(), count(model())));
    if (!chosen.empty()) preparation.say(chosen);
  }

  Recipe& recipe_;
  Task& task_;
  Examples examples_;
  Pretrained trained_;
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
