// embed, fill and answer as a user types them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/example_folder.h"
#include "fovea/formats/npy.h"

namespace fovea {
namespace {

std::vector<double> numbers_in(const std::string& line) {
  std::istringstream stream(line);
  std::vector<double> numbers;
  for (double x; stream >> x;) numbers.push_back(x);
  return numbers;
}

TEST(EmbedVerb, VectorsHaveLengthOneAndAreTheSameInEveryForm) {
  const ExampleFolder folder("embed");
  write_text(folder / "two.txt", "the cat\na dog?\n");
  const Answer lines = folder.run("embed -m my-encoder -i two.txt");
  ASSERT_EQ(lines.code, 0) << lines.out;
  const size_t end = lines.out.find('\n');
  const std::vector<double> first = numbers_in(lines.out.substr(0, end)),
                            second = numbers_in(lines.out.substr(end + 1));
  ASSERT_EQ(first.size(), 16u);
  ASSERT_EQ(folder.run("embed -m my-encoder -i two.txt -o two.npy").code, 0);
  const std::vector<double> stored = read_npy(folder / "two.npy").values<double>();
  ASSERT_EQ(stored.size(), 32u);
  double squares = 0, product = 0;
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_NEAR(first[i], stored[i], 1e-5);
    EXPECT_NEAR(second[i], stored[16 + i], 1e-5);
    squares += first[i] * first[i], product += first[i] * second[i];
  }
  EXPECT_NEAR(squares, 1, 1e-4);
  const auto json = nlohmann::json::parse(folder.run("embed -m my-encoder --json 'the cat'").out);
  EXPECT_NEAR(json["vector"][3].get<double>(), first[3], 1e-5);
  const Answer alike = folder.run("embed -m my-encoder --similarity 'the cat' -i two.txt");
  EXPECT_TRUE(alike.out.starts_with("1.0000\tthe cat\n")) << alike.out;
  EXPECT_NEAR(numbers_in(alike.out.substr(alike.out.find('\n') + 1))[0], product, 1e-3);
  const Answer ranked = folder.run("embed -m my-encoder --rank 'a dog?' --top 1 -i two.txt");
  EXPECT_EQ(ranked.out, "1.0000\ta dog?\n");
}

TEST(FillVerb, ProbabilitiesFallAndTheTextIsFilled) {
  const ExampleFolder folder("fill");
  const Answer answer = folder.run("fill -m my-masked --top 60 --json 'the <mask> .'");
  ASSERT_EQ(answer.code, 0) << answer.out;
  const auto gap = nlohmann::json::parse(answer.out)["gaps"][0];
  EXPECT_EQ(gap["span"], (std::vector<int>{4, 10}));
  double sum = 0, last = 1;
  for (const auto& choice : gap["choices"]) {
    const double p = choice["probability"];
    EXPECT_LE(p, last);
    sum += last = p;
    EXPECT_EQ(choice["text"], "the " + choice["token"].get<std::string>() + " .");
  }
  EXPECT_NEAR(sum, 1, 1e-5);
}

TEST(AnswerVerb, AnswersArePartsOfTheTextHoweverLongItIs) {
  const ExampleFolder folder("answer");
  std::string text;
  for (int i = 0; i < 100; ++i) text += "the cat and a dog . ";
  write_text(folder / "long.txt", text);
  const Answer answer = folder.run("answer -m my-finder 'who?' --context-file long.txt --overlap 20 --top 3 --json");
  ASSERT_EQ(answer.code, 0) << answer.out;
  std::istringstream lines(answer.out);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto json = nlohmann::json::parse(line);
    const size_t begin = json["span"][0], end = json["span"][1];
    EXPECT_EQ(json["answer"], text.substr(begin, end - begin));
  }
  EXPECT_EQ(count, 3);
}

TEST(EncoderVerbs, BadInputGivesOneClearLineAndExitCodeTwo) {
  const ExampleFolder folder("encoders_bad");
  const std::pair<const char*, const char*> cases[] = {
      {"embed 'a'", "no --model"},
      {"embed -m my-tagger 'a'", "does not do this"},
      {"embed -m my-encoder --similarity a --rank b c", "expected one of them"},
      {"embed -m my-encoder -o x.npy --json a", "vectors alone"},
      {"fill -m my-masked 'no gap'", "found no [MASK]"},
      {"fill -m my-encoder 'a [MASK]'", "does not do this"},
      {"fill -m my-masked --top 0 'a [MASK]'", "--top"},
      {"answer -m my-finder 'who?'", "no text"},
      {"answer -m my-encoder 'who?' --context a", "does not do this"},
      {"answer -m my-finder 'who?' --context a --longest 0", "longest 0"}};
  for (const auto& [arguments, wanted] : cases) {
    const Answer answer = folder.run(arguments);
    EXPECT_EQ(answer.code, 2) << arguments;
    EXPECT_NE(answer.out.find(wanted), std::string::npos) << arguments << "\n" << answer.out;
    EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1) << answer.out;
  }
}

}  // namespace
}  // namespace fovea
