// Every task learns what its data teaches, and leaves a folder that answers like the model that was trained.
#include "fovea/train/prepare.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "fovea/base/file.h"
#include "fovea/generate/classify.h"
#include "fovea/generate/tag.h"
#include "fovea/generate/translate.h"
#include "fovea/models/zoo.h"
#include "fovea/train/toy_data.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

class Recipes : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    write_text(folder_ / "pairs.tsv", toy_pairs(400));
    write_text(folder_ / "labelled.tsv", toy_labelled(200));
    write_text(folder_ / "tagged.conll", toy_conll(200));
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::unique_ptr<Recipe> recipe(const std::string& task, const std::string& file, const std::string& yaml) const {
    const std::string text = "task: " + task + "\ndata: " + (folder_ / file).string() + "\n" + yaml;
    auto r = std::make_unique<Recipe>(read_recipe(text, "recipe.yaml"));
    r->output = (folder_ / "model").string();
    return r;
  }
  TrainingResult trained(Recipe& r) const {
    const std::unique_ptr<Trainee> trainee = prepare(r, {});
    return train(*trainee, r.trainer, {.folder = r.output});
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_recipes_" + std::to_string(getpid()));
};

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no Error";
}

constexpr const char* small_transformer =
    "width: 32\nheads: 2\nhidden: 64\nencoder_layers: 1\ndecoder_layers: 1\ndropout: 0\ntokenizer: words\n"
    "batch_tokens: 600\nsteps: 250\nlearning_rate: 0.01\nwarmup: 30\naverage: 0.9\nvalidate_every: 0\n";
constexpr const char* small_seq2seq =
    "family: seq2seq\nembedding: 24\nencoder_width: 24\ndecoder_width: 32\ndropout: 0\ntokenizer: words\n"
    "batch_tokens: 600\nsteps: 150\nlearning_rate: 0.02\nwarmup: 20\naverage: 0.9\nvalidate_every: 0\n";

TEST_F(Recipes, TranslationIsLearnedByBothFamilies) {
  for (const char* yaml : {small_transformer, small_seq2seq}) {
    const std::unique_ptr<Recipe> r = recipe("translation", "pairs.tsv", yaml);
    const TrainingResult result = trained(*r);
    ASSERT_EQ(result.best->name, "bleu");
    EXPECT_GT(result.best->value, 90) << r->family_name();
    const Pretrained model = load_pretrained(find_model(r->output));
    const GenerationConfig config = read_generation_config(model.folder);
    EXPECT_EQ(config.beam_size, 5);
    const auto found = translate(model.as<Generator>(), *model.tokenizer, {"three one nine", "", "two"}, config, {.attention = true});
    EXPECT_EQ(found[0].found[0].text, "drei eins neun") << r->family_name();
    EXPECT_EQ(found[1].found[0].text, "");
    EXPECT_EQ(found[2].found[0].text, "zwei") << r->family_name();
    const Translation& t = found[0].found[0];
    ASSERT_EQ(t.tokens.size(), 4u);
    EXPECT_EQ(piece_of(t.text, t.tokens[1]), "eins");
    EXPECT_EQ(t.attention.shape(), (Shape{4, 4}));
    fs::remove_all(r->output);
  }
}

TEST_F(Recipes, ReversedPairsAreLearnedTheOtherWay) {
  const std::unique_ptr<Recipe> r = recipe("translation", "pairs.tsv", std::string(small_seq2seq) + "reverse: true\n");
  EXPECT_GT(trained(*r).best->value, 90);
  const Pretrained model = load_pretrained(find_model(r->output));
  EXPECT_EQ(translate(model.as<Generator>(), *model.tokenizer, {"drei eins"}, {})[0].found[0].text, "three one");
}

TEST_F(Recipes, ClassificationIsLearnedAndTheDecidingWordIsSeen) {
  const std::string end =
      "steps: 100\nwarmup: 5\nbatch_tokens: 200\nvalidate_every: 0\naverage: 0\nlearning_rate: 0.02\nhold_out: 20\n";
  const std::string small = "embedding: 16\nwidth: 16\ndropout: 0\nword_dropout: 0\n" + end;
  for (const std::string& yaml :
       {small, "encoder: none\n" + small, "selection: hard\nhard_gradient: reinforce\n" + small,
        "encoder: transformer\nheads: 2\nhidden: 32\n" + small, "family: bag-of-words\n" + end}) {
    const std::unique_ptr<Recipe> r = recipe("classification", "labelled.tsv", yaml);
    const TrainingResult result = trained(*r);
    ASSERT_EQ(result.best->name, "accuracy");
    EXPECT_GT(result.best->value, 0.95) << yaml;
    const Pretrained model = load_pretrained(find_model(r->output));
    const std::vector<std::string>& labels = model.as<TextLabeller>().labels().names();
    EXPECT_EQ(labels, (std::vector<std::string>{"bad", "good"}));
    const std::string text = "the song was old and lovely";
    const Classified c = classify(model.as<TextLabeller>(), *model.tokenizer, {text}, {.weights = true})[0];
    EXPECT_EQ(labels[c.best], "good") << yaml;
    ASSERT_EQ(c.weights.size(), c.tokens.size());
    EXPECT_NEAR(std::accumulate(c.weights.begin(), c.weights.end(), 0.0), 1, 1e-5);
    // A Bi-LSTM may carry the word's meaning to its neighbours; without one the word itself has to be looked at.
    const auto most = std::max_element(c.weights.begin(), c.weights.end()) - c.weights.begin();
    if (yaml.starts_with("encoder: none") || yaml.starts_with("family")) {
      EXPECT_EQ(piece_of(text, c.tokens[static_cast<size_t>(most)]), "lovely");
    }
    fs::remove_all(r->output);
  }
}

TEST_F(Recipes, LabelsCanGetNames) {
  const std::unique_ptr<Recipe> r =
      recipe("classification", "labelled.tsv",
             "names: [bad=negative]\nfamily: bag-of-words\nsteps: 60\nwarmup: 5\nvalidate_every: 0\nhold_out: 20\n");
  EXPECT_GT(trained(*r).best->value, 0.9);
  const Pretrained model = load_pretrained(find_model(r->output));
  EXPECT_EQ(model.as<TextLabeller>().labels().names(), (std::vector<std::string>{"good", "negative"}));
  const Examples examples = r->read();
  size_t ready = 0;
  const Predictions p =
      r->task().predict(model, examples.data, examples.validation, {.done = [&](size_t count) { ready += count; }});
  EXPECT_EQ(ready, examples.validation.size());
  for (const std::string& label : p.references) EXPECT_TRUE(label == "negative" || label == "good") << label;
  EXPECT_EQ(std::set<std::string>(p.hypotheses.begin(), p.hypotheses.end()),
            std::set<std::string>(p.references.begin(), p.references.end()));
}

TEST_F(Recipes, TaggingIsLearned) {
  const std::unique_ptr<Recipe> r = recipe(
      "tagging", "tagged.conll",
      "embedding: 16\nwidth: 16\ncharacter_embedding: 8\ncharacter_width: 8\ndropout: 0.1\nsteps: 60\nwarmup: 5\n"
      "validate_every: 0\naverage: 0\nlearning_rate: 0.01\nhold_out: 40\n");
  const TrainingResult result = trained(*r);
  ASSERT_EQ(result.best->name, "f1");
  EXPECT_GT(result.best->value, 95);
  const Pretrained model = load_pretrained(find_model(r->output));
  const Tagged t = tag(model.as<WordLabeller>(), words_of(model), {{"Clara", "Vale", "left", "Rome", "."}}, {.attention = true})[0];
  EXPECT_EQ(t.labels, (std::vector<std::string>{"B-PER", "I-PER", "O", "B-LOC", "O"}));
  EXPECT_EQ(t.attention.shape(), (Shape{5, 5}));
  for (double p : t.probabilities) EXPECT_TRUE(p > 0.5 && p <= 1 + 1e-6);
}

TEST_F(Recipes, TheFolderHoldsWhatUsersExpect) {
  const std::unique_ptr<Recipe> r = recipe("translation", "pairs.tsv",
                                           std::string(small_transformer) +
                                               "steps: 2\nstorage: f16\nname: Numbers\n"
                                               "license: cc0-1.0\nlanguages: [en, de]\n");
  trained(*r);
  for (const char* file :
       {"config.json", "model.safetensors", "generation_config.json", "vocabulary.json", "README.md"})
    EXPECT_TRUE(fs::exists(fs::path(r->output) / "best" / file)) << file;
  const std::string card = read_text(fs::path(r->output) / "best/README.md");
  for (const char* text : {"# Numbers", "license: cc0-1.0", "language: [en, de]", "pairs.tsv", "| bleu |"})
    EXPECT_NE(card.find(text), std::string::npos) << text << "\n" << card;
  // The recipe beside the model makes the same training again.
  Recipe again = read_recipe(read_text(fs::path(r->output) / "best/recipe.yaml"), "recipe.yaml");
  EXPECT_EQ(to_yaml(again), to_yaml(*r));
}

TEST_F(Recipes, EveryTaskReadsBackWhatItPrints) {
  for (const TaskKind* task : catalogue<TaskKind>()) {
    for (const std::string& family : families_for(*task->make())) {
      Recipe one(task->name, family);
      one.trainer.seed = 17;
      Recipe other = read_recipe(to_yaml(one), "recipe.yaml");
      EXPECT_EQ(to_yaml(one), to_yaml(other)) << task->name;
      EXPECT_EQ(other.family_name(), family);
      EXPECT_NE(to_yaml(other).find("\nseed: 17\n"), std::string::npos);
    }
  }
}

TEST_F(Recipes, WhatIsWrongIsSaid) {
  const auto says = [&](const std::string& task, const std::string& file, const std::string& yaml) {
    return error_of([&] { prepare(*recipe(task, file, yaml), {}); });
  };
  EXPECT_NE(says("translation", "pairs.tsv", "learning_rat: 1\n").find("did you mean 'learning_rate'"),
            std::string::npos);
  EXPECT_NE(says("translation", "pairs.tsv", "steps: many\n").find("expected a whole number"), std::string::npos);
  EXPECT_NE(says("translation", "pairs.tsv", "family: tagger\n").find("'tagger'"), std::string::npos);
  EXPECT_NE(error_of([] { read_recipe("data: x\n", "r.yaml"); }).find("r.yaml: found no task"), std::string::npos);
  EXPECT_NE(says("translation", "pairs.tsv", "tokenizer: letters\n").find("'letters'"), std::string::npos);
  EXPECT_NE(says("translation", "pairs.tsv", "width: [\n").find("not valid YAML"), std::string::npos);
  EXPECT_NE(says("translation", "missing.tsv", "").find("missing.tsv"), std::string::npos);
  EXPECT_NE(says("translation", "tagged.conll", "").find("no good line"), std::string::npos);
  EXPECT_NE(says("translation", "pairs.tsv", "hold_out: 0\n").find("none is left to validate on"), std::string::npos);
  EXPECT_NE(says("translation", "pairs.tsv", "test: 60\nhold_out: 40\n").find("less than 100"), std::string::npos);
  EXPECT_NE(says("translation", "pairs.tsv", "heads: 3\n").find("heads"), std::string::npos);
  EXPECT_NE(says("tagging", "tagged.conll", "tokenizer: bytes\n").find("expected words"), std::string::npos);
  std::string one;
  for (int i = 0; i < 50; ++i) one += "text " + std::to_string(i) + "\tgood\n";
  write_text(folder_ / "one.tsv", one);
  EXPECT_NE(says("classification", "one.tsv", "").find("'good' alone"), std::string::npos);
  EXPECT_NE(says("classification", "labelled.tsv", "names: [bad]\n").find("as 0=negative"), std::string::npos);
}

TEST_F(Recipes, TestExamplesAreNeverLearnedFrom) {
  std::unique_ptr<Recipe> r = recipe("translation", "pairs.tsv", "test: 10\nhold_out: 10\nvalidate_on: 7\n");
  const Examples byText = r->read();
  EXPECT_EQ(byText.validation.size(), 7u);
  EXPECT_GT(byText.test.size(), 10u);
  for (int64_t i : byText.test) EXPECT_LT(bucket_of(byText.data[i].source), 10);
  for (int64_t i : byText.training) EXPECT_GE(bucket_of(byText.data[i].source), 20);
  r = recipe("classification", "labelled.tsv", "test_every: 10\n");
  const Examples byLine = r->read();
  ASSERT_EQ(byLine.test.size(), 20u);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(byLine.test[i], static_cast<int64_t>(10 * i + 9));
}

}  // namespace
}  // namespace fovea
