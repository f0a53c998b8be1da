// Language models learn from texts, and their losses are those of float64 sums over what the stored model says.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "fovea/base/file.h"
#include "fovea/generate/continue.h"
#include "fovea/generate/fill.h"
#include "fovea/models/zoo.h"
#include "fovea/train/prepare.h"
#include "fovea/train/toy_data.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

class LanguageTraining : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    write_text(folder_ / "text.txt", toy_text(400));
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::unique_ptr<Recipe> recipe(const std::string& task, const std::string& yaml) const {
    auto r = std::make_unique<Recipe>(
        read_recipe("task: " + task + "\ndata: " + (folder_ / "text.txt").string() + "\n" + yaml, "recipe.yaml"));
    r->output = (folder_ / "model").string();
    return r;
  }
  std::vector<Score> trained(Recipe& r) const {
    std::vector<Score> scores;
    const std::unique_ptr<Trainee> trainee = prepare(r, {});
    train(*trainee, r.trainer, {.folder = r.output, .progress = [&](const Progress& p) {
                                  if (!p.scores.empty()) scores = p.scores;
                                }});
    return scores;
  }
  // log p of each token but the first, from logits that are computed for each window alone, in float64.
  static double sum_of_logs(const Pretrained& p, const std::vector<int64_t>& ids, int64_t context) {
    double sum = 0;
    for (size_t begin = 0; begin + 1 < ids.size(); begin += static_cast<size_t>(context)) {
      const size_t end = std::min(begin + static_cast<size_t>(context), ids.size() - 1);
      const std::vector<int64_t> row(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                     ids.begin() + static_cast<std::ptrdiff_t>(end));
      const Tensor logits =
          p.as<Generator>().logits({}, tensor({1, static_cast<int64_t>(row.size())}, row), {}).squeeze(0);
      for (size_t i = 0; i < row.size(); ++i) {
        const std::vector<float> numbers =
            logits.slice(0, static_cast<int64_t>(i), static_cast<int64_t>(i) + 1).contiguous().values<float>();
        double all = 0;
        for (float x : numbers) all += std::exp(double{x});
        sum += double{numbers[static_cast<size_t>(ids[begin + i + 1])]} - std::log(all);
      }
    }
    return sum;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_language_" + std::to_string(getpid()));
};

constexpr const char* training =
    "steps: 150\nwarmup: 10\nlearning_rate: 0.01\nbatch_tokens: 512\nvalidate_every: 0\nvocabulary: 300\n";
constexpr const char* small_gpt2 = "n_embd: 32\nn_layer: 1\nn_head: 2\nn_positions: 24\n";
constexpr const char* small_llama =
    "family: llama\nhidden_size: 32\nintermediate_size: 64\nnum_hidden_layers: 1\nnum_attention_heads: 2\nhead_dim: "
    "16\n"
    "max_position_embeddings: 24\n";

TEST_F(LanguageTraining, IsLearnedWithAnyTokenizerAndTheStoredModelHasTheSameLoss) {
  for (const std::string& yaml :
       {std::string(small_gpt2) + "tokenizer: characters\n", std::string(small_gpt2) + "tokenizer: byte-bpe\n",
        std::string(small_llama) + "tokenizer: bytes\n", std::string(small_llama) + "tokenizer: words\n",
        std::string("family: transformer-decoder\nwidth: 32\nheads: 2\nhidden: 64\nlayers: 1\ncontext: 24\ndropout: "
                    "0\nbatch_tokens: 256\ntokenizer: unigram\nvocabulary: 40\n")}) {
    const bool decoder = yaml.starts_with("family: transformer-decoder");
    const std::unique_ptr<Recipe> r = recipe(
        "language", yaml + (decoder ? "steps: 150\nwarmup: 10\nlearning_rate: 0.01\nvalidate_every: 0\n" : training));
    const std::vector<Score> scores = trained(*r);
    ASSERT_EQ(scores.size(), 3u) << yaml;
    EXPECT_EQ(scores[0].name, "loss");
    EXPECT_NEAR(scores[1].value, std::exp(scores[0].value), 1e-9);
    EXPECT_LT(scores[2].value, 1.2) << yaml << "bits of each byte of 'one two three four …'";
    const Pretrained model = load_pretrained(find_model(r->output));
    const Examples examples = r->read();
    ASSERT_EQ(examples.validation.size(), 1u);
    const std::string text = examples.data[examples.validation[0]].source;
    const std::vector<int64_t> ids = prompt_ids(model.as<Generator>(), *model.tokenizer, text);
    const double sum = sum_of_logs(model, ids, 24);
    EXPECT_NEAR(scores[0].value, -sum / static_cast<double>(ids.size() - 1), 1e-5) << yaml;
    EXPECT_NEAR(scores[2].value, -sum / std::log(2.0) / static_cast<double>(text.size()), 1e-5) << yaml;
    const Predictions p = r->task().predict(model, examples.data, examples.validation, {});
    EXPECT_NEAR(r->task().score(p)[0].value, scores[0].value, 1e-5) << yaml;
    fs::remove_all(r->output);
  }
}

TEST_F(LanguageTraining, WhatItWritesGoesOnAsTheTextDoes) {
  const std::unique_ptr<Recipe> r = recipe("language", std::string(small_gpt2) + "tokenizer: byte-bpe\n" + training);
  trained(*r);
  const Pretrained model = load_pretrained(find_model(r->output));
  const GenerationConfig stored = read_generation_config(model.folder);
  EXPECT_TRUE(stored.sample);
  EXPECT_EQ(stored.end_ids, (std::vector<int64_t>{0}));
  const auto found = continue_texts(model.as<Generator>(), *model.tokenizer, {"three four five"}, {.max_length = 12});
  EXPECT_TRUE(found[0][0].text.starts_with(" six seven eight")) << found[0][0].text;
}

TEST_F(LanguageTraining, DocumentsOfEveryKindAreReadAndDivided) {
  write_text(folder_ / "text.txt", "one\n\ntwo\nthree\n\nfour five\n");
  const auto read = [&](const std::string& yaml) {
    const Examples e = recipe("language", yaml)->read();
    std::vector<std::string> texts;
    for (int64_t i = 0; i < e.data.size(); ++i) texts.push_back(e.data[i].source);
    return texts;
  };
  EXPECT_EQ(read("hold_out: 0\n"), (std::vector<std::string>{"one\n\ntwo\nthree\n\nfour five\n"}));
  EXPECT_EQ(read("hold_out: 0\ndocuments: paragraphs\n"), (std::vector<std::string>{"one", "two\nthree", "four five"}));
  EXPECT_EQ(read("hold_out: 0\ndocuments: lines\n"), (std::vector<std::string>{"one", "two", "three", "four five"}));
  const std::vector<std::string> parts = read("hold_out: 20\ntest: 20\n");  // of 26 bytes: 15 (60 %), 20 (80 %)
  EXPECT_EQ(parts, (std::vector<std::string>{"one\n\ntwo\nthree\n", "\nfour", " five\n"}));
  write_text(folder_ / "stories.jsonl", "{\"text\": \"a\\nb\"}\n{\"text\": \"c\"}\n");
  const Examples json =
      read_examples({.data = {(folder_ / "stories.jsonl").string()}, .hold_out = 0}, {.kind = ExampleKind::documents});
  ASSERT_EQ(json.data.size(), 2);
  EXPECT_EQ(json.data[0].source, "a\nb");
}

// Every row is the same, so that each place tells its word.
TEST_F(LanguageTraining, MaskedWordsAreLearnedAndFilled) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "one two three four five six seven eight nine\n";
  write_text(folder_ / "text.txt", text);
  const std::unique_ptr<Recipe> r = recipe(
      "masked",
      "hidden_size: 32\nnum_attention_heads: 2\nnum_hidden_layers: 1\nintermediate_size: 64\nmax_position_embeddings: "
      "11\nhidden_dropout_prob: 0\nattention_probs_dropout_prob: 0\nvocabulary: 100\nsteps: 150\nwarmup: "
      "10\nlearning_rate: 0.01\nbatch_tokens: 512\nvalidate_every: 0\n");
  const std::vector<Score> scores = trained(*r);
  EXPECT_EQ(scores[0].name, "loss");
  EXPECT_LT(scores[0].value, 0.2);
  const Pretrained model = load_pretrained(find_model(r->output));
  const Filled filled =
      fill(model.as<GapFiller>(), *model.tokenizer, {"One two three four [MASK] six seven eight nine"})[0];
  EXPECT_EQ(filled.gaps[0].choices[0].token, "five");
  const Examples examples = r->read();
  const Predictions p = r->task().predict(model, examples.data, examples.validation, {});
  EXPECT_NEAR(r->task().score(p)[0].value, scores[0].value, 1e-5) << "the same tokens are hidden in every validation";
}

}  // namespace
}  // namespace fovea
