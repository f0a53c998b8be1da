// Models that know something already learn more: whole, in part, or by additions beside them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/data/text/sentencepiece.h"
#include "fovea/formats/matrix_text.h"
#include "fovea/generate/classify.h"
#include "fovea/generate/tag.h"
#include "fovea/generate/translate.h"
#include "fovea/models/adapter_folder.h"
#include "fovea/models/zoo.h"
#include "fovea/nn/golden.h"
#include "fovea/train/frozen.h"
#include "fovea/train/prepare.h"
#include "fovea/train/toy_data.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

// A BERT without a head, and a vocabulary of the toys' words.
class FineTuned : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    write_text(folder_ / "labelled.tsv", toy_labelled(200));
    write_text(folder_ / "tagged.conll", toy_conll(200));
    write_text(folder_ / "pairs.tsv", toy_pairs(300));
    // The film's verdict as a number, and which of two words a text has.
    std::string numbers, sets;
    for (const std::string& line : split_text(toy_labelled(200), '\n')) {
      if (line.empty()) continue;
      const size_t tab = line.find('\t');
      numbers += line.substr(0, tab) + (line.ends_with("good") ? "\t2\n" : "\t-1\n");
      const bool is_long = line.find("long") != std::string::npos, great = line.ends_with("good");
      sets += line.substr(0, tab) + "\t" + (great ? "liked" : "") + (great && is_long ? "|" : "") +
              (is_long ? "long" : "") + "\n";
    }
    write_text(folder_ / "numbers.tsv", numbers), write_text(folder_ / "sets.tsv", sets);
    write_body();
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write_body() const {
    std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n.\n";
    for (const char* word : {"the",      "film",  "book", "meal",  "song",      "hotel", "was",    "and",   "long",
                             "short",    "new",   "old",  "loud",  "wonderful", "great", "lovely", "awful", "boring",
                             "terrible", "anna",  "ben",  "clara", "david",     "berg",  "stone",  "vale",  "visited",
                             "left",     "loves", "os",   "##lo",  "paris",     "rome",  "lima"})
      vocabulary += std::string(word) + "\n";
    const std::unique_ptr<ModelConfig> config = find<Family>("bert").config();
    from_json(R"({"architectures": ["BertModel"], "vocab_size": 40, "hidden_size": 16, "num_attention_heads": 2,
                  "num_hidden_layers": 2, "intermediate_size": 32, "max_position_embeddings": 24,
                  "hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0})",
              *config, "config.json");
    const std::unique_ptr<Model> model = config->make();
    initialise(*model, Random(3));
    save_model(folder_ / "body", *model);
    write_text(folder_ / "body" / "vocab.txt", vocabulary);
    write_text(folder_ / "body" / "tokenizer_config.json",
               R"({"do_lower_case": true, "tokenizer_class": "BertTokenizer"})");
  }

  static std::string with_steps(int steps) {
    return fmt::format(
        "steps: {}\nwarmup: 5\nbatch_tokens: 400\nvalidate_every: 0\ncheckpoint_every: 0\nlearning_rate: "
        "0.01\nhold_out: "
        "20\n",
        steps);
  }

  std::unique_ptr<Recipe> recipe(const std::string& task, const std::string& file, const std::string& yaml,
                                 const std::string& from = "body", const std::string& to = "model") const {
    const std::string text = fmt::format("task: {}\nfamily: bert\ndata: {}\nfrom: {}\n{}", task,
                                         (folder_ / file).string(), (folder_ / from).string(), yaml);
    auto r = std::make_unique<Recipe>(read_recipe(text, "recipe.yaml"));
    r->output = (folder_ / to).string();
    return r;
  }
  TrainingResult trained(Recipe& r, std::vector<std::string>* said = nullptr) const {
    const std::unique_ptr<Trainee> trainee = prepare(r, {.resumed = {}, .say = [&](const std::string& line) {
                                                           if (said) said->push_back(line);
                                                         }});
    return train(*trainee, r.trainer, {.folder = r.output});
  }
  std::string says(const std::string& task, const std::string& file, const std::string& yaml,
                   const std::string& from = "body") const {
    try {
      prepare(*recipe(task, file, yaml, from), {});
    } catch (const Error& e) {
      return e.what();
    }
    return "no Error";
  }
  NamedTensors tensors(const std::string& name) const {
    return SafeTensors(folder_ / name / "model.safetensors").tensors();
  }

  NamedTensors checkpoint() const { return SafeTensors(folder_ / "model/last/training.safetensors").tensors(); }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_fine_tuning_" + std::to_string(getpid()));
};

bool contains(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& l) { return l.find(text) != std::string::npos; });
}

TEST_F(FineTuned, ABodyGetsTheHeadThatTheTaskNeedsAndKeepsItsTokenizer) {
  std::vector<std::string> said;
  const std::unique_ptr<Recipe> r = recipe("classification", "labelled.tsv", with_steps(60));
  EXPECT_GT(trained(*r, &said).best->value, 0.95);
  EXPECT_TRUE(contains(said, "weights that begin anew: bert.pooler.dense.bias, bert.pooler.dense.weight, classifier"));
  EXPECT_TRUE(contains(said, "fine-tuning: learning rate 0.01"));
  const Pretrained model = load_pretrained(find_model(r->output));
  const auto config = nlohmann::json::parse(model.model->config());
  EXPECT_EQ(config["architectures"], nlohmann::json({"BertForSequenceClassification"}));
  EXPECT_EQ(config["id2label"], nlohmann::json({{"0", "bad"}, {"1", "good"}}));
  EXPECT_FALSE(config.contains("classifier_dropout"));
  EXPECT_EQ(read_text(folder_ / "body/vocab.txt"), read_text(model.folder / "vocab.txt"));
  EXPECT_EQ(read_text(folder_ / "body/tokenizer_config.json"), read_text(model.folder / "tokenizer_config.json"));
  const Classified c = classify(model.as<TextLabeller>(), *model.tokenizer, {"the song was old and lovely"})[0];
  EXPECT_EQ(model.as<TextLabeller>().labels().names()[c.best], "good");
  // The same labels again: the head is kept. Others: it begins anew.
  said.clear();
  trained(
      *recipe("classification", "labelled.tsv", "steps: 1\nlearning_rate: 0\nvalidate_every: 0\n", "model", "again"),
      &said);
  EXPECT_FALSE(contains(said, "anew"));
  EXPECT_TRUE(same_bits(tensors("again/best").at("classifier.weight"), tensors("model/best").at("classifier.weight")));
  said.clear();
  const std::unique_ptr<Recipe> other =
      recipe("classification", "labelled.tsv", "names: [bad=poor]\nsteps: 1\nvalidate_every: 0\n", "model", "other");
  trained(*other, &said);
  EXPECT_TRUE(contains(said, "weights that begin anew: classifier.bias, classifier.weight"));
  EXPECT_EQ(load_pretrained(find_model(other->output)).as<TextLabeller>().labels().names(),
            (std::vector<std::string>{"good", "poor"}));
}

TEST_F(FineTuned, FineTuningBeginsWithItsOwnDefaults) {
  const std::unique_ptr<Recipe> r = recipe("classification", "labelled.tsv", "");
  EXPECT_EQ(r->trainer.optimiser.learning_rate, 5e-5);
  EXPECT_EQ(r->trainer.schedule.kind, "linear");
  prepare(*r, {});
  EXPECT_EQ(r->trainer.epochs, 3);
  const std::unique_ptr<Recipe> said = recipe("classification", "labelled.tsv", "steps: 100\n");
  prepare(*said, {});
  EXPECT_EQ(said->trainer.epochs, 0);
  EXPECT_GT(r->trainer.schedule.decay_steps, 0);
  EXPECT_EQ(recipe("classification", "labelled.tsv", "lora: 2\n")->trainer.optimiser.learning_rate, 3e-4);
}

TEST_F(FineTuned, NumbersAndSeveralLabelsAreLearned) {
  const std::unique_ptr<Recipe> number =
      recipe("classification", "numbers.tsv", std::string("labelling: number\n") + with_steps(60));
  EXPECT_GT(trained(*number).best->value, 0.9);
  const Pretrained measured = load_pretrained(find_model(number->output));
  EXPECT_NEAR(classify(measured.as<TextLabeller>(), *measured.tokenizer, {"the film was great"})[0].probabilities[0], 2,
              0.5);
  EXPECT_EQ(nlohmann::json::parse(measured.model->config())["problem_type"], "regression");
  const std::unique_ptr<Recipe> several =
      recipe("classification", "sets.tsv", std::string("labelling: several\nlabel_separator: '|'\n") + with_steps(60),
             "body", "several");
  EXPECT_GT(trained(*several).best->value, 0.6);
  const Pretrained model = load_pretrained(find_model(several->output));
  EXPECT_EQ(nlohmann::json::parse(model.model->config())["problem_type"], "multi_label_classification");
}

TEST_F(FineTuned, WordsAreTaggedByTheirFirstTokensInWindowsToo) {
  const std::unique_ptr<Recipe> r = recipe("tagging", "tagged.conll", with_steps(120));
  EXPECT_GT(trained(*r).best->value, 90);
  const Pretrained model = load_pretrained(find_model(r->output));
  Sentence words;
  for (int i = 0; i < 12; ++i) words.insert(words.end(), {"Anna", "Berg", "visited", "Oslo", "."});
  const Tagged t = tag(model, {words})[0];  // of more tokens than there are positions
  ASSERT_EQ(t.labels.size(), 60u);
  EXPECT_EQ(t.labels[0], "B-PER");
  EXPECT_EQ(t.labels[1], "I-PER");
  EXPECT_EQ(t.labels[3], "B-LOC");
  for (const std::string& label : t.labels) EXPECT_FALSE(label.empty());
  std::string longer;
  for (const std::string& word : words)
    longer += word + (word == "Anna" ? " B-PER\n" : word == "Berg" ? " I-PER\n" : word == "Oslo" ? " B-LOC\n" : " O\n");
  write_text(folder_ / "long.conll", longer + "\n" + longer + "\nAnna B-PER\nleft O\n\n");
  const std::unique_ptr<Recipe> windows =
      recipe("tagging", "long.conll", "steps: 2\nwarmup: 1\nvalidate_every: 0\nhold_out: 40\n", "model", "windows");
  std::vector<std::string> said;
  trained(*windows, &said);
  EXPECT_FALSE(contains(said, "left out"));
}

TEST_F(FineTuned, WhatIsFrozenKeepsItsBitsAndHasNoState) {
  const std::unique_ptr<Recipe> r =
      recipe("classification", "labelled.tsv", std::string("freeze: ['1']\n") + with_steps(60));
  trained(*r);
  const NamedTensors before = tensors("body"), after = tensors("model/best");
  int kept = 0, changed = 0;
  for (const auto& [name, numbers] : before) {
    const bool frozen = name.starts_with("embeddings.") || name.starts_with("encoder.layer.0.");
    EXPECT_EQ(frozen, same_bits(numbers, after.at("bert." + name))) << name;
    ++(frozen ? kept : changed);
  }
  EXPECT_GT(kept, 10);
  EXPECT_GT(changed, 10);
  for (const auto& [name, state] : checkpoint()) EXPECT_EQ(name.find("embeddings"), std::string::npos) << name;
}

TEST_F(FineTuned, PatternsNameWhatIsFrozen) {
  const std::unique_ptr<Model> model = load_model(folder_ / "body", {.learns = true});
  const Frozen some({"embeddings,encoder.layer.0-0"}, *model), layers({"1"}, *model);
  EXPECT_TRUE(some("embeddings.word_embeddings.weight") && layers("embeddings.word_embeddings.weight"));
  EXPECT_TRUE(some("encoder.layer.0.output.dense.bias") && layers("encoder.layer.0.output.dense.bias"));
  EXPECT_FALSE(some("encoder.layer.1.output.dense.bias") || layers("encoder.layer.1.output.dense.bias"));
  EXPECT_THROW(Frozen({"decoder"}, *model), Error);
  EXPECT_THROW(Frozen({"embed"}, *model), Error);
  EXPECT_THROW(Frozen({"embeddings", "encoder"}, *model), Error);
}

std::vector<double> probabilities(const Pretrained& model) {
  return classify(model.as<TextLabeller>(), *model.tokenizer, {"the song was old and lovely"})[0].probabilities;
}

TEST_F(FineTuned, AdditionsLearnAndAreOneModelWithTheirBase) {
  std::vector<std::string> said;
  const std::unique_ptr<Recipe> r =
      recipe("classification", "labelled.tsv",
             std::string("lora: 4\nlora_dropout: 0.05\nlora_targets: [all-linear]\n") + with_steps(300));
  EXPECT_GT(trained(*r, &said).best->value, 0.95);
  EXPECT_TRUE(contains(said, "low-rank additions to 12 matrices"));
  const fs::path found = find_model(r->output);
  ASSERT_TRUE(is_adapter(found));
  EXPECT_FALSE(path_exists(found / "model.safetensors"));
  const Pretrained model = load_pretrained(found), learning = load_pretrained(found, {.learns = true});
  EXPECT_EQ(model.as<TextLabeller>().labels().names(), (std::vector<std::string>{"bad", "good"}));
  EXPECT_GT(probabilities(model)[1], 0.9);
  EXPECT_NEAR(probabilities(model)[1], probabilities(learning)[1], 1e-5);
  // What is merged and saved answers the same.
  save_model(folder_ / "merged", *learning.model);
  model.tokenizer->save(folder_ / "merged");
  EXPECT_NEAR(probabilities(load_pretrained(folder_ / "merged"))[1], probabilities(model)[1], 1e-6);
  // Only the additions and the head have moments.
  int64_t moments = 0;
  for (const auto& [name, state] : checkpoint())
    if (name.starts_with("optimiser.first.")) moments += state.elements();
  EXPECT_EQ(moments, 2 * 4 * (4 * 16 + 16 * 4) + 2 * 2 * 4 * (16 + 32) + 16 * 16 + 16 + 2 * 16 + 2);
}

TEST_F(FineTuned, ResumedAdditionsHaveTheBitsOfAnUninterruptedTraining) {
  const auto yaml = [](int steps) {
    return fmt::format(
        "lora: 2\nlora_dropout: 0.2\nlora_targets: [query, 'output.dense']\nsteps: {}\ndecay_steps: 12\nwarmup: "
        "2\nbatch_tokens: 400\nvalidate_every: 6\ncheckpoint_every: 6\nlearning_rate: 0.01\nhold_out: 20\n",
        steps);
  };
  trained(*recipe("classification", "labelled.tsv", yaml(12), "body", "whole"));
  trained(*recipe("classification", "labelled.tsv", yaml(6), "body", "parts"));
  const std::unique_ptr<Recipe> r = recipe("classification", "labelled.tsv", yaml(12), "body", "parts");
  const std::unique_ptr<Trainee> trainee = prepare(*r, {.resumed = folder_ / "parts/last"});
  train(*trainee, r->trainer, {.folder = r->output, .resume = true});
  const NamedTensors whole = SafeTensors(folder_ / "whole/last/adapter_model.safetensors").tensors(),
                     parts = SafeTensors(folder_ / "parts/last/adapter_model.safetensors").tensors();
  ASSERT_EQ(whole.size(), parts.size());
  for (const auto& [name, numbers] : whole) EXPECT_TRUE(same_bits(numbers, parts.at(name))) << name;
}

// Of one pair, word by word, behind the id that the model begins to write with.
double loss_of(const Pretrained& p) {
  const std::vector<int64_t> read = source_ids(*p.tokenizer, p.tokenizer->encode("seven two"));
  std::vector<int64_t> wanted = source_ids(*p.tokenizer, p.tokenizer->encode("sieben zwei")), given = wanted;
  given.insert(given.begin(), p.as<Generator>().special_ids().bos), given.pop_back();
  const auto count = static_cast<int64_t>(wanted.size());
  const Source source = {tensor({1, static_cast<int64_t>(read.size())}, read),
                         tensor({1}, std::vector<int64_t>{static_cast<int64_t>(read.size())})};
  return p.as<Generator>().loss(source, tensor({1, count}, given), tensor({1, count}, wanted), {}, {}).item();
}

// Each begins to write with the id that its config names, and its generation_config.json stays what it was.
TEST_F(FineTuned, TranslatorsOfOthersGoOnLearning) {
  const SentencePiece pieces =
      SentencePiece::train(lines_of({(folder_ / "pairs.tsv").string()}), {.vocabulary = 60, .byte_fallback = false});
  const std::string sizes = R"("d_model": 32, "dropout": 0, "dropout_rate": 0, "pad_token_id": 0, "eos_token_id": 2)";
  for (const auto& [family, config] :
       {std::pair{"t5", R"("d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 2, "decoder_start_token_id": 0)"},
        {"marian",
         R"("encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
                     "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "decoder_start_token_id": 0)"},
        {"bart",
         R"("encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
                   "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "decoder_start_token_id": 2, "bos_token_id": 1)"}}) {
    const std::unique_ptr<ModelConfig> fields = find<Family>(family).config();
    from_foreign_json(fmt::format("{{\"vocab_size\": {}, {}, {}}}", pieces.size(), sizes, config), *fields, family);
    const std::unique_ptr<Model> model = fields->make();
    initialise(*model, Random(3));
    save_model(folder_ / family, *model);
    pieces.save(folder_ / family);
    write_text(folder_ / family / "generation_config.json", R"({"num_beams": 2, "max_length": 40})");
    const std::string text = fmt::format(
        "task: translation\nfamily: {}\ndata: {}\nfrom: {}\nsteps: 250\nwarmup: 20\nbatch_tokens: 600\nvalidate_every: "
        "0\n"
        "learning_rate: 0.003\nlabel_smoothing: 0\nhold_out: 10\n",
        family, (folder_ / "pairs.tsv").string(), (folder_ / family).string());
    Recipe r = read_recipe(text, "recipe.yaml");
    r.output = (folder_ / "trained").string();
    const double before = loss_of(load_pretrained(folder_ / family, {.learns = true}));
    trained(r);
    const Pretrained learned = load_pretrained(find_model(r.output));
    EXPECT_LT(loss_of(learned), before / 2) << family;
    EXPECT_EQ(read_generation_config(learned.folder).beam_size, 2);
    fs::remove_all(r.output);
  }
}

TEST_F(FineTuned, WhatIsWrongIsSaid) {
  EXPECT_NE(says("classification", "labelled.tsv", "lora: 2\nlora_targets: [qery]\n").find("did you mean 'query'"),
            std::string::npos);
  EXPECT_NE(says("classification", "labelled.tsv", "lora: 17\n").find("at most 16"), std::string::npos);
  EXPECT_NE(says("classification", "labelled.tsv", "lora: -1\n").find("1 or more"), std::string::npos);
  EXPECT_NE(says("classification", "labelled.tsv", "lora: 2\nfreeze: ['1']\n").find("--freeze"), std::string::npos);
  EXPECT_NE(says("classification", "labelled.tsv", "freeze: [nothing]\n").find("'nothing'"), std::string::npos);
  EXPECT_NE(says("classification", "labelled.tsv", "", "no-such-folder").find("no-such-folder"), std::string::npos);
  // A model that cannot learn the task, whatever its head.
  const auto other = [&](const std::string& task, const std::string& family) {
    try {
      Recipe r = read_recipe(fmt::format("task: {}\nfamily: {}\ndata: {}\nfrom: {}\n", task, family,
                                         (folder_ / "pairs.tsv").string(), (folder_ / "body").string()),
                             "recipe.yaml");
      prepare(r, {});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no Error");
  };
  EXPECT_NE(other("translation", "transformer").find("a model of family bert, which does not learn translation"),
            std::string::npos)
      << other("translation", "transformer");
  EXPECT_NE(other("translation", "bert").find("'bert'"), std::string::npos);
  // Rounded weights do not learn.
  const std::unique_ptr<Model> packed = load_model(folder_ / "body", {.precision = Precision::int8});
  save_model(folder_ / "packed", *packed, {.packed = true});
  fs::copy_file(folder_ / "body/vocab.txt", folder_ / "packed/vocab.txt");
  EXPECT_NE(says("classification", "labelled.tsv", "", "packed").find("packed as int8"), std::string::npos);
}

}  // namespace
}  // namespace fovea
