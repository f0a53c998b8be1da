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

// A recipe's text with another value for a key that it has.
std::string with(std::string yaml, const std::string& key, const std::string& value) {
  const size_t at = yaml.find(key + ": ") + key.size() + 2;
  return yaml.replace(at, yaml.find('\n', at) - at, value);
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
    const auto found =
        translate(model.as<Generator>(), *model.tokenizer, {"three one nine", "", "two"}, config, {.attention = true});
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

// With steps to spare: the bits, and so the way there, differ from one instruction set to the other.
TEST_F(Recipes, TranslationIsLearnedInBf16) {
  for (const char* yaml : {small_transformer, small_seq2seq}) {
    const std::unique_ptr<Recipe> r =
        recipe("translation", "pairs.tsv", with(yaml, "steps", "400") + "precision: bf16\n");
    EXPECT_GT(trained(*r).best->value, 90) << r->family_name();
    fs::remove_all(r->output);
  }
  EXPECT_NE(error_of([&] { recipe("translation", "pairs.tsv", "precision: int8\n"); }).find("f32 or bf16"),
            std::string::npos);
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

constexpr const char* small_bert =
    "hidden_size: 16\nnum_attention_heads: 2\nnum_hidden_layers: 1\nintermediate_size: 32\n"
    "max_position_embeddings: 64\nhidden_dropout_prob: 0\nattention_probs_dropout_prob: 0\nvocabulary: 100\n"
    "steps: 100\nwarmup: 5\nbatch_tokens: 400\nvalidate_every: 0\naverage: 0\nlearning_rate: 0.01\nhold_out: 20\n";

// The head is the one that the task needs, under the name that Hugging Face gives it; the vocabulary frames a text.
TEST_F(Recipes, BertLearnsFromNothingWithTheHeadThatTheTaskNeeds) {
  for (const auto& [family, architecture] :
       {std::pair{"bert", "BertForSequenceClassification"}, {"xlm-roberta", "XLMRobertaForSequenceClassification"}}) {
    const std::unique_ptr<Recipe> r =
        recipe("classification", "labelled.tsv", fmt::format("family: {}\n{}", family, small_bert));
    EXPECT_GT(trained(*r).best->value, 0.95) << family;
    const Pretrained model = load_pretrained(find_model(r->output));
    EXPECT_NE(model.model->config().find(architecture), std::string::npos) << model.model->config();
    EXPECT_NE(model.model->config().find("single_label_classification"), std::string::npos);
    EXPECT_EQ(model.as<TextLabeller>().labels().names(), (std::vector<std::string>{"bad", "good"}));
    const Tokens tokens = model.tokenizer->frame(model.tokenizer->encode("The awful film"));
    EXPECT_EQ(model.tokenizer->piece(tokens.ids.front()), "[CLS]");
    EXPECT_EQ(model.tokenizer->piece(tokens.ids.back()), "[SEP]");
    EXPECT_EQ(model.tokenizer->piece(model.tokenizer->special().mask), "[MASK]");
    EXPECT_EQ(model.tokenizer->decode(tokens.ids), "the awful film");
    const Classified c = classify(model.as<TextLabeller>(), *model.tokenizer, {"the song was old and lovely"})[0];
    EXPECT_EQ(model.as<TextLabeller>().labels().names()[c.best], "good");
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

constexpr const char* small_counts =
    "family: bag-of-words\nsteps: 150\nwarmup: 5\nvalidate_every: 0\naverage: 0\nhold_out: 20\nlearning_rate: 0.05\n";

TEST_F(Recipes, SeveralLabelsAreLearned) {
  ToyWords words(3);
  std::string lines;
  for (int i = 0; i < 200; ++i) {
    const bool loud = words.below(2) == 1, long_one = words.below(2) == 1;
    std::string labels = loud ? "\"loud\"" : "";
    if (long_one) labels += labels.empty() ? "\"long\"" : ", \"long\"";
    lines += fmt::format("{{\"text\": \"a {} and {} song of {}\", \"labels\": [{}]}}\n", loud ? "noisy" : "calm",
                         long_one ? "lengthy" : "brief", i, labels);
  }
  write_text(folder_ / "several.jsonl", lines);
  const std::unique_ptr<Recipe> r =
      recipe("classification", "several.jsonl", std::string(small_counts) + "labelling: several\n");
  const TrainingResult result = trained(*r);
  ASSERT_EQ(result.best->name, "micro_f1");
  EXPECT_GT(result.best->value, 0.95);
  const Pretrained model = load_pretrained(find_model(r->output));
  const auto found =
      classify(model.as<TextLabeller>(), *model.tokenizer, {"a noisy and lengthy song", "a calm and brief song"});
  EXPECT_EQ(found[0].chosen().size(), 2u);
  EXPECT_TRUE(found[1].chosen().empty());
}

TEST_F(Recipes, NumbersAreLearned) {
  ToyWords words(4);
  std::string lines = "text,score\n";
  for (int i = 0; i < 300; ++i) {
    const size_t stars = words.below(5);
    lines +=
        fmt::format("a {} film {},{}\n", std::vector<std::string>{"terrible", "poor", "fair", "good", "superb"}[stars],
                    i % 7, 100 + 10 * stars);
  }
  write_text(folder_ / "scores.csv", lines);
  const std::unique_ptr<Recipe> r =
      recipe("classification", "scores.csv", std::string(small_counts) + "labelling: number\n");
  const TrainingResult result = trained(*r);
  ASSERT_EQ(result.best->name, "pearson");
  EXPECT_GT(result.best->value, 0.95);
  const Pretrained model = load_pretrained(find_model(r->output));
  const Classified c = classify(model.as<TextLabeller>(), *model.tokenizer, {"a superb film"})[0];
  EXPECT_NEAR(c.probabilities.at(0), 140, 8);
}

TEST_F(Recipes, PairsOfTextsAreLearned) {
  ToyWords words(5);
  const std::vector<std::string> colours = {"red", "green", "blue"};
  std::string lines = "text\ttext_b\tlabel\n";
  for (int i = 0; i < 300; ++i) {
    const size_t a = words.below(3), b = words.below(2) == 1 ? a : words.below(3);
    lines += fmt::format("the {} door {}\tit is {}\t{}\n", colours[a], i % 9, colours[b], a == b ? "same" : "other");
  }
  write_text(folder_ / "pairs_of_texts.tsv", lines);
  const std::unique_ptr<Recipe> r =
      recipe("classification", "pairs_of_texts.tsv",
             "embedding: 16\nwidth: 16\ndropout: 0\nword_dropout: 0\nsteps: 200\nwarmup: 5\nbatch_tokens: 400\n"
             "validate_every: 0\naverage: 0\nlearning_rate: 0.02\nhold_out: 20\n");
  EXPECT_GT(trained(*r).best->value, 0.95);
  const Pretrained model = load_pretrained(find_model(r->output));
  EXPECT_TRUE(model.as<TextLabeller>().pairs());
  const auto found =
      classify(model.as<TextLabeller>(), *model.tokenizer, {"the red door\tit is red", "the red door\tit is blue"});
  EXPECT_EQ(model.as<TextLabeller>().labels().names()[found[0].best], "same");
  EXPECT_EQ(model.as<TextLabeller>().labels().names()[found[1].best], "other");
}

// Of 300 texts 10 are rare, and nothing in a text tells: without weights the frequent label is always the better answer.
TEST_F(Recipes, BalancedLabelsCountTheSame) {
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += fmt::format("word {}\t{}\n", i, i % 30 == 7 ? "rare" : "usual");
  write_text(folder_ / "unequal.tsv", lines);
  for (const bool balance : {false, true}) {
    const std::unique_ptr<Recipe> r =
        recipe("classification", "unequal.tsv",
               std::string(small_counts) + "vocabulary: 5\n" + (balance ? "balance: true\n" : ""));
    const TrainingResult result = trained(*r);
    EXPECT_EQ(result.best->name, balance ? "macro_f1" : "accuracy");
    const Pretrained model = load_pretrained(find_model(r->output));
    const double rare = classify(model.as<TextLabeller>(), *model.tokenizer, {"word"})[0].probabilities.at(0);
    if (balance)
      EXPECT_NEAR(rare, 0.5, 0.15);
    else
      EXPECT_LT(rare, 0.15);
    fs::remove_all(r->output);
  }
}

TEST_F(Recipes, ATrainingGoesOnFromAModel) {
  const std::unique_ptr<Recipe> first = recipe("classification", "labelled.tsv", small_counts);
  trained(*first);
  const fs::path before = folder_ / "first";
  fs::rename(first->output, before);
  const std::unique_ptr<Recipe> r =
      recipe("classification", "labelled.tsv",
             with(with(small_counts, "steps", "1"), "learning_rate", "0") + "from: " + before.string());
  trained(*r);
  const Pretrained one = load_pretrained(find_model(before.string())), two = load_pretrained(find_model(r->output));
  EXPECT_EQ(one.model->config(), two.model->config());
  const NamedTensors a = save(*one.model), b = save(*two.model);
  for (const auto& [name, tensor] : a) EXPECT_EQ(tensor.values<float>(), b.at(name).values<float>()) << name;
  EXPECT_NE(
      error_of([&] { prepare(*recipe("translation", "pairs.tsv", "from: " + before.string()), {}); }).find("family"),
      std::string::npos);
  std::string more;
  for (int i = 0; i < 40; ++i) more += fmt::format("text {}\t{}\n", i, i % 2 == 0 ? "good" : "surprising");
  write_text(folder_ / "new.tsv", more);
  EXPECT_NE(
      error_of([&] {
        prepare(*recipe("classification", "new.tsv", with(small_counts, "hold_out", "40") + "from: " + before.string()),
                {});
      }).find("'surprising'"),
      std::string::npos);
}

TEST_F(Recipes, ATokenizerThatWasLearnedBeforeIsTaken) {
  const Words words = Words::train(lines_of({(folder_ / "labelled.tsv").string()}), {.vocabulary = 25});
  words.save(folder_ / "tokenizer");
  const std::unique_ptr<Recipe> r = recipe(
      "classification", "labelled.tsv", std::string(small_counts) + "tokenizer: " + (folder_ / "tokenizer").string());
  trained(*r);
  EXPECT_EQ(load_pretrained(find_model(r->output)).tokenizer->size(), 25);
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
  const Tagged t =
      tag(model.as<WordLabeller>(), words_of(model), {{"Clara", "Vale", "left", "Rome", "."}}, {.attention = true})[0];
  EXPECT_EQ(t.labels, (std::vector<std::string>{"B-PER", "I-PER", "O", "B-LOC", "O"}));
  EXPECT_EQ(t.attention.shape(), (Shape{5, 5}));
  for (double p : t.probabilities) EXPECT_TRUE(p > 0.5 && p <= 1 + 1e-6);
}

TEST_F(Recipes, TheFolderHoldsWhatUsersExpect) {
  const std::unique_ptr<Recipe> r = recipe("translation", "pairs.tsv",
                                           with(small_transformer, "steps", "2") +
                                               "storage: f16\nweights: int8\nname: Numbers\n"
                                               "license: cc0-1.0\nlanguages: [en, de]\n");
  trained(*r);
  for (const char* file :
       {"config.json", "model.safetensors", "generation_config.json", "vocabulary.json", "README.md"})
    EXPECT_TRUE(fs::exists(fs::path(r->output) / "best" / file)) << file;
  EXPECT_NE(read_text(fs::path(r->output) / "best/config.json").find(R"("weights": "int8")"), std::string::npos);
  const std::string card = read_text(fs::path(r->output) / "best/README.md");
  for (const char* text :
       {"# Numbers", "stored as f16, used as int8", "license: cc0-1.0", "language: [en, de]", "pairs.tsv", "| bleu |"})
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
