// A form, a family, a task, an evaluation and a verb in files outside of the library (tests/outside) are found by everything.
#include <gtest/gtest.h>

#include "cli/example_folder.h"
#include "cli/program.h"
#include "fovea/train/toy_data.h"
#include "test_paths.h"

namespace fovea {
namespace {

class Outside : public testing::Test {
 protected:
  Answer run(const std::string& arguments) const {
    return run_command("cd " + folder_.path().string() + " && " + outside_program + " " + arguments +
                       " 2>&1 </dev/null");
  }

  ExampleFolder folder_{"outside"};
};

TEST_F(Outside, AFormRunsFusedAndIsListed) {
  // −(2 − k)² / 2 of the keys 1, 2 and 4 is −0.5, 0 and −2; e to these powers is 0.6065, 1 and 0.1353.
  const Answer answer = run("attend --form euclidean --query 2 --keys '1;2;4' --values '1;10;100'");
  EXPECT_EQ(answer.code, 0) << answer.out;
  for (const char* weight : {"0.3482", "0.5741", "0.0777"})
    EXPECT_NE(answer.out.find(weight), std::string::npos) << answer.out;
  EXPECT_NE(run("attend --form euclid").out.find("euclidean"), std::string::npos);
}

TEST_F(Outside, AVerbIsListedAndRuns) {
  EXPECT_EQ(run("greet Ada").out, "Hello, Ada!\n");
  EXPECT_NE(run("").out.find("a greeting"), std::string::npos);
}

TEST_F(Outside, AFamilyAndATaskAreTrainedEvaluatedAndExplained) {
  write_text(folder_ / "moods.tsv", toy_labelled(200));
  const Answer trained = run("train moods --data moods.tsv -o moods --hold-out 20");
  ASSERT_EQ(trained.code, 0) << trained.out;
  EXPECT_NE(trained.out.find("average with"), std::string::npos) << trained.out;
  EXPECT_NE(run("train moods --help").out.find("average, bag-of-words, "), std::string::npos);
  EXPECT_NE(run("train classification --help").out.find("average"), std::string::npos);
  const Answer measured = run("evaluate -m moods --part validation");
  EXPECT_EQ(measured.code, 0);
  EXPECT_NE(measured.out.find("moods are right"), std::string::npos) << measured.out;
  EXPECT_EQ(run("classify -m moods 'the song was old and lovely' --show").code, 0);
  EXPECT_EQ(run("explain -m moods 'the song was old and lovely'").code, 0);
  EXPECT_NE(run("info moods").out.find("added from outside"), std::string::npos);
}

}  // namespace
}  // namespace fovea
