// The program as a user calls it: what it prints, what it writes, and how it answers bad input.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.h"
#include "fovea/base/file.h"
#include "fovea/formats/tensors.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

Answer run(const std::string& arguments) { return run_program(arguments); }

const char* const hand_example = "attend --form dot --tokens I,love,NLP --query 2 --keys 1,2,3 --values 2,4,6";

class AttendVerb : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_attend_" + std::to_string(getpid()));
};

TEST_F(AttendVerb, ShowsTheThreeSteps) {
  const Answer answer = run(hand_example);
  EXPECT_EQ(answer.code, 0);
  for (const char* part : {"2.0000", "4.0000", "6.0000", "0.0159", "0.1173", "0.8668", "5.70187", "love", "█"}) {
    EXPECT_NE(answer.out.find(part), std::string::npos) << part << " is missing in\n" << answer.out;
  }
  EXPECT_EQ(answer.out.find('\x1b'), std::string::npos) << "colours in a pipe";
}

// In a terminal too, which `script` pretends to be.
TEST_F(AttendVerb, WeightsArePrintedOnce) {
  for (const char* terminal : {"", "script -qec '"}) {
    const std::string line = std::string(test_program) + " " + hand_example;
    const Answer answer = run_command(*terminal ? terminal + line + "' /dev/null 2>&1 </dev/null" : line);
    ASSERT_EQ(answer.code, 0) << answer.out;
    const size_t first = answer.out.find("0.8668");
    ASSERT_NE(first, std::string::npos) << answer.out;
    EXPECT_EQ(answer.out.find("0.8668", first + 1), std::string::npos) << answer.out;
  }
}

TEST_F(AttendVerb, HeadsAreCountedFromZeroAndMaskedCellsHaveNoNumber) {
  const std::string picture = (folder_ / "heads.svg").string();
  const Answer answer = run("attend --query '1,0;0,1' --keys '1,0;0,1' --heads 2 --causal --svg " + picture);
  const std::string svg = read_text(picture);
  for (const std::string& text : {answer.out, svg}) {
    EXPECT_NE(text.find("head 0"), std::string::npos) << text;
    EXPECT_NE(text.find("head 1"), std::string::npos);
    EXPECT_EQ(text.find("head 2"), std::string::npos);
  }
  EXPECT_NE(answer.out.find("query 1   1.0000      ·\n"), std::string::npos) << answer.out;
  EXPECT_EQ(answer.out.find("0.0000"), std::string::npos);
  EXPECT_EQ(svg.find("0.0000"), std::string::npos);
}

TEST_F(AttendVerb, EmptyTensorsAreRefused) {
  const std::pair<const char*, Shape> cases[] = {
      {"batch", {0, 2, 1, 3}}, {"tokens", {1, 0, 1, 3}}, {"heads", {1, 2, 0, 3}}};
  for (const auto& [name, shape] : cases) {
    write_tensors(folder_ / "empty.safetensors", {{"q", zeros(shape)}, {"k", zeros(shape)}});
    const Answer answer = run("attend --json --input " + (folder_ / "empty.safetensors").string());
    EXPECT_EQ(answer.code, 2) << name << ": " << answer.out;
  }
}

TEST_F(AttendVerb, JsonHoldsTheNumbers) {
  const nlohmann::json json = nlohmann::json::parse(run(std::string(hand_example) + " --json").out);
  EXPECT_EQ(json["scores"][0][0][0], (std::vector<float>{2, 4, 6}));
  EXPECT_NEAR(json["weights"][0][0][0][2].get<double>(), 0.8668133, 1e-6);
  EXPECT_NEAR(json["context"][0][0][0][0].get<double>(), 5.7018747, 1e-6);
  EXPECT_EQ(json["keys"], (std::vector<std::string>{"I", "love", "NLP"}));
}

TEST_F(AttendVerb, MasksHeadsAndHardChoicesAreHonoured) {
  auto weights = [](const std::string& flags) {
    return nlohmann::json::parse(
        run("attend --query '1,0;0,1;1,1' --keys '1,0;0,1;1,1' --json " + flags).out)["weights"];
  };
  const nlohmann::json causal = weights("--causal");
  EXPECT_EQ(causal[0][0][0], (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(causal[0][0][1][2], 0);
  EXPECT_EQ(weights("--window 1")[0][0][1], (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(weights("--heads 2")[0].size(), 2u);
  const Answer hard = run(std::string(hand_example) + " --hard --json");
  EXPECT_EQ(nlohmann::json::parse(hard.out)["context"][0][0][0][0], 6);
  EXPECT_NE(weights("--softcap 0.5"), weights(""));
}

TEST_F(AttendVerb, EveryFormRunsFromNumbersAndFromFiles) {
  for (const char* form : {"additive", "dot", "general", "concat", "scaled-dot"}) {
    const Answer typed = run(std::string("attend --query '1,0' --keys '1,0;0,1' --seed 3 --form ") + form);
    EXPECT_EQ(typed.code, 0) << typed.out;
  }
  const NamedTensors tensors = {{"q", tensor({1, 2}, std::vector<float>{1, 2})},
                                {"k", tensor({2, 3}, std::vector<float>{1, 0, 0, 0, 1, 0})},
                                {"v", tensor({2, 1}, std::vector<float>{10, 20})},
                                {"query_weight", tensor({2, 3}, std::vector<float>{1, 0, 0, 0, 1, 0})}};
  for (const char* name : {"x.safetensors", "x.npz"}) {
    write_tensors(folder_ / name, tensors);
    const Answer answer = run("attend --form general --json --input " + (folder_ / name).string());
    ASSERT_EQ(answer.code, 0) << answer.out;
    EXPECT_EQ(nlohmann::json::parse(answer.out)["scores"][0][0][0], (std::vector<double>{1, 2}));
  }
}

TEST_F(AttendVerb, WritesTensorsAndPictures) {
  const std::string tensors = (folder_ / "y.safetensors").string(), picture = (folder_ / "y.svg").string();
  EXPECT_EQ(run(std::string(hand_example) + " --output " + tensors + " --svg " + picture).code, 0);
  const SafeTensors file(tensors);
  EXPECT_NEAR(file["context"].item(), 5.7018747, 1e-5);
  EXPECT_EQ(file["weights"].shape(), (Shape{1, 1, 1, 3}));
  const std::string svg = read_text(picture);
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("love"), std::string::npos);
}

// Each bad input: one line that says what is wrong, exit code 2, nothing written.
TEST_F(AttendVerb, BadInputGivesOneClearLineAndExitCodeTwo) {
  write_text(folder_ / "broken.safetensors", "not tensors at all");
  write_text(folder_ / "recipe.yaml", "forn: dot\n");
  write_tensors((folder_ / "empty.safetensors").string(), {{"q", zeros({0, 3, 2, 4})}, {"k", zeros({0, 5, 2, 4})}});
  const std::string folder = folder_.string();
  const std::pair<std::string, const char*> cases[] = {
      {"attend --query 2 --keys 1,2,3 --values 2,4", "--values: found 1, expected 3"},
      {"attend --query 1,2 --keys '1,2,3;4,5,6'", "found queries of width 2 and keys of width 3"},
      {"attend --query 1,2 --keys '1,2;4'", "found a row of 1 numbers after rows of 2"},
      {"attend --query nan --keys 1,2", "--query: found 'nan'"},
      {"attend --query 1,x --keys 1,2", "--query: found 'x'"},
      {"attend --query 1e99 --keys 1,2", "--query: found '1e99'"},
      {"attend --query 2 --keys 1,2,3 --tokens a,b", "--tokens: found 2 names, expected 3"},
      {"attend --form dott --query 2 --keys 1", "did you mean 'dot'?"},
      {"attend --query 2", "found no --keys"},
      {"attend --query 1,2,3 --keys 1,2,3 --heads 2", "expected a multiple of --heads 2"},
      {"attend --input " + folder + "/missing.safetensors", "cannot open"},
      {"attend --input " + folder + "/broken.safetensors", "not safetensors or was cut short"},
      {"attend --json --input " + folder + "/empty.safetensors", "expected at least one token, head and batch row"},
      {"attend --input " + folder + "/recipe.yaml", "expected .safetensors, .npz or .npy"},
      {"attend --input " + folder, "expected .safetensors"},
      {"attend --config " + folder + "/recipe.yaml --query 2 --keys 1", "did you mean 'form'?"},
      {"attend --query 2 --keys 1 --window -3", "found a window of -3"},
      {"attend --query 2 --keys 1 --svg " + folder + "/no/such/folder.svg", "cannot write"},
      {"attend --qery 2 --keys 1", "did you mean '--query'?"},
      {"attend --query 2 --keys 1 --heads many", "--heads"},
      {"attend --query 2 --keys 1 --simd neon", "unknown instruction set 'neon'"},
      {"attend --query 2 --keys 1 --threads -1", "--threads: found -1"},
      {"attned", "did you mean 'attend'?"},
  };
  for (const auto& [arguments, expected] : cases) {
    const Answer answer = run(arguments);
    EXPECT_EQ(answer.code, 2) << arguments << "\n" << answer.out;
    EXPECT_NE(answer.out.find(expected), std::string::npos) << arguments << "\n" << answer.out;
    EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1) << arguments << "\n" << answer.out;
  }
}

TEST_F(AttendVerb, HelpShowsExamplesAndConfigsComeBack) {
  EXPECT_NE(run("attend --help").out.find("Examples:\n  fovea attend"), std::string::npos);
  EXPECT_NE(run("").out.find("attend"), std::string::npos);
  const std::string recipe = (folder_ / "recipe.yaml").string();
  write_text(recipe, run(std::string(hand_example) + " --dump-config").out);
  EXPECT_EQ(run("attend --config " + recipe).out, run(hand_example).out);
  EXPECT_NE(run("attend --config " + recipe + " --query 1").out, run(hand_example).out);
}

TEST(BenchVerb, EachLineIsAJsonObject) {
  std::istringstream lines(run("bench peak --json --seconds 0.01 --threads 1").out);
  std::vector<std::string> cases;
  for (std::string text; std::getline(lines, text);) {
    const nlohmann::json line = nlohmann::json::parse(text);
    for (const char* key : {"bench", "case", "threads", "value", "unit", "peak", "share"})
      EXPECT_TRUE(line.contains(key)) << key;
    cases.push_back(line["case"]);
  }
  ASSERT_GE(cases.size(), 2u);  // a unit for bf16 has a line of its own
  EXPECT_EQ(cases.front(), "fma");
  EXPECT_TRUE(cases.back().starts_with("int8")) << cases.back();
  EXPECT_EQ(run("bench nonsense").code, 2);
}

}  // namespace
}  // namespace fovea
