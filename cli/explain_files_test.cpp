// `fovea explain` and `view` of pictures and sounds, as a user does it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/example_folder.h"

namespace fovea {
namespace {

using Json = nlohmann::json;

class ExplainFiles : public testing::Test {
 protected:
  const ExampleFolder folder_{"explain_files"};
};

TEST_F(ExplainFiles, ExplainWritesWhatWasSeenAsAPageAndAsPictures) {
  const std::string text = folder_.run("caption -m my-captioner picture.png").out;
  const Answer told = folder_.run("explain -m my-captioner picture.png --html a.html --svg a.svg --png a.png --show");
  ASSERT_EQ(told.code, 0) << told.out;
  EXPECT_TRUE(told.out.starts_with(text)) << told.out;
  EXPECT_NE(told.out.find("decoder.attention"), std::string::npos);
  const std::string html = read_text(folder_ / "a.html");
  EXPECT_NE(html.find(R"("picture":{"png":"data:image/png;base64,)"), std::string::npos);
  EXPECT_NE(html.find("patch 4,4"), std::string::npos);
  EXPECT_LT(html.size(), 1'000'000u);
  EXPECT_NE(read_text(folder_ / "a.svg").find("<image "), std::string::npos);
  EXPECT_GT(read_image(folder_ / "a.png").width, 320);
  // The same file as JSON and as a trace.
  const Json json = Json::parse(folder_.run("explain -m my-looker photo.png --json --trace seen.safetensors").out);
  EXPECT_EQ(json["heads"][0]["columns"][0], "class");
  EXPECT_EQ(folder_.run("view -m my-captioner picture.png --once").code, 0);
}

TEST_F(ExplainFiles, ExplainDrawsWhatWasHeard) {
  const Answer told = folder_.run("explain -m my-listener speech.wav --svg a.svg --html a.html");
  ASSERT_EQ(told.code, 0) << told.out;
  EXPECT_NE(read_text(folder_ / "a.html").find(R"("spectrogram":")"), std::string::npos);
  EXPECT_NE(read_text(folder_ / "a.svg").find("<image "), std::string::npos);
}

TEST_F(ExplainFiles, BadInputGivesOneClearLineAndExitCodeTwo) {
  const std::pair<const char*, const char*> cases[] = {
      {"explain -m my-captioner Hello", "expected the path of a picture"},
      {"explain -m my-captioner nowhere.png --html a.html", "found no such file"},
      {"explain -m my-captioner text.txt", "text.txt"},
      {"explain -m my-looker --method all photo.png", "reads pictures"},
      {"explain -m my-looker --heads", "reads pictures"},
      {"explain -m my-model Hello --png a.png", "--png"},
      {"explain -m my-listener Hello", "expected the path of a recording"},
      {"explain -m my-listener photo.png", "photo.png"},
      {"explain -m my-listener speech.wav --json", "--show, --json"},
      {"view -m my-captioner --once Hello", "expected the path of a picture"},
  };
  for (const auto& [arguments, wanted] : cases) {
    const Answer answer = folder_.run(arguments);
    EXPECT_EQ(answer.code, 2) << arguments << "\n" << answer.out;
    EXPECT_NE(answer.out.find(wanted), std::string::npos) << arguments << "\n" << answer.out;
    EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1) << answer.out;
  }
}

}  // namespace
}  // namespace fovea
