// What a program must survive on its command line: names that the system refuses, values that no file can hold, escape codes.
#include <gtest/gtest.h>

#include "cli/example_folder.h"

namespace fovea {
namespace {

class HostileInput : public testing::Test {
 protected:
  // The last line on stderr and exit code 2.
  void expect_error(const std::string& arguments, const std::string& part) const {
    const Answer answer = folder_.run(arguments);
    EXPECT_EQ(answer.code, 2) << arguments.substr(0, 200) << "\n" << answer.out;
    const size_t line = answer.out.rfind("fovea: ");
    EXPECT_NE(answer.out.find(part, line), std::string::npos) << arguments.substr(0, 200) << "\n" << answer.out;
    EXPECT_EQ(answer.out.find('\n', line), answer.out.size() - 1) << answer.out;
  }

  ExampleFolder folder_{"hostile"};
};

TEST_F(HostileInput, PathsThatTheSystemRefuses) {
  std::filesystem::create_symlink("loop2", folder_ / "loop1");
  std::filesystem::create_symlink("loop1", folder_ / "loop2");
  const std::string too_long(5000, 'x');
  for (const std::string& path :
       {too_long, std::string("loop1"), std::string("text.txt/inside"), std::string("nowhere")}) {
    const std::string part = path.substr(0, 100);
    for (const char* verb : {"info ", "plot ", "translate x -m ", "classify x -m ", "tokenize x -m ", "attend --input ",
                             "tokenize -m my-model -i ", "train classification -o out --data ", "tag x -m "})
      expect_error(verb + path, part);
  }
  for (const std::string& path : {too_long, std::string("loop1/x"), std::string("text.txt/inside")})
    expect_error("train classification --data labelled.tsv -o " + path, path.substr(0, 100));
  expect_error("plot ''", "found an empty name");
}

TEST_F(HostileInput, ValuesThatNoFileCouldHoldNameTheirFlag) {
  const std::string train = "train classification --data labelled.tsv -o out ";
  expect_error(train + "--smoothing nan", "--smoothing: found nan, expected a finite number");
  expect_error(train + "--learning-rate inf", "--learning-rate: found inf, expected a finite number");
  expect_error(train + "--name \"$(printf 'caf\\351')\"", "--name: found 'caf\\xe9', expected UTF-8");
  expect_error(train + "--languages en \"$(printf '\\377')\"", "--languages: found '\\xff', expected UTF-8");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

TEST_F(HostileInput, ErrorsHoldNoEscapeCodesAndOneLine) {
  expect_error("\"$(printf 'ab\\033[31m\\nc')\"", "ab\\x1b[31m\\nc");
  expect_error("info \"$(printf 'ab\\033[31m\\nc')\"", "ab\\x1b[31m\\nc");
}

TEST_F(HostileInput, TheCardHoldsAnyTextAndIsReadAgain) {
  const Answer trained = folder_.run(
      "train classification --data labelled.tsv -o out --steps 1 --warmup 1 --vocabulary 60 --width 8 --embedding 8 "
      "--license \"$(printf 'line\\nbreak: # y\\n---\\nend')\" --languages no 'en: x' --name \"$(printf "
      "'two\\nlines')\"");
  ASSERT_EQ(trained.code, 0) << trained.out;
  const Answer info = folder_.run("info out --json");
  ASSERT_EQ(info.code, 0) << info.out;
  EXPECT_NE(info.out.find(R"("license":"line\nbreak: # y\n---\nend")"), std::string::npos) << info.out;
  EXPECT_NE(info.out.find(R"("language":["no","en: x"])"), std::string::npos) << info.out;
}

}  // namespace
}  // namespace fovea
