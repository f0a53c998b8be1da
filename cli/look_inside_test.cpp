// explain --heads, --find-alignment-heads and --word, diff, and --profile, as a user meets them.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/example_folder.h"
#include "fovea/data/text/lines.h"
#include "fovea/explain/alignment_heads.h"
#include "fovea/explain/survey.h"
#include "test_paths.h"

namespace fovea {
namespace {

const std::filesystem::path zoo = std::filesystem::path(test_data) / "../zoo";
const std::filesystem::path by_hand = std::filesystem::path(test_data) / "alignments";

TEST(LookInside, EveryKindOfModelHasItsHeadsNamed) {
  const ExampleFolder folder("heads");
  for (const char* model : {"my-model", "my-classifier", "my-tagger", "my-language-model", "my-encoder"}) {
    const Answer answer = folder.run(fmt::format("explain -m {} --heads --json --svg map.svg", model));
    ASSERT_EQ(answer.code, 0) << model << answer.out;
    const auto json = nlohmann::json::parse(answer.out);
    ASSERT_FALSE(json["heads"].empty()) << model;
    for (const auto& head : json["heads"]) {
      EXPECT_NE(head["name"], "") << model;
      EXPECT_GE(head["entropy"], 0.0) << model;
      EXPECT_LE(head["entropy"], 1.0001) << model;
    }
    EXPECT_NE(read_text(folder / "map.svg").find("<svg"), std::string::npos);
  }
}

TEST(LookInside, AlignmentHeadsAreStoredAndUsed) {
  const ExampleFolder folder("alignment_heads");
  const std::string before = folder.run("translate -m my-model --alignment soft 'The sailor wrote a letter.'").out;
  const Answer found = folder.run("explain -m my-model --find-alignment-heads --data pairs.tsv --json");
  ASSERT_EQ(found.code, 0) << found.out;
  EXPECT_EQ(nlohmann::json::parse(found.out)["candidates"].size(), 2u);
  auto config = nlohmann::json::parse(read_text(folder / "my-model/generation_config.json"));
  EXPECT_FALSE(config.contains("alignment_heads"));
  config["alignment_heads"] = {{0, 1}};
  write_text(folder / "my-model/generation_config.json", config.dump());
  const std::string after = folder.run("translate -m my-model --alignment soft 'The sailor wrote a letter.'").out;
  EXPECT_NE(after, before);
  EXPECT_EQ(after.substr(0, after.find('\t')), before.substr(0, before.find('\t')));
  for (const char* bad : {"[[7, 0]]", "[[0, 2]]", "[[0]]", "[[-1, 0]]", "[3]", "\"x\""}) {
    config["alignment_heads"] = nlohmann::json::parse(bad);
    write_text(folder / "my-model/generation_config.json", config.dump());
    EXPECT_EQ(folder.run("translate -m my-model --alignment 'The sailor.'").code, 2) << bad;
  }
}

TEST(LookInside, ATraceThatCannotBeWrittenIsToldBeforeTheModelRuns) {
  const ExampleFolder folder("no_trace");
  for (const char* command : {"explain -m my-model", "classify -m my-classifier", "translate -m my-model"})
    for (const char* file : {"nowhere/x.safetensors", "."}) {
      const Answer answer = folder.run(fmt::format("{} --trace {} 'The sailor wrote a letter.'", command, file));
      EXPECT_EQ(answer.code, 2) << command;
      EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1) << answer.out;
    }
}

TEST(LookInside, DiffTellsWhereTwoPrecisionsPart) {
  const ExampleFolder folder("diff");
  const Answer same = folder.run("diff my-model my-model 'The sailor wrote a letter.' --json");
  ASSERT_EQ(same.code, 0) << same.out;
  EXPECT_EQ(nlohmann::json::parse(same.out)["first_layer"], "");
  const Answer rounded =
      folder.run("diff my-model 'The sailor wrote a letter.' --weights f32 int8 --tolerance 0 --json");
  ASSERT_EQ(rounded.code, 0) << rounded.out;
  const auto json = nlohmann::json::parse(rounded.out);
  EXPECT_NE(json["first_layer"], "");
  EXPECT_GT(json["heads"][0]["kl"], 0.0);
  for (const char* bad : {"diff", "diff my-model", "diff my-model my-model --weights f32 bf16 int8", "diff none none"})
    EXPECT_EQ(folder.run(bad).code, 2) << bad;
}

TEST(LookInside, AWordIsComparedBetweenTexts) {
  const ExampleFolder folder("word");
  write_text(folder / "two.txt", "The sailor wrote a letter.\nA letter came to the sailor.\n");
  for (const char* model : {"my-model", "my-encoder"}) {
    const Answer answer = folder.run(fmt::format("explain -m {} --word letter --data two.txt --json", model));
    ASSERT_EQ(answer.code, 0) << answer.out;
    const auto json = nlohmann::json::parse(answer.out);
    EXPECT_NEAR(json["texts"][0]["cosines"][0].get<double>(), 1, 1e-9);
    EXPECT_EQ(json["layers"].back(), "output");
  }
  EXPECT_EQ(folder.run("explain -m my-model --word boat --data two.txt").code, 2);
}

TEST(LookInside, ProfileTellsWhereTheTimeWentAndChangesNothing) {
  const ExampleFolder folder("profile");
  const auto run = [&](const std::string& line) { return run_line(line, folder.path().string()).out; };
  const std::string translate = "fovea translate -m my-model 'The sailor wrote a letter.' ";
  EXPECT_EQ(run(translate + "--profile 2>/dev/null"), run(translate));
  const std::string told = run(translate + "--profile 2>&1 >/dev/null");
  for (const char* part : {"encoder", "decoder", "attention", "linear", "norm", "embedding", "search", "f32 panels"})
    EXPECT_NE(told.find(part), std::string::npos) << part << "\n" << told;
  const std::string int8 = run("fovea translate -m my-model 'A letter.' --weights int8 --profile 2>&1 >/dev/null");
  EXPECT_NE(int8.find("int8 panels"), std::string::npos) << int8;
  EXPECT_NE(folder.run("tokenize -m my-model 'text' --profile").out.find("no model ran"), std::string::npos);
}

nlohmann::json told(const ExampleFolder& folder, const std::string& line) {
  const Answer answer = folder.run(line);
  EXPECT_EQ(answer.code, 0) << line << "\n" << answer.out;
  return nlohmann::json::parse(answer.out);
}

// "wonderful." makes the review positive, by every method that fits, and p(x) − p(x without a word) is what `classify` says of the text
// without it.
TEST(LookInside, MethodsFindTheWordThatAnAnswerComesFrom) {
  const ExampleFolder folder("methods");
  const std::string model = (zoo / "sentiment").string();
  const std::vector<std::string> words = {"The", "loud", "music", "was", "wonderful."};
  auto text_without = [&](size_t left_out) {
    std::string text;
    for (size_t i = 0; i < words.size(); ++i)
      if (i != left_out) text += (text.empty() ? "" : " ") + words[i];
    return text;
  };
  const std::string text = text_without(words.size());
  const auto all = told(folder, fmt::format("explain -m {} --method all --json '{}'", model, text));
  EXPECT_EQ(all["answer"], "positive");
  for (const auto& method : all["methods"]) {
    const std::string name = method["name"];
    EXPECT_EQ(method.contains("unfit"), name == "rollout");
    if (method.contains("unfit")) continue;
    const auto scores = method["words"].get<std::vector<double>>();
    ASSERT_EQ(scores.size(), words.size());
    EXPECT_EQ(std::max_element(scores.begin(), scores.end()) - scores.begin(), 4) << name;
    const bool has_no_sign = name == "attention" || name == "value";
    EXPECT_EQ(scores[1] > 0, has_no_sign) << name;  // "loud" counts against it
    if (name == "attention") {
      EXPECT_NEAR(std::accumulate(scores.begin(), scores.end(), 0.0), 1, 1e-3);
    }
  }
  const auto one =
      told(folder, fmt::format("explain -m {} --method leave-one-out --erase remove --json '{}'", model, text));
  for (size_t i = 0; i < words.size(); ++i) {
    const auto without = told(folder, fmt::format("classify -m {} --json '{}'", model, text_without(i)));
    EXPECT_NEAR(one["methods"][0]["words"][i].get<double>(),
                one["probability"].get<double>() - without["probabilities"]["positive"].get<double>(), 1e-4)
        << words[i];
  }
}

// Without the words that a method ranks highest the answer falls farther than without words drawn by lot.
TEST(LookInside, TheCheckComparesMethodsWithChance) {
  const ExampleFolder folder("check");
  const std::string text = "The food was cold, but the staff were wonderful.";
  const auto checked =
      told(folder, fmt::format("explain -m {} --check --json '{}'", (zoo / "sentiment").string(), text));
  EXPECT_EQ(checked["texts"], 1);
  EXPECT_EQ(checked["words"], 9);
  const auto& methods = checked["methods"];
  const auto& random = methods.back();
  ASSERT_EQ(random["name"], "random");
  const double p = checked["probability"];
  for (const auto& method : methods) {
    if (method.contains("unfit")) continue;
    for (const char* number : {"comprehensiveness", "sufficiency", "lowest"}) {
      EXPECT_LE(method[number].get<double>(), p + 1e-6) << method["name"];
      EXPECT_GE(method[number].get<double>(), p - 1 - 1e-6) << method["name"];
    }
    if (method == random) continue;
    EXPECT_GT(method["comprehensiveness"], random["comprehensiveness"]) << method["name"];
    EXPECT_LT(method["sufficiency"], random["sufficiency"]) << method["name"];
  }
}

// What ships aligns better by its alignment heads than by the mean over the last layer's, on sentences aligned by hand.
TEST(LookInside, TheShippedAlignmentHeadsMakeFewerErrors) {
  for (const char* name : {"en-de", "de-en"}) {
    const Pretrained model = load_pretrained(zoo / name);
    const std::vector<TextPair> pairs = read_text_pairs((by_hand / (std::string(name) + ".tsv")).string());
    Lines links((by_hand / (std::string(name) + ".pharaoh")).string());
    ASSERT_GE(pairs.size(), 60u);
    AlignmentHeadSearch search;
    for (const TextPair& pair : pairs) {
      std::string line;
      ASSERT_TRUE(links.next(line));
      search.add(record_text_pair(model, pair, {}), parse_gold_alignment(line, links.where()));
    }
    std::vector<AlignmentHead> stored;
    for (const auto& head : read_generation_config(zoo / name).alignment_heads) stored.push_back({head[0], head[1]});
    ASSERT_FALSE(stored.empty()) << name;
    const FoundAlignmentHeads found = search.find();
    EXPECT_LT(search.score(stored).error_rate(), found.last_layer->error_rate()) << name;
  }
}

}  // namespace
}  // namespace fovea
