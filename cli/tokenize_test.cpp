// `fovea tokenize` as a user calls it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

class TokenizeVerb : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    std::string text;
    for (const char* who : {"sailor", "teacher", "gardener", "Straßenbahnfahrer"}) {
      for (const char* what : {"opened the window", "wrote a letter", "sang about the sea", "fuhr über die Brücke"}) {
        text += std::string("The ") + who + " " + what + ".\n";
      }
    }
    write_text(folder_ / "text.txt", text);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Answer run(const std::string& arguments, const std::string& input = "/dev/null") const {
    return run_program("tokenize " + arguments, {.input = input, .folder = folder_.string()});
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_tokenize_" + std::to_string(getpid()));
};

TEST_F(TokenizeVerb, TrainsEncodesAndDecodesEveryKind) {
  const std::pair<const char*, const char*> kinds[] = {
      {"unigram", "--vocabulary 70"}, {"bpe", "--vocabulary 90"}, {"words", "--vocabulary 30"}, {"bytes", ""}};
  for (const auto& [kind, flags] : kinds) {
    const Answer trained = run(std::string("--train text.txt --tokenizer ") + kind + " " + flags + " -o " + kind);
    ASSERT_EQ(trained.code, 0) << trained.out;
    EXPECT_NE(trained.out.find(std::string(kind) + " tokenizer with "), std::string::npos) << trained.out;
    const std::string text = "The Straßenbahnfahrer sang about the sea";
    const auto json = nlohmann::json::parse(run(std::string("-m ") + kind + " --json '" + text + "'").out);
    std::string ids, own;
    ASSERT_EQ(json["ids"].size(), json["spans"].size());
    ASSERT_EQ(json["ids"].size(), json["pieces"].size());
    for (size_t i = 0; i < json["ids"].size(); ++i) {
      if (i) ids += ' ';
      ids += std::to_string(json["ids"][i].get<int>());
      own += text.substr(json["spans"][i][0], json["spans"][i][1].get<size_t>() - json["spans"][i][0].get<size_t>());
    }
    const auto bare = [](std::string s) { return std::erase(s, ' '), s; };
    EXPECT_EQ(bare(own), bare(text)) << kind;
    EXPECT_EQ(run(std::string("-m ") + kind + " --ids '" + text + "'").out, ids + "\n");
    EXPECT_EQ(run(std::string("-m ") + kind + " --decode '" + ids + "'").out, text + "\n");
    write_text(folder_ / "lines.txt", text + "\n\nThe sea");
    const Answer lines = run(std::string("-m ") + kind, "lines.txt");
    EXPECT_EQ(std::count(lines.out.begin(), lines.out.end(), '\n'), 3) << lines.out;
    EXPECT_EQ(run(std::string("-m ") + kind + " -i lines.txt").out, lines.out);
  }
}

TEST_F(TokenizeVerb, BadInputGivesOneClearLineAndExitCodeTwo) {
  write_text(folder_ / "latin1.txt", "na\xefve\n");
  write_text(folder_ / "broken.model", "nonsense");
  write_text(folder_ / "empty.txt", "");
  write_text(folder_ / "lines.txt", "The sea");
  ASSERT_EQ(run("--train text.txt --tokenizer bytes -o good").code, 0);
  const std::pair<const char*, const char*> cases[] = {
      {"", "found neither --model nor --train"},
      {"--train text.txt", "found no --output"},
      {"--train text.txt lines.txt -o x", "--train: found lines.txt behind it, expected --train before each file"},
      {"--train text.txt --tokenizer unigran -o x", "did you mean 'unigram'?"},
      {"--train text.txt --vocabulary 10 -o x", "Vocabulary size is smaller"},
      {"--train text.txt --tokenizer words --vocabulary 3 -o x", "found a vocabulary of 3"},
      {"--train text.txt --tokenizer bytes --vocabulary 300 -o x", "bytes are always 256"},
      {"--train text.txt --tokenizer words --byte-fallback -o x", "which are for unigram and bpe"},
      {"--train missing.txt -o x", "missing.txt: cannot open"},
      {"--train latin1.txt -o x", "latin1.txt:1: byte 2: found 0xef"},
      {"--train empty.txt -o x", "found no text to learn from"},
      {"--train text.txt --tokenizer bytes -o text.txt/x", "text.txt/x: cannot make this folder"},
      {"-m missing hello", "found no model 'missing'"},
      {"-m broken.model hello", "broken.model: not a SentencePiece model"},
      {"-m good --ids --json hello", "expected only one of"},
      {"-m good --decode '5 six'", "found 'six', expected an id"},
      {"-m good --decode 5000", "found id 5000, expected 0 to 259"},
      {"-m good -o x hello", "--output: found it without --train"},
  };
  for (const auto& [arguments, expected] : cases) {
    const Answer answer = run(arguments);
    EXPECT_EQ(answer.code, 2) << arguments << "\n" << answer.out;
    EXPECT_NE(answer.out.find(expected), std::string::npos) << arguments << "\n" << answer.out;
    EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1) << arguments << "\n" << answer.out;
  }
}

TEST_F(TokenizeVerb, AModelsVocabularyIsNotOverwritten) {
  ASSERT_EQ(run("--train text.txt --tokenizer bytes -o taken").code, 0);
  const std::string before = read_text(folder_ / "taken/vocabulary.json");
  const Answer refused = run("--train text.txt --tokenizer words -o taken");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.out.find("--force; found vocabulary.json in taken"), std::string::npos) << refused.out;
  EXPECT_EQ(read_text(folder_ / "taken/vocabulary.json"), before);
  EXPECT_EQ(run("--train text.txt --tokenizer words -o taken --force").code, 0);
  EXPECT_NE(read_text(folder_ / "taken/vocabulary.json"), before);
  fs::create_directories(folder_ / "model");
  write_text(folder_ / "model/config.json", "{}");
  EXPECT_EQ(run("--train text.txt --tokenizer words -o model").code, 2);
}

TEST_F(TokenizeVerb, ModelsGoByTheirNames) {
  EXPECT_EQ(run("-m en-de 'The cat'").out, "▁The ▁cat\n");
  ASSERT_EQ(run("--train text.txt --tokenizer bytes -o training/best").code, 0);
  write_text(folder_ / "training/best/config.json", "{}");
  EXPECT_EQ(run("-m training --ids A").out, run("-m training/best --ids A").out) << "as a training leaves it";
}

TEST_F(TokenizeVerb, TheExamplesOfItsHelpRun) {
  ASSERT_EQ(run("--train text.txt --tokenizer bpe --vocabulary 90 -o my-tokenizer").code, 0);
  EXPECT_EQ(run("-m my-tokenizer \"Where is the station?\" --json").code, 0);
  EXPECT_EQ(run("-m my-tokenizer --ids", "text.txt").code, 0);
  EXPECT_NE(run("--help").out.find("fovea tokenize --train text.txt --tokenizer bpe"), std::string::npos);
}

}  // namespace
}  // namespace fovea
