// `fovea classify` and `fovea info` as a user calls them.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/example_folder.h"
#include "fovea/explain/trace_file.h"
#include "fovea/generate/classify.h"

namespace fovea {
namespace {

using Json = nlohmann::json;

class ClassifyVerb : public testing::Test {
 protected:
  Answer run(const std::string& arguments, const std::string& input = "/dev/null") const {
    return folder_.run("classify -m my-classifier " + arguments, input);
  }

  ExampleFolder folder_{"classify"};
};

TEST_F(ClassifyVerb, PrintsTheLabelAndItsProbability) {
  const std::string text = "The teacher wrote.";
  const Pretrained model = load_pretrained(folder_ / "my-classifier");
  const TextLabeller& labeller = model.as<TextLabeller>();
  const Classified c = classify(labeller, *model.tokenizer, {text})[0];
  const std::string line = fmt::format("{}\t{:.4f}", labeller.labels().names()[c.best], c.probabilities[c.best]);
  EXPECT_EQ(run("'" + text + "'").out, line + "\n");
  const std::string all = run("'" + text + "' --all").out;
  EXPECT_TRUE(all.starts_with(line + "\t")) << all;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\t'), 5);
  write_text(folder_ / "lines.txt", text + "\n\nParis\n");
  EXPECT_EQ(run("", "lines.txt").out.substr(0, line.size() + 1), line + "\n");
  EXPECT_EQ(run("-i lines.txt").out, run("", "lines.txt").out);
  const std::string three = run("-i lines.txt").out;
  EXPECT_EQ(std::count(three.begin(), three.end(), '\n'), 3);
}

TEST_F(ClassifyVerb, JsonHoldsAllProbabilitiesAndWhatEachTokenCounted) {
  const Json json = Json::parse(run("'The  teacher wrote.' --json").out);
  double sum = 0, weights = 0;
  for (const Json& probability : json["probabilities"]) sum += probability.get<double>();
  EXPECT_EQ(json["probabilities"].size(), 3u);
  EXPECT_NEAR(sum, 1, 1e-4);
  std::string text;
  for (const Json& token : json["tokens"]) {
    weights += token["weight"].get<double>();
    text += token["text"].get<std::string>();
  }
  EXPECT_NEAR(weights, 1, 1e-4);
  EXPECT_EQ((std::erase(text, ' '), text), "Theteacherwrote.");
  EXPECT_EQ(json["probabilities"][json["label"].get<std::string>()], json["probability"]);
}

TEST(IsUnsure, WhereAnotherLabelIsAlmostAsProbable) {
  const Labels one("test", {.names = {"a", "b", "c"}}), several("test", {.names = {"a", "b"}, .kind = "several"});
  const auto unsure = [](const Labels& labels, std::vector<double> probabilities, size_t best) {
    Classified c;
    c.best = best, c.probabilities = std::move(probabilities);
    return is_unsure(c, labels);
  };
  EXPECT_FALSE(unsure(one, {0.1, 0.7, 0.2}, 1));
  EXPECT_FALSE(unsure(one, {0.61, 0.39, 0}, 0));
  EXPECT_TRUE(unsure(one, {0.59, 0.41, 0}, 0));
  EXPECT_FALSE(unsure(several, {0.9, 0.3}, 0));
  EXPECT_TRUE(unsure(several, {0.9, 0.45}, 0));
}

TEST_F(ClassifyVerb, SaysIfItIsUnsure) {
  const Json json = Json::parse(run("'The teacher wrote.' --json").out);
  std::vector<double> sorted;
  for (const Json& probability : json["probabilities"]) sorted.push_back(probability.get<double>());
  std::sort(sorted.rbegin(), sorted.rend());
  EXPECT_EQ(json["unsure"], sorted[0] - sorted[1] < 0.2);
  const std::string shown =
      run_in_terminal("classify -m my-classifier 'The teacher wrote.'", folder_.path().string()).out;
  EXPECT_EQ(shown.find("unsure: ") != std::string::npos, json["unsure"].get<bool>()) << shown;
  EXPECT_EQ(shown.find("\\t"), std::string::npos) << shown;
}

TEST_F(ClassifyVerb, SaysWhatItDidNotRead) {
  const std::filesystem::path file = folder_ / "my-classifier/config.json";
  Json config = Json::parse(read_text(file));
  config["longest"] = 3;
  write_text(file, config.dump());
  EXPECT_GT(Json::parse(run("'The teacher wrote a letter.' --json").out)["unread"], 0);
  const std::string shown =
      run_in_terminal("classify -m my-classifier 'The teacher wrote a letter.'", folder_.path().string()).out;
  EXPECT_NE(shown.find("read the first 3 tokens and not the last "), std::string::npos) << shown;
}

TEST_F(ClassifyVerb, JsonKeepsTheOtherFieldsOfTheInput) {
  write_text(folder_ / "in.jsonl", "{\"id\": 3, \"t\": \"Paris\"}\n");
  EXPECT_EQ(Json::parse(run("-i in.jsonl --key t --json").out)["id"], 3);
}

TEST_F(ClassifyVerb, ShowsTheWordsThatDecided) {
  const std::string out = run("'The teacher wrote.' --show --svg a.svg").out;
  for (const char* word : {"The ", "teacher ", "wrote. "}) EXPECT_NE(out.find(word), std::string::npos) << out;
  EXPECT_NE(read_text(folder_ / "a.svg").find("teacher"), std::string::npos);
}

TEST_F(ClassifyVerb, APictureGetsALabelAndShowsWhereTheModelLooked) {
  write_text(folder_ / "paths.txt", "photo.png\npictures/below/7.png\n");
  const Answer plain = folder_.run("classify -m my-looker", (folder_ / "paths.txt").string());
  EXPECT_EQ(plain.code, 0) << plain.out;
  EXPECT_EQ(std::count(plain.out.begin(), plain.out.end(), '\n'), 2) << plain.out;
  const Json json = Json::parse(folder_.run("classify -m my-looker --json --look heads photo.png").out);
  EXPECT_EQ(json["picture"], "photo.png");
  EXPECT_EQ(json["patches"], (Json{2, 2}));
  ASSERT_EQ(json["looked"].size(), 2u);
  EXPECT_EQ(json["looked"][0].size(), 4u);
  EXPECT_NEAR(json["probabilities"]["above"].get<double>() + json["probabilities"]["below"].get<double>(), 1, 1e-5);
  const Answer drawn = folder_.run("classify -m my-looker --look heads --svg a.svg --png a.png --pdf a.pdf photo.png");
  EXPECT_EQ(drawn.code, 0) << drawn.out;
  EXPECT_NE(read_text(folder_ / "a.svg").find("head 1, "), std::string::npos);
  const Image sheet = read_image(folder_ / "a.png");
  EXPECT_EQ(sheet.width, 2 * (2 * 344 + 24));  // two panels of 320 pixels between margins, twice
  EXPECT_TRUE(read_text(folder_ / "a.pdf").starts_with("%PDF-"));
  EXPECT_NE(folder_.run("classify -m my-looker --look rollout --show photo.png").out.find("█"), std::string::npos);
  EXPECT_EQ(folder_.run("classify -m my-looker photo.png --trace seen.safetensors").out,
            plain.out.substr(0, plain.out.find('\n') + 1));
  const TraceFile seen(folder_ / "seen.safetensors");
  EXPECT_EQ(seen.recording().sequences.at("patches").pieces[1], "patch 1,1");
  EXPECT_FALSE(seen.recording().places.empty());
}

TEST_F(ClassifyVerb, BadInputGivesOneClearLineAndExitCodeTwo) {
  const std::pair<const char*, const char*> cases[] = {
      {"classify -m my-model Paris", "found a model of family 'transformer'"},
      {"classify -m my-classifier Paris --json --all", "--json: found --all"},
      {"classify Paris", "none ships as 'sentiment': give -m"},
      {"classify -m my-classifier Paris --look heads", "--look: found it for a model of texts"},
      {"classify -m my-classifier Paris --png nowhere/a.png", "nowhere/a.png"},
      {"classify -m my-looker photo.png --json --show", "--json: found --show"},
      {"classify -m my-looker -i paths.txt --trace a.safetensors", "--trace: found several texts"},
      {"classify -m my-looker photo.png --show --look around", "unknown look at a picture 'around'"},
      {"classify -m my-looker text.txt", "begin neither as PNG"},
      {"info", "found no model"},
      {"info nowhere", "found no model 'nowhere'"},
      {"info first", "first: found no config.json"},
  };
  for (const auto& [arguments, wanted] : cases) {
    const Answer answer = run_line("FOVEA_ZOO=nowhere fovea " + std::string(arguments), folder_.path().string());
    EXPECT_EQ(answer.code, 2) << arguments << "\n" << answer.out;
    EXPECT_NE(answer.out.find(wanted), std::string::npos) << arguments << "\n" << answer.out;
  }
}

TEST_F(ClassifyVerb, InfoCountsWhatTheFileHolds) {
  write_text(folder_ / "my-classifier/README.md",
             "---\nlicense: cc-by-4.0\nlanguage: [en, de]\nmetrics:\n  accuracy: 0.9\n---\n\n# Mood\n");
  const Json json = Json::parse(folder_.run("info my-classifier --json").out);
  int64_t weights = 0;
  const SafeTensors file(folder_ / "my-classifier/model.safetensors");
  for (const auto& [name, tensor] : file.tensors()) weights += tensor.elements();
  EXPECT_EQ(json["weights"], weights);
  EXPECT_EQ(json["bytes"], 4 * weights);
  EXPECT_EQ(json["storage"]["F32"], weights);
  EXPECT_EQ(json["family"], "classifier");
  EXPECT_EQ(json["uses"], "labels texts (classify)");
  EXPECT_EQ(json["labels"], (Json{"bad", "good", "so-so"}));
  EXPECT_EQ(json["tokenizer"]["kind"], "unigram");
  EXPECT_EQ(json["card"]["license"], "cc-by-4.0");
  EXPECT_EQ(json["card"]["metrics"]["accuracy"], 0.9);
  const std::string text = folder_.run("info my-classifier").out;
  for (const char* part : {"F32 in ", "bad, good, so-so", "cc-by-4.0", "en, de", "encoder", "unknown 3"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(Json::parse(folder_.run("info -m my-model --json").out)["generation"]["beam_size"], 2);
}

}  // namespace
}  // namespace fovea
