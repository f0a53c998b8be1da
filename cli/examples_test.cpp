// Every example in every verb's help runs.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "cli/example_folder.h"
#include "fovea/train/toy_data.h"

namespace fovea {
namespace {

std::vector<std::string> lines_of_text(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> examples_of(const std::string& verb) {
  std::vector<std::string> examples;
  bool behind = false;
  for (const std::string& line : lines_of_text(run_program(verb + " --help").out)) {
    if (behind && line.starts_with("  fovea ")) examples.push_back(line.substr(2));
    behind = behind || line == "Examples:";
  }
  return examples;
}

// A training is cut short, and a page is not waited for.
const std::map<std::string, std::string> shorter = {
    {"bench", " --seconds 0.0001"},
    {"train", " --steps 2 --warmup 1 --validate-on 4 --batch-tokens 512"},
    {"view", " --once"}};

void give_more_to_learn(const ExampleFolder& folder) {
  for (const char* model : {"my-model", "my-classifier", "my-tagger", "my-language-model"})
    std::filesystem::remove_all(folder / model);
  write_text(folder / "pairs.tsv", toy_pairs(200));
  write_text(folder / "labelled.tsv", toy_labelled(200));
  write_text(folder / "tagged.conll", toy_conll(200));
  write_text(folder / "recipe.yaml", "task: translation\ndata: pairs.tsv\nwidth: 32\n");
}

class EveryVerb : public testing::TestWithParam<std::string> {};

TEST_P(EveryVerb, ItsExamplesRun) {
  const std::string verb = GetParam();
  const ExampleFolder folder("examples_" + verb);
  if (verb == "train") give_more_to_learn(folder);
  std::vector<std::string> examples = examples_of(verb);
  ASSERT_FALSE(examples.empty());
  if (verb == "bench") examples = {examples.back()};  // the others measure for minutes
  for (const std::string& example : examples) {
    const auto flags = shorter.find(verb);
    std::string line = example + (flags == shorter.end() ? "" : flags->second);
    if (const size_t tokens = line.find(" --batch-tokens 512");
        example.starts_with("fovea train images") && tokens != std::string::npos)
      line.resize(tokens);  // pictures have none
    const Answer answer = run_line(line, folder.path().string());
    EXPECT_EQ(answer.code, 0) << example << "\n" << answer.out;
  }
}

TEST_P(EveryVerb, TellsMoreHoweverItIsAsked) {
  const std::string verb = GetParam(), help = run_program(verb + " --help").out;
  EXPECT_NE(help.find("Examples:"), std::string::npos);
  EXPECT_EQ(run_program(verb + " -h").out, help);
  EXPECT_EQ(run_program("help " + verb).out, help);
}

TEST(Program, HelpAndVersion) {
  const std::string welcome = run_program("").out;
  for (const char* arguments : {"--help", "-h", "help"}) EXPECT_EQ(run_program(arguments).out, welcome);
  EXPECT_TRUE(run_program("--version").out.starts_with("fovea "));
  const Answer unknown = run_program("translat Hello");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.out.find("unknown verb 'translat'; did you mean 'translate'?"), std::string::npos) << unknown.out;
  EXPECT_NE(run_program("help translat").out.find("did you mean 'translate'?"), std::string::npos);
}

TEST_P(EveryVerb, IsListed) {
  EXPECT_NE(run_program("").out.find(fmt::format("\n  {:<12} ", GetParam())), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Verbs, EveryVerb, testing::ValuesIn(test_verbs()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace fovea
