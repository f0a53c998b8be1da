#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "fovea/generate/classify.h"
#include "fovea/models/checkpoint.h"
#include "fovea/train/metrics/accuracy.h"
#include "fovea/train/sample_trainee.h"

namespace fovea {
namespace {

class ClassificationRecipe final : public Recipe {
 public:
  ClassificationRecipe() : Recipe("classification", {"classifier", "bag-of-words"}) {
    vocabulary = {.kind = "words", .size = 20000, .lower_case = true};
    choose_family(family);
  }
  std::unique_ptr<Trainee> prepare(const Preparation&) override;
  Examples read() const override;
  Predictions predict(const std::filesystem::path&, const Dataset&, const std::vector<int64_t>&,
                      const std::function<void(size_t)>& done) const override;

  std::string source_key = "text", label_key = "label";
  int64_t batch_tokens = 512, max_tokens = 400;

 private:
  void task_fields(Fields& f) override {
    f("source_key", source_key, "JSON lines: the key of the text");
    f("label_key", label_key, "JSON lines: the key of the label");
    f("names", examples.names, "other names for labels, as 0=negative 1=positive");
    f("batch_tokens", batch_tokens, "tokens of a batch, padding included");
    f("max_tokens", max_tokens, "leave out texts of more tokens; 0: none");
  }
  std::string model_defaults() const override {
    return family == "classifier" ? R"({"dropout": 0.5, "word_dropout": 0.1})" : "{}";
  }
  void default_end() override { trainer.minutes = 10; }
  void trainer_defaults() override {
    const bool counts = family == "bag-of-words";
    trainer.validate_every = 100;
    trainer.checkpoint_every = 500;
    trainer.patience = 10;
    trainer.average = 0.99;
    trainer.optimiser.learning_rate = counts ? 1e-2 : 1e-3;
    trainer.optimiser.weight_decay = counts ? 0.1 : 0.01;
    trainer.schedule = {.kind = "constant", .warmup = 50};
  }
};

class ClassificationTrainee final : public SampleTrainee {
 public:
  ClassificationTrainee(ClassificationRecipe& recipe, Examples all, const Preparation& preparation)
      : SampleTrainee(recipe, std::move(all)) {
    std::set<std::string> labels;
    for (int64_t i : examples().training) labels.insert(examples().data[i].label);
    require(labels.size() > 1, "training: found the label '{}' alone, expected at least two different ones",
            *labels.begin());
    require(labels.size() <= 10000, "training: found {} different labels, expected at most 10,000", labels.size());
    labels_ = {labels.begin(), labels.end()};
    tokenizer_ = preparation.resumed.empty() ? learn_vocabulary(recipe.vocabulary, texts())
                                             : load_tokenizer(preparation.resumed);
    nlohmann::json known = {{"vocabulary", tokenizer_->size()}, {"labels", labels_}};
    known["padding"] = tokenizer_->special().pad;
    if (recipe.family == "classifier") known["unknown"] = tokenizer_->special().unk;
    model_ = model_as<ClassifierModel>(recipe.make_model(known.dump()), "training");
    make_samples({.tokens = recipe.batch_tokens, .longest = recipe.max_tokens}, preparation);
  }

 private:
  Model& model() override { return *model_; }
  const Tokenizer& tokenizer() const override { return *tokenizer_; }

  TextSource texts() const {
    return [this, i = size_t{0}](std::string& text) mutable {
      if (i == examples().training.size()) return false;
      text = examples().data[examples().training[i++]].source;
      return true;
    };
  }

  std::vector<Sequence> columns(const Example& e) const override {
    std::vector<int64_t> ids = tokenizer_->encode(e.source).ids;
    if (ids.empty()) ids.push_back(tokenizer_->special().unk);
    const auto label = std::lower_bound(labels_.begin(), labels_.end(), e.label);
    require(label != labels_.end() && *label == e.label,
            "validation: found the label '{}', which is in none of the examples to learn from", e.label);
    return {{.ids = std::move(ids)}, {.ids = {label - labels_.begin()}}};
  }

  int64_t losses(const Batch& batch) const override { return static_cast<int64_t>(batch.examples.size()); }

  Tensor loss(const Batch& batch, const Context& context) const override {
    const Column& text = batch.columns[0];
    return model_->loss({text.ids, text.lengths}, batch.columns[1].ids.squeeze(1), context);
  }

  std::vector<Score> metric() override {
    std::vector<std::string> texts, references, hypotheses;
    for (int64_t i : examples().validation) {
      Example e = examples().data[i];
      texts.push_back(std::move(e.source));
      references.push_back(std::move(e.label));
    }
    for (const Classified& c : classify(*model_, *tokenizer_, texts)) hypotheses.push_back(labels_[c.best]);
    const LabelScores scores = score_labels(references, hypotheses);
    return {{"accuracy", scores.accuracy, Score::higher}, {"macro_f1", scores.macro.f1, Score::higher}};
  }

  std::vector<std::string> labels_;  // sorted
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<ClassifierModel> model_;
};

std::unique_ptr<Trainee> ClassificationRecipe::prepare(const Preparation& preparation) {
  return std::make_unique<ClassificationTrainee>(*this, read_with_notes(*this, preparation), preparation);
}

Examples ClassificationRecipe::read() const {
  const bool json = !examples.data.empty() && is_json(examples.data[0]);
  return read_examples(examples, {.kind = ExampleKind::labelled,
                                  .columns = {.source = json ? source_key : "", .label = json ? label_key : ""}});
}

Predictions ClassificationRecipe::predict(const std::filesystem::path& folder, const Dataset& data,
                                          const std::vector<int64_t>& numbers,
                                          const std::function<void(size_t)>& done) const {
  Predictions p;
  std::vector<std::string> texts;
  for (int64_t i : numbers) {
    Example e = data[i];
    texts.push_back(std::move(e.source));
    p.references.push_back(std::move(e.label));
  }
  const auto model = load_model_as<ClassifierModel>(folder);
  const auto tokenizer = load_tokenizer(model_folder(folder));
  for (const Classified& c : classify(*model, *tokenizer, texts, {.on_batch = done}))
    p.hypotheses.push_back(model->labels()[c.best]);
  return p;
}

}  // namespace

extern const Task classification = {
    .name = "classification",
    .help = "one label for a text, learned from labelled texts",
    .recipe = []() -> std::unique_ptr<Recipe> { return std::make_unique<ClassificationRecipe>(); },
};

}  // namespace fovea
