// `fovea plot` as a user calls it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "cli/program.h"
#include "fovea/base/file.h"
#include "fovea/data/image/image.h"
#include "fovea/explain/svg_texts.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

Answer run(const std::string& arguments) { return run_program(arguments); }

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

class PlotVerb : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    write_text(folder_ / "log.jsonl",
               "{\"step\":10,\"loss\":4.0,\"learning_rate\":0.0001}\n"
               "{\"step\":20,\"loss\":2.0,\"learning_rate\":0.0002}\n"
               "{\"step\":20,\"validation\":{\"loss\":2.5,\"bleu\":20.5}}\n"
               "{\"step\":30,\"loss\":1.0,\"learning_rate\":0.0003}\n"
               "{\"step\":40,\"validation\":{\"loss\":1.5,\"bleu\":30.5}}\n"
               "{\"step\":40,\"lo");  // as a running training leaves it
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fovea_plot_" + std::to_string(getpid()));
};

TEST_F(PlotVerb, DrawsLossScoresAndLearningRate) {
  const Answer answer = run("plot " + path("log.jsonl"));
  ASSERT_EQ(answer.code, 0) << answer.out;
  EXPECT_TRUE(answer.out.starts_with("<svg ") && answer.out.ends_with("</svg>\n"));
  for (const char* part : {">loss<", ">training<", ">validation<", ">bleu<", ">learning rate<", ">step<"}) {
    EXPECT_NE(answer.out.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(count_of(answer.out, "class=\"plot\""), 3u);
  EXPECT_EQ(count_of(answer.out, "<title>"), 3u + 2u + 2u + 3u);
  EXPECT_EQ(answer.out.find("nan"), std::string::npos);
}

TEST_F(PlotVerb, DrawsTheGradientsVarianceWhereItWasMeasured) {
  write_text(folder_ / "noise.jsonl",
             "{\"step\":20,\"gradient_mean\":1.5,\"gradient_variance\":20.5,\"validation\":{\"accuracy\":0.5}}\n"
             "{\"step\":40,\"gradient_mean\":1.0,\"gradient_variance\":10.5,\"validation\":{\"accuracy\":0.75}}\n");
  const std::string svg = run("plot " + path("noise.jsonl")).out;
  EXPECT_NE(svg.find(">gradient variance<"), std::string::npos);
  EXPECT_EQ(count_of(svg, "<title>"), 2u + 2u);
  EXPECT_EQ(run("plot " + path("log.jsonl")).out.find("gradient"), std::string::npos);
}

TEST_F(PlotVerb, WritesFilesReadsFoldersAndStdinAndComparesRuns) {
  const std::string expected = run("plot " + path("log.jsonl")).out;
  EXPECT_EQ(run("plot " + path("log.jsonl") + " -o " + path("curves.svg")).out, "");
  EXPECT_EQ(read_text(folder_ / "curves.svg"), expected);
  EXPECT_EQ(run("plot " + path("log.jsonl") + " -o " + path("curves.png")).out, "");
  EXPECT_EQ(read_image(folder_ / "curves.png").width, 2 * static_cast<int64_t>(svg_size(expected).right));
  EXPECT_EQ(run("plot " + path("log.jsonl") + " -o " + path("curves.pdf")).out, "");
  EXPECT_TRUE(read_text(folder_ / "curves.pdf").starts_with("%PDF-"));
  EXPECT_EQ(run("plot " + folder_.string()).out, expected);
  EXPECT_EQ(run_program("plot -", {.input = path("log.jsonl")}).out, expected);
  EXPECT_NE(run("plot --log-scale " + path("log.jsonl")).out, expected);
  const Answer two = run("plot " + path("log.jsonl") + " " + path("log.jsonl"));
  EXPECT_EQ(count_of(two.out, ", training<"), 2u);
  EXPECT_EQ(count_of(two.out, "<title>"), 20u);
}

TEST_F(PlotVerb, BadInputGivesOneClearLineAndExitCodeTwo) {
  write_text(folder_ / "broken.jsonl", "{\"step\":1,\"loss\":1}\nloss 3\n");
  write_text(folder_ / "empty.jsonl", "");
  const std::pair<std::string, const char*> cases[] = {
      {"plot", "found no log"},
      {"plot " + path("missing.jsonl"), "cannot open"},
      {"plot " + path("broken.jsonl"), "broken.jsonl:2: found 'loss 3', expected a JSON object with a step"},
      {"plot " + path("empty.jsonl"), "found no loss"},
      {"plot " + path("log.jsonl") + " -o " + path("no/such/folder.svg"), "cannot write"},
      {"plot --log-scal " + path("log.jsonl"), "did you mean '--log-scale'?"},
  };
  for (const auto& [arguments, expected] : cases) {
    const Answer answer = run(arguments);
    EXPECT_EQ(answer.code, 2) << arguments << "\n" << answer.out;
    EXPECT_NE(answer.out.find(expected), std::string::npos) << arguments << "\n" << answer.out;
    EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1) << answer.out;
  }
}

}  // namespace
}  // namespace fovea
