// A model that copies, from its training to what `fovea translate` says about it, as a user calls them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "fovea/base/file.h"
#include "test_paths.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

class CopyingVerbs : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    const fs::path names = fs::path(test_data).parent_path() / "examples/train/names.tsv";
    const Answer trained =
        run("train translation --data " + names.string() +
            " -o model --family seq2seq --pointer --coverage --tokenizer words --at-least 20 --embedding "
            "24 --encoder-width 32 --decoder-width 32 --dropout 0 --label-smoothing 0 --batch-tokens 512 "
            "--learning-rate 5e-3 --warmup 20 --steps 100 --average 0");
    ASSERT_EQ(trained.code, 0) << trained.out;
  }
  void TearDown() override { fs::remove_all(folder_); }

  Answer run(const std::string& arguments) const { return run_program(arguments, {.folder = folder_.string()}); }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_copying_verbs_" + std::to_string(getpid()));
};

TEST_F(CopyingVerbs, WordsThatTheVocabularyLacksComeOutAsThemselvesAndAreMarked) {
  const std::string text = "\"give Ægir the old https://a.example/x?y=1\"",
                    wanted = "the https://a.example/x?y=1 is for Ægir";
  EXPECT_EQ(run("translate -m model " + text).out, wanted + "\n");
  const std::string shown = run("translate -m model --show " + text).out;
  EXPECT_NE(shown.find("copied: https://a.example/x?y=1 | Ægir\n"), std::string::npos) << shown;
  const nlohmann::json answer = nlohmann::json::parse(run("translate -m model --json " + text).out);
  EXPECT_EQ(answer["text"], wanted);
  ASSERT_EQ(answer["copied"].size(), 2u);
  EXPECT_EQ(answer["copied"][1]["text"], "Ægir");
  const Answer explained = run("explain -m model " + text);
  EXPECT_EQ(explained.out.find(wanted), 0u) << explained.out;
}

TEST_F(CopyingVerbs, PackedInInt8ItCopiesAsWell) {
  const Answer packed = run("quantize model -o small");
  ASSERT_EQ(packed.code, 0) << packed.out;
  EXPECT_EQ(run("translate -m small \"give Xu the Kettle\"").out, "the Kettle is for Xu\n");
}

}  // namespace
}  // namespace fovea
