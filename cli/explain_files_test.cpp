// `fovea explain` and `view` of pictures and sounds, as a user does it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/example_folder.h"
#include "fovea/explain/svg_texts.h"

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

// Whatever is drawn as SVG is drawn as PNG and PDF, too.
TEST_F(ExplainFiles, EveryPictureIsAnSvgAPngAndAPdf) {
  write_text(folder_ / "pair.txt", "The teacher wrote.\nThe teacher slept.\n");
  for (const char* verb :
       {"attend --query 1,2 --keys '1,2;3,4'", "translate -m my-model Hello", "tag -m my-tagger Paris",
        "classify -m my-classifier Paris", "caption -m my-captioner picture.png", "explain -m my-model Hello",
        "explain -m my-classifier Paris --method attention", "explain -m my-model --heads --data pair.txt",
        "explain -m my-model --word teacher --data pair.txt", "explain -m my-listener speech.wav",
        "transcribe -m my-listener speech.wav"}) {
    const Answer plain = folder_.run(verb);
    const Answer drawn = folder_.run(fmt::format("{} --svg a.svg --png a.png --pdf a.pdf", verb));
    EXPECT_EQ(drawn.code, 0) << verb << "\n" << drawn.out;
    EXPECT_EQ(drawn.out, plain.out) << verb;
    const SvgBox size = svg_size(read_text(folder_ / "a.svg"));
    const Image image = read_image(folder_ / "a.png");
    EXPECT_EQ(image.width, 2 * static_cast<int64_t>(size.right)) << verb;
    EXPECT_EQ(image.height, 2 * static_cast<int64_t>(size.bottom)) << verb;
    EXPECT_GT(std::count_if(image.pixels.begin(), image.pixels.end(), [](uint8_t p) { return p < 128; }), 0) << verb;
    EXPECT_TRUE(read_text(folder_ / "a.pdf").starts_with("%PDF-")) << verb;
    for (const char* file : {"a.svg", "a.png", "a.pdf"}) std::filesystem::remove(folder_ / file);
  }
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
      {"explain -m my-model Hello --png nowhere/a.png", "nowhere/a.png"},
      {"explain -m my-model --find-alignment-heads --pdf a.pdf", "--find-alignment-heads: found --svg, --png or --pdf"},
      {"explain -m my-model --heads --html a.html", "--html: found --heads"},
      {"explain -m my-listener Hello", "expected the path of a recording"},
      {"explain -m my-listener photo.png", "photo.png"},
      {"explain -m my-listener speech.wav --json", "--show, --json"},
      {"view -m my-captioner --once Hello", "expected the path of a picture"},
      {"view -m my-model --more nowhere --once Hello", "found no model 'nowhere'"},
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
