#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "fovea/generate/tag.h"
#include "fovea/models/checkpoint.h"
#include "fovea/train/metrics/entities.h"
#include "fovea/train/sample_trainee.h"

namespace fovea {
namespace {

class TaggingRecipe final : public Recipe {
 public:
  TaggingRecipe() : Recipe("tagging", {"tagger"}) {
    vocabulary = {.kind = "words", .size = 20000, .lower_case = true, .zero_digits = true};
    choose_family(family);
  }
  std::unique_ptr<Trainee> prepare(const Preparation&) override;
  Examples read() const override;
  Predictions predict(const std::filesystem::path&, const Dataset&, const std::vector<int64_t>&,
                      const std::function<void(size_t)>& done) const override;

  std::string tokens_key = "tokens", tags_key = "tags";
  int64_t token_column = 0, tag_column = -1;
  int64_t batch_tokens = 256, max_tokens = 200;

 private:
  void task_fields(Fields& f) override {
    f("token_column", token_column, "CoNLL: the column of the token, from 0");
    f("tag_column", tag_column, "CoNLL: the column of the tag, from 0; negative: from the end");
    f("tokens_key", tokens_key, "JSON lines: the key of the list of tokens");
    f("tags_key", tags_key, "JSON lines: the key of the list of tags");
    f("names", examples.names, "other names for kinds of entities, as person=PER group=ORG; O: none at all");
    f("batch_tokens", batch_tokens, "words of a batch, padding included");
    f("max_tokens", max_tokens, "leave out sentences of more words; 0: none");
  }
  std::string model_defaults() const override { return "{}"; }
  void default_end() override { trainer.minutes = 10; }
  void trainer_defaults() override {
    trainer.validate_every = 100;
    trainer.checkpoint_every = 1000;
    trainer.patience = 10;
    trainer.average = 0.999;
    trainer.optimiser.learning_rate = 2e-3;
    trainer.schedule = {.kind = "constant", .warmup = 100};
  }
};

class TaggingTrainee final : public SampleTrainee {
 public:
  TaggingTrainee(TaggingRecipe& recipe, Examples all, const Preparation& preparation)
      : SampleTrainee(recipe, std::move(all)),
        words_(preparation.resumed.empty() ? learn(recipe) : Words(preparation.resumed / "vocabulary.json")) {
    std::set<std::string> labels;
    for (int64_t i : examples().training)
      for (const std::string& tag : examples().data[i].tags) labels.insert(tag);
    require(labels.size() > 1, "training: found the tag '{}' alone, expected at least two different ones",
            *labels.begin());
    require(labels.size() <= 1000, "training: found {} different tags, expected at most 1,000", labels.size());
    labels_ = {labels.begin(), labels.end()};
    nlohmann::json known = {
        {"vocabulary", words_.size()}, {"characters", words_.characters_size()}, {"labels", labels_}};
    known["padding"] = words_.special().pad;
    known["unknown"] = words_.special().unk;
    model_ = model_as<Tagger>(recipe.make_model(known.dump()), "training");
    // A sentence has a row of words, one of their characters and one of their tags.
    make_samples({.tokens = 3 * recipe.batch_tokens, .longest = recipe.max_tokens}, preparation);
  }

 private:
  Model& model() override { return *model_; }
  const Tokenizer& tokenizer() const override { return words_; }

  Words learn(const TaggingRecipe& recipe) const {
    const VocabularyConfig& v = recipe.vocabulary;
    require(v.kind == "words" && !v.byte_fallback, "--tokenizer: found {}, expected words, which is what gets the tags",
            v.kind);
    return Words::train(
        [this, i = size_t{0}](std::vector<std::string>& sentence) mutable {
          if (i == examples().training.size()) return false;
          sentence = examples().data[examples().training[i++]].tokens;
          return true;
        },
        {.vocabulary = v.size, .at_least = v.at_least, .lower_case = v.lower_case, .zero_digits = v.zero_digits});
  }

  std::vector<Sequence> columns(const Example& e) const override {
    std::vector<Sequence> columns = tagger_columns(words_, e.tokens);
    Sequence tags;
    for (const std::string& tag : e.tags) {
      const auto found = std::lower_bound(labels_.begin(), labels_.end(), tag);
      require(found != labels_.end() && *found == tag,
              "validation: found the tag '{}', which is in none of the examples to learn from", tag);
      tags.ids.push_back(found - labels_.begin());
    }
    columns.push_back(std::move(tags));
    return columns;
  }

  int64_t losses(const Batch& batch) const override {
    const Tensor& lengths = batch.columns[0].lengths;
    return std::accumulate(lengths.data<int64_t>(), lengths.data<int64_t>() + lengths.elements(), int64_t{0});
  }

  Tensor loss(const Batch& batch, const Context& context) const override {
    return model_->loss(tagger_input(batch.columns[0], batch.columns[1]), batch.columns[2].ids, context);
  }

  std::vector<Score> metric() override {
    std::vector<Sentence> sentences;
    std::vector<std::vector<std::string>> references, hypotheses;
    for (int64_t i : examples().validation) {
      Example e = examples().data[i];
      sentences.push_back(std::move(e.tokens));
      references.push_back(std::move(e.tags));
    }
    for (Tagged& t : tag(*model_, words_, sentences)) hypotheses.push_back(std::move(t.labels));
    const EntityScores scores = score_entities(references, hypotheses);
    return {{"f1", 100 * scores.micro.f1, Score::higher},
            {"precision", 100 * scores.micro.precision, Score::higher},
            {"recall", 100 * scores.micro.recall, Score::higher}};
  }

  Words words_;
  std::vector<std::string> labels_;  // sorted
  std::unique_ptr<Tagger> model_;
};

std::unique_ptr<Trainee> TaggingRecipe::prepare(const Preparation& preparation) {
  return std::make_unique<TaggingTrainee>(*this, read_with_notes(*this, preparation), preparation);
}

Examples TaggingRecipe::read() const {
  const bool json = !examples.data.empty() && is_json(examples.data[0]);
  const auto column = [](int64_t number) { return std::to_string(number < 0 ? number : number + 1); };
  return read_examples(examples, {.kind = ExampleKind::tagged,
                                  .columns = {.tokens = json ? tokens_key : column(token_column),
                                              .tags = json ? tags_key : column(tag_column)}});
}

Predictions TaggingRecipe::predict(const std::filesystem::path& folder, const Dataset& data,
                                   const std::vector<int64_t>& numbers, const std::function<void(size_t)>& done) const {
  Predictions p;
  std::vector<Sentence> sentences;
  for (int64_t i : numbers) {
    Example e = data[i];
    sentences.push_back(std::move(e.tokens));
    p.references.push_back(fmt::format("{}", fmt::join(e.tags, " ")));
  }
  const auto model = load_model_as<Tagger>(folder);
  const Words words(model_folder(folder) / "vocabulary.json");
  for (const Tagged& t : tag(*model, words, sentences, {.on_batch = done}))
    p.hypotheses.push_back(fmt::format("{}", fmt::join(t.labels, " ")));
  return p;
}

}  // namespace

extern const Task tagging = {
    .name = "tagging",
    .help = "a tag for each word, learned from CoNLL columns",
    .recipe = []() -> std::unique_ptr<Recipe> { return std::make_unique<TaggingRecipe>(); },
};

}  // namespace fovea
