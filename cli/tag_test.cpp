// `fovea tag` as a user calls it.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/example_folder.h"
#include "fovea/generate/tag.h"

namespace fovea {
namespace {

using Json = nlohmann::json;

class TagVerb : public testing::Test {
 protected:
  Answer run(const std::string& arguments, const std::string& input = "/dev/null") const {
    return folder_.run("tag -m my-tagger " + arguments, input);
  }
  std::vector<std::string> labels(const Sentence& words) const {
    const Pretrained model = load_pretrained(folder_ / "my-tagger");
    return fovea::tag(model.as<WordLabeller>(), words_of(model), {words})[0].labels;
  }

  ExampleFolder folder_{"tag"};
};

TEST_F(TagVerb, KeepsTheTextAndMarksWhatWasFound) {
  const std::string text = "The  sailor visited Paris, Texas.", out = run("'" + text + "'").out;
  const Json json = Json::parse(run("'" + text + "' --json").out);
  std::string rebuilt;
  size_t at = 0;
  for (const Json& entity : json["entities"]) {
    const size_t begin = entity["span"][0], end = entity["span"][1];
    EXPECT_EQ(entity["text"], text.substr(begin, end - begin));
    rebuilt += text.substr(at, begin - at) + "[" + text.substr(begin, end - begin) + "](" +
               entity["type"].get<std::string>() + ")";
    at = end;
  }
  EXPECT_EQ(out, rebuilt + text.substr(at) + "\n");
  const std::vector<std::string> expected = labels({"The", "sailor", "visited", "Paris", ",", "Texas", "."});
  ASSERT_EQ(json["words"].size(), expected.size());
  ASSERT_EQ(json["weights"].size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(json["words"][i]["label"], expected[i]);
    double sum = 0;
    for (const Json& weight : json["weights"][i]) sum += weight.get<double>();
    EXPECT_NEAR(sum, 1, 1e-4);
  }
}

TEST_F(TagVerb, ColumnsKeepWhatTheyHaveAndGetTheTagBehind) {
  write_text(folder_ / "in.conll",
             "-DOCSTART- -X- O O\n\nThe DT O\nsailor NN O\n\n\nNew York\tNNP\nsings\tVB\n\nParis");
  const std::vector<std::string> first = labels({"The", "sailor"}), second = labels({"New York", "sings"}),
                                 third = labels({"Paris"});
  const std::string wanted = "-DOCSTART- -X- O O\n\nThe DT O " + first[0] + "\nsailor NN O " + first[1] +
                             "\n\n\nNew York\tNNP\t" + second[0] + "\nsings\tVB\t" + second[1] + "\n\nParis " +
                             third[0] + "\n";
  EXPECT_EQ(run("--format conll", "in.conll").out, wanted);
  EXPECT_EQ(run("--format conll -i in.conll -o out.conll").out, "");
  EXPECT_EQ(read_text(folder_ / "out.conll"), wanted);
}

TEST_F(TagVerb, OneLineInOneLineOut) {
  write_text(folder_ / "lines.txt", "The sea.\n\nParis\n");
  const std::string out = run("", "lines.txt").out;
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 3) << out;
  EXPECT_EQ(out, run("'The sea.'").out + "\n" + run("Paris").out);
}

TEST_F(TagVerb, ShowsEntitiesInColourInATerminalAlone) {
  Json config = Json::parse(read_text(folder_ / "my-tagger/config.json"));
  config["labels"] = {"B-LOC", "O", "I-LOC"};  // what it calls everything comes first
  write_text(folder_ / "my-tagger/config.json", config.dump());
  const std::string text = "The sailor visited Paris, Texas.", plain = run("'" + text + "'").out;
  ASSERT_NE(plain.find("](LOC)"), std::string::npos) << plain;
  const std::string shown = run_in_terminal("tag -m my-tagger '" + text + "'", folder_.path().string()).out;
  EXPECT_NE(shown.find("\x1b["), std::string::npos) << shown;
  EXPECT_EQ(shown.find("](LOC)"), std::string::npos) << shown;
  EXPECT_EQ(plain.find("\x1b["), std::string::npos);
  EXPECT_EQ(run_in_terminal("tag -m my-tagger -o out.txt '" + text + "'", folder_.path().string()).out, "");
  EXPECT_EQ(read_text(folder_ / "out.txt"), plain);
}

TEST_F(TagVerb, JsonKeepsTheOtherFieldsOfTheInput) {
  write_text(folder_ / "in.jsonl", "{\"id\": 3, \"t\": \"Paris\"}\n");
  EXPECT_EQ(Json::parse(run("-i in.jsonl --key t --json").out)["id"], 3);
}

TEST_F(TagVerb, DrawsTheAttention) {
  EXPECT_NE(run("'The sailor sang' --show --svg a.svg").out.find("0."), std::string::npos);
  EXPECT_NE(read_text(folder_ / "a.svg").find("sailor → sang"), std::string::npos);
}

TEST_F(TagVerb, BadInputGivesOneClearLineAndExitCodeTwo) {
  std::filesystem::copy(folder_ / "my-tagger", folder_ / "pieces");
  std::filesystem::remove(folder_ / "pieces/vocabulary.json");
  std::filesystem::copy(folder_ / "my-model/spiece.model", folder_ / "pieces/spiece.model");
  const std::pair<const char*, const char*> cases[] = {
      {"-m my-model Paris", "found a model of family 'transformer'"},
      {"-m pieces Paris", "pieces: found a tokenizer of"},
      {"-m my-tagger Paris --format colln", "did you mean 'conll'?"},
      {"-m my-tagger Paris --format conll", "--format conll: found a text"},
      {"-m my-tagger --format conll --json -i test.conll", "--format conll: found"},
      {"Paris", "none ships as 'entities': give -m"},
  };
  for (const auto& [arguments, wanted] : cases) {
    const Answer answer = run_line("FOVEA_ZOO=nowhere fovea tag " + std::string(arguments), folder_.path().string());
    EXPECT_EQ(answer.code, 2) << arguments << "\n" << answer.out;
    EXPECT_NE(answer.out.find(wanted), std::string::npos) << arguments << "\n" << answer.out;
  }
}

}  // namespace
}  // namespace fovea
