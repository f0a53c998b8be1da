// What cannot be learned without copying: names that no vocabulary has.
#include <gtest/gtest.h>
#include <unistd.h>

#include "fovea/base/file.h"
#include "fovea/explain/answer_json.h"
#include "fovea/generate/translate.h"
#include "fovea/train/prepare.h"
#include "fovea/train/toy_data.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

// "give zuqi the red vopa<TAB>vopa for zuqi": both are made up each time.
std::vector<std::pair<std::string, std::string>> made_up(int count, uint64_t seed) {
  ToyWords words(seed);
  auto name = [&] {
    std::string text;
    for (int i = 0; i < 4; ++i) text += words.of({"zu", "qi", "vo", "pa", "xe", "ky", "ju", "wo", "ri", "mo"});
    return text;
  };
  std::vector<std::pair<std::string, std::string>> pairs;
  for (int i = 0; i < count; ++i) {
    const std::string who = name(), what = name();
    const std::string colour = words.of({"", "red ", "blue ", "old "});
    pairs.push_back({"give " + who + " the " + colour + what, what + " for " + who});
  }
  return pairs;
}

class Copying : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    std::string text;
    for (const auto& [source, target] : made_up(600, 1)) text += source + "\t" + target + "\n";
    write_text(folder_ / "pairs.tsv", text);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Pretrained trained(const std::string& yaml) const {
    const std::string text = "task: translation\ndata: " + (folder_ / "pairs.tsv").string() +
                             "\ntokenizer: words\nat_least: 20\nlabel_smoothing: 0\nlearning_rate: 5e-3\nwarmup: 20\n"
                             "batch_tokens: 512\nvalidate_every: 0\nvalidate_on: 20\naverage: 0\n" +
                             yaml;
    Recipe recipe = read_recipe(text, "recipe.yaml");
    recipe.output = (folder_ / "model").string();
    fs::remove_all(recipe.output);
    const std::unique_ptr<Trainee> trainee = prepare(recipe, {});
    train(*trainee, recipe.trainer, {.folder = recipe.output});
    return load_pretrained(folder_ / "model" / "best");
  }
  static int right(const Pretrained& p, const GenerationConfig& config) {
    std::vector<std::string> sources;
    const auto fresh = made_up(50, 2);
    for (const auto& pair : fresh) sources.push_back(pair.first);
    int count = 0;
    const std::vector<Translations> found = translate(p.as<Generator>(), *p.tokenizer, sources, config);
    for (size_t i = 0; i < fresh.size(); ++i) count += found[i].found[0].text == fresh[i].second;
    return count;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_copying_" + std::to_string(getpid()));
};

constexpr const char* recurrent =
    "family: seq2seq\nembedding: 24\nencoder_width: 32\ndecoder_width: 32\ndropout: 0\nsteps: 200\n";
constexpr const char* transformer =
    "family: transformer\nwidth: 32\nheads: 2\nhidden: 64\nencoder_layers: 2\ndecoder_layers: 2\ndropout: 0\nsteps: "
    "300\n";

TEST_F(Copying, ARecurrentDecoderWritesWordsThatItsVocabularyLacks) {
  const Pretrained p = trained(std::string(recurrent) + "pointer: true\ncoverage: true\n");
  ASSERT_LT(p.tokenizer->size(), 12);
  EXPECT_GE(right(p, {.beam_size = 1, .max_length = 10}), 48);
  EXPECT_GE(right(p, {.beam_size = 4, .max_length = 10}), 48);
  EXPECT_GE(right(p, {.sample = true, .max_length = 10}), 40);

  const std::string source = "give Ægir the red Blorp";
  const Translations t =
      translate(p.as<Generator>(), *p.tokenizer, {source}, {.max_length = 10}, {.attention = true})[0];
  EXPECT_EQ(t.found[0].text, "Blorp for Ægir");
  ASSERT_TRUE(t.found[0].copied);
  const std::string json = to_json(source, t);
  EXPECT_NE(json.find(R"("copied":[{"text":"Blorp","span":[0,5]},{"text":"Ægir","span":[10,15]}])"), std::string::npos)
      << json;
}

TEST_F(Copying, ATransformerWritesWordsThatItsVocabularyLacks) {
  EXPECT_GE(right(trained(std::string(transformer) + "pointer: true\n"), {.beam_size = 4, .max_length = 10}), 45);
}

TEST_F(Copying, WithoutAPointerItCannotBeLearned) {
  EXPECT_EQ(right(trained(recurrent), {.beam_size = 4, .max_length = 10}), 0);
}

}  // namespace
}  // namespace fovea
