// `fovea generate` and `fovea chat`, as typed.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/example_folder.h"
#include "fovea/explain/trace_file.h"

namespace fovea {
namespace {

using Json = nlohmann::json;

class WritingVerbs : public testing::Test {
 protected:
  const ExampleFolder folder_ = ExampleFolder("writing");
  std::string out(const std::string& arguments, const std::string& input = "/dev/null") const {
    const Answer answer = folder_.run(arguments, input);
    EXPECT_EQ(answer.code, 0) << arguments << "\n" << answer.out;
    return answer.out;
  }
};

TEST_F(WritingVerbs, WhatStreamsIsWhatJsonHolds) {
  const std::string command = "generate -m my-language-model --quiet 'The sailor'";
  const Json json = Json::parse(out(command + " --logprobs"));
  EXPECT_EQ(out(command), json["text"].get<std::string>() + "\n");
  EXPECT_EQ(json["prompt"], "The sailor");
  EXPECT_TRUE(json["stop"] == "length" || json["stop"] == "end");
  double sum = 0;
  for (const Json& token : json["tokens"]) sum += token["log_probability"].get<double>();
  EXPECT_NEAR(json["score"].get<double>(), sum / static_cast<double>(json["tokens"].size()), 1e-9);
}

TEST_F(WritingVerbs, ALineForEachPrompt) {
  write_text(folder_ / "prompts.txt", "The sailor\nThe\n\nParis\n");
  const std::string lines = out("generate -m my-language-model --quiet -i prompts.txt");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 4);
  const std::string drawn = out("generate -m my-language-model --quiet --samples 3 --seed 1 Paris");
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), '\n'), 3);
  EXPECT_EQ(drawn, out("generate -m my-language-model --quiet --samples 3 --seed 1 Paris"));
}

TEST_F(WritingVerbs, AStopEndsTheText) {
  const std::string whole = Json::parse(out("generate -m my-language-model --json The"))["text"];
  const size_t letter = whole.find_first_of("abcdefghijklmnopqrstuvwxyz", 3);
  ASSERT_NE(letter, std::string::npos) << whole;
  const std::string stop = whole.substr(letter, 1);
  const Json cut = Json::parse(out("generate -m my-language-model --json --stop '" + stop + "' --stop @@@ The"));
  EXPECT_EQ(cut["text"], whole.substr(0, whole.find(stop)));
  EXPECT_EQ(cut["stop"], "stop");
}

TEST_F(WritingVerbs, ModelsThatCannotAreNamed) {
  EXPECT_NE(folder_.run("generate -m my-model Paris").out.find("expected a language model; use fovea translate"),
            std::string::npos);
  std::filesystem::remove(folder_ / "my-language-model" / "chat_template.jinja");
  EXPECT_NE(folder_.run("chat -m my-language-model").out.find("found no chat template"), std::string::npos);
  EXPECT_NE(folder_.run("chat").out.find("found no --model, expected the folder of one; "), std::string::npos);
  EXPECT_NE(
      folder_.run("generate -m my-language-model Paris --max-length 3 --max-new-tokens 4").out.find("one of them"),
      std::string::npos);
}

TEST_F(WritingVerbs, AChatAnswersEachLineAndObeys) {
  write_text(folder_ / "talk.txt", "Who sang?\n/save talk.md\n/clear\nWho wrote?\n/exit\nnot read\n");
  const std::string command = "chat -m my-language-model --quiet --system 'Be brief.'";
  out(command, (folder_ / "talk.txt").string());
  const std::string saved = read_text(folder_ / "talk.md");
  EXPECT_TRUE(saved.starts_with("system: Be brief.\n\nuser: Who sang?\n\nassistant:")) << saved;
  EXPECT_EQ(saved.find("wrote"), std::string::npos);
}

// Rows are what was read: the template's prompt and all of the answer but its last token; each sees itself and what stands before it.
TEST_F(WritingVerbs, AChatsTraceHasTheQuestionAndItsAnswer) {
  write_text(folder_ / "asked.txt", "Who sang?\n");
  write_text(folder_ / "twice.txt", "Who sang?\nWho wrote?\n");
  const std::string command = "chat -m my-language-model --quiet --max-length 6 --trace asked.safetensors";
  const std::string answer = out(command, (folder_ / "asked.txt").string());
  const TraceFile trace(folder_ / "asked.safetensors");
  const RecordedSequence& text = trace.recording().sequences.at("text");
  EXPECT_NE(text.text.find("Who sang?"), std::string::npos) << text.text;
  EXPECT_EQ(trace.recording().answer + "\n", answer);
  ASSERT_FALSE(trace.recording().places.empty());
  for (const RecordedPlace& p : trace.recording().places) {
    ASSERT_EQ(p.rows(), static_cast<int64_t>(text.size()));
    for (int64_t i = 0; i < p.rows(); ++i) {
      const std::vector<double> w = p.part(0, {i, i + 1}, {}).values<double>();
      EXPECT_NEAR(std::accumulate(w.begin(), w.end(), 0.0), 1, 1e-5);
      for (size_t j = static_cast<size_t>(i) + 1; j < w.size(); ++j) EXPECT_EQ(w[j], 0);
    }
  }
  EXPECT_NE(folder_.run(command, (folder_ / "twice.txt").string()).out.find("found several questions, expected one"),
            std::string::npos);
}

}  // namespace
}  // namespace fovea
