// The models that ship, as a user meets them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cli/example_folder.h"
#include "fovea/data/text/utf8.h"
#include "test_paths.h"

namespace fovea {
namespace {

const std::filesystem::path zoo = std::filesystem::path(test_data) / "../zoo";

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(zoo)) found.push_back(entry.path().filename().string());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> translators() {
  std::vector<std::string> found;
  for (const std::string& name : names())
    if (name.starts_with("en-") || name.starts_with("de-")) found.push_back(name);
  return found;
}

TEST(Zoo, HoldsWhatIsPromisedInEightyMegabytes) {
  EXPECT_EQ(names(), (std::vector<std::string>{"de-en", "en-de", "en-de-bahdanau", "entities", "fashion", "plays",
                                               "scenes", "sentiment"}));
  uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(zoo))
    if (entry.is_regular_file()) bytes += entry.file_size();
  EXPECT_LE(bytes, 80'000'000u);
}

TEST(Zoo, SaysWhatIsInAScene) {
  const std::string scenes = std::string(test_data) + "/../examples/scenes/";
  EXPECT_EQ(run_program("caption " + scenes + "1.png").out, "a small purple circle left of a large yellow star\n");
  EXPECT_EQ(run_program("caption " + scenes + "2.png").out, "a small blue star right of a large orange circle\n");
  EXPECT_EQ(run_program("caption " + scenes + "3.png --beam-size 1").out,
            "a small orange star below a large red square\n");
  EXPECT_EQ(run_program("caption --weights int8 " + scenes + "4.png").out, "a small yellow star\n");
}

TEST(Zoo, EveryModelHasItsCardItsRecipeAndItsScores) {
  const std::string welcome = run_program("").out;
  for (const std::string& name : names()) {
    const std::string card = read_text(zoo / name / "README.md");
    for (const char* part : {"license: ", "- data: ", "## Made by", "## Test", "fovea evaluate -m "})
      EXPECT_NE(card.find(part), std::string::npos) << name << ": " << part;
    const std::string recipe = read_text(zoo / name / "recipe.yaml");
    EXPECT_NE(recipe.find("f16\""), std::string::npos) << name;
    EXPECT_TRUE(std::filesystem::exists(zoo / ("../recipes/zoo/" + name + ".yaml"))) << name;
    const Answer info = run_program("info " + name);
    EXPECT_EQ(info.code, 0) << info.out;
    EXPECT_NE(info.out.find("F16"), std::string::npos) << name;
    EXPECT_NE(welcome.find("\n  " + name + " "), std::string::npos) << welcome;
  }
}

TEST(Zoo, TranslatesEverydaySentences) {
  EXPECT_EQ(run_program("translate 'Good morning.'").out, "Guten Morgen!\n");
  EXPECT_EQ(run_program("translate 'I am very tired.'").out, "Ich bin sehr müde.\n");
  EXPECT_EQ(run_program("translate -m en-de-bahdanau 'I am very tired.'").out, "Ich bin sehr müde.\n");
  EXPECT_EQ(run_program("translate --from de 'Ich bin sehr müde.'").out, "I'm very tired.\n");
}

TEST(Zoo, OtherWritingComesThroughAsItIs) {
  for (const char* text : {"これは日本語の文です。", "Это русский текст.", "你好"})
    for (const std::string from : {"en", "de"})
      EXPECT_EQ(run_program(fmt::format("translate --from {} '{}'", from, text)).out, std::string(text) + "\n");
  for (const char* text :
       {"I like 東京 very much.", "My friend Иван Петров lives in Berlin.", "A 5 µm film costs 3 Ω."}) {
    const std::string german = run_program(fmt::format("translate '{}'", text)).out;
    EXPECT_EQ(german.find("\ufffd"), std::string::npos) << german;
    EXPECT_NE(german.find(text[0] == 'I' ? "東京" : text[0] == 'M' ? "Иван Петров" : "Ω"), std::string::npos) << german;
  }
}

TEST(Zoo, TellsWhatItSees) {
  EXPECT_EQ(run_program("tag 'Ada Lovelace worked with Charles Babbage in London.'").out,
            "[Ada Lovelace](PER) worked with [Charles Babbage](PER) in [London](LOC).\n");
  EXPECT_TRUE(run_program("classify 'An excellent phone, I love it.'").out.starts_with("positive\t"));
  EXPECT_TRUE(run_program("classify 'A waste of money and time.'").out.starts_with("negative\t"));
}

TEST(Zoo, TellsClothesApart) {
  const std::string pictures = std::string(test_data) + "/../examples/fashion/";
  const char* labels[] = {"ankle boot", "pullover", "trousers", "coat", "sandal", "sneaker"};
  for (int i = 0; i < 6; ++i)
    EXPECT_TRUE(run_program(fmt::format("classify -m fashion {}{}.png", pictures, i + 1)).out.starts_with(labels[i]))
        << i;
}

// The words and the manner of its plays, the same for the same seed; and nothing that is no text.
TEST(Zoo, GoesOnWithAText) {
  const std::string written = run_program("generate 'My lord,' --max-length 40").out;
  EXPECT_EQ(written, run_program("generate 'My lord,' --max-length 40").out);
  EXPECT_NE(written, run_program("generate 'My lord,' --max-length 40 --seed 2").out);
  EXPECT_GT(written.size(), 40u);
  EXPECT_EQ(invalid_utf8(written), std::string_view::npos);
}

// Another language, nothing, emoji, marks, a word without end, a text without end: one line for each, none of them endless.
TEST(Zoo, WhatTheyCannotKnowGivesALineToo) {
  const ExampleFolder folder("zoo");
  std::vector<std::string> texts = {"",
                                    "   ",
                                    "これは日本語の文です。",
                                    "Ceci n'est pas une pipe.",
                                    "😀 👍🏽 🎉🎉🎉",
                                    "?!... --- ;;;",
                                    "a",
                                    std::string(300, 'x'),
                                    "\u202e\u200b\ufeff",
                                    "١٢٣ 4567 8.9e10"};
  std::string endless;
  for (int i = 0; i < (test_sanitized ? 10 : 200); ++i) endless += "The cat sat on the mat and ";
  texts.push_back(endless);
  std::string lines;
  for (const std::string& text : texts) lines += text + "\n";
  write_text(folder / "odd.txt", lines);
  std::vector<std::string> verbs = {"tag", "classify"};
  for (const std::string& name : translators()) verbs.push_back("translate -b 2 --max-length 40 -m " + name);
  for (const std::string& verb : verbs) {
    const Answer answer = folder.run(verb, "odd.txt");
    EXPECT_EQ(answer.code, 0) << verb << ": " << answer.out;
    EXPECT_EQ(invalid_utf8(answer.out), std::string_view::npos) << verb;
    std::vector<std::string> answers;
    for (size_t at = 0, end; (end = answer.out.find('\n', at)) != std::string::npos; at = end + 1)
      answers.push_back(answer.out.substr(at, end - at));
    ASSERT_EQ(answers.size(), texts.size()) << verb;
    for (size_t i = 0; i < texts.size(); ++i)
      EXPECT_LE(answers[i].size(), 100 + 8 * texts[i].size()) << verb << ": " << texts[i] << "\n" << answers[i];
    if (verb.starts_with("translate")) {
      EXPECT_EQ(answers[0], "");
      EXPECT_EQ(answers[1], "");
    }
  }
}

}  // namespace
}  // namespace fovea
