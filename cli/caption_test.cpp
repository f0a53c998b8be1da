// `fovea caption`, and captions that are trained and measured, as a user does it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/example_folder.h"
#include "fovea/fovea.h"

namespace fovea {
namespace {

using Json = nlohmann::json;

class CaptionVerb : public testing::Test {
 protected:
  const ExampleFolder folder_{"caption"};
};

TEST_F(CaptionVerb, SaysTheSameAsTheCallOfThreeLines) {
  const Captioner caption((folder_ / "my-captioner").string());
  const Captioner::Answer answer = caption((folder_ / "picture.png").string());
  EXPECT_EQ(folder_.run("caption -m my-captioner picture.png").out, answer.text + "\n");
  EXPECT_EQ(folder_.run("caption -m my-captioner -i paths.txt").out, answer.text + "\n" + answer.text + "\n");
  EXPECT_EQ(folder_.run("caption -m my-captioner picture.png --beam-size 1").out,
            caption((folder_ / "picture.png").string(), {.beam_size = 1}).text + "\n");
  const Json json = Json::parse(folder_.run("caption -m my-captioner picture.png --json").out);
  EXPECT_EQ(json["caption"], answer.text);
  EXPECT_EQ(json["image"], "picture.png");
  ASSERT_EQ(json["words"].size(), answer.words.size());
  ASSERT_FALSE(answer.words.empty());
  for (size_t i = 0; i < answer.words.size(); ++i) {
    EXPECT_EQ(json["words"][i]["text"], answer.words[i].text);
    EXPECT_NEAR(json["words"][i]["x"].get<double>(), answer.words[i].x, 1e-9);
    double sum = 0;
    for (const auto& row : json["words"][i]["looked"])
      for (double weight : row) sum += weight;
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_EQ(json["words"][i]["looked"].size(), 4u);
    // The middle of the part with the largest weight, in a picture of 24 × 12 pixels.
    const auto& looked = answer.words[i].looked;
    const auto most = std::max_element(looked.begin(), looked.end()) - looked.begin();
    EXPECT_DOUBLE_EQ(answer.words[i].x, 3.0 + 6.0 * static_cast<double>(most % 4));
    EXPECT_DOUBLE_EQ(answer.words[i].y, 1.5 + 3.0 * static_cast<double>(most / 4));
  }
}

TEST_F(CaptionVerb, DrawsEachWord) {
  const std::string text = folder_.run("caption -m my-captioner picture.png").out;
  const Answer shown = folder_.run("caption -m my-captioner picture.png --show --svg a.svg --trace seen.safetensors");
  ASSERT_EQ(shown.code, 0) << shown.out;
  EXPECT_TRUE(shown.out.starts_with(text)) << shown.out;
  const std::string svg = read_text(folder_ / "a.svg");
  size_t panels = 0;
  for (size_t at = svg.find("<image "); at != std::string::npos; at = svg.find("<image ", at + 1)) ++panels;
  EXPECT_EQ(panels, static_cast<size_t>(std::count(text.begin(), text.end(), ' ')) + 1);
  const SafeTensors seen(folder_ / "seen.safetensors");
  const Tensor weights = seen["decoder.attention.weights"];
  EXPECT_EQ(weights.size(-1), 16);
}

TEST_F(CaptionVerb, BadInputGivesOneClearLineAndExitCodeTwo) {
  const std::pair<const char*, const char*> cases[] = {
      {"caption -m my-captioner nowhere.png", "nowhere.png"},
      {"caption -m my-captioner text.txt", "text.txt"},
      {"caption -m my-model picture.png", "found a model of family 'transformer'"},
      {"caption -m my-captioner picture.png --json --show", "--json: found --show"},
      {"caption -m my-captioner -i paths.txt --svg a.svg", "found several pictures"},
      {"caption -m my-captioner -i paths.txt --trace a.safetensors", "found several pictures"},
      {"translate -m my-captioner Hello", "expected a picture"},
      {"generate -m my-captioner Hello", "use fovea caption"},
      {"caption -m my-captioner picture.png picture.png", "found 2 files, expected one"},
  };
  for (const auto& [arguments, wanted] : cases) {
    const Answer answer = folder_.run(arguments);
    EXPECT_EQ(answer.code, 2) << arguments << "\n" << answer.out;
    EXPECT_NE(answer.out.find(wanted), std::string::npos) << arguments << "\n" << answer.out;
    EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1) << answer.out;
  }
}

// A square of one of three colours at one of sixteen places: what the caption says, and where the box is.
void write_squares(const std::filesystem::path& folder, const std::string& name, int count, uint64_t seed) {
  const char* const colours[] = {"red", "green", "blue"};
  std::string lines;
  for (int i = 0; i < count; ++i) {
    const auto draw = [&](uint64_t below, uint64_t what) {
      return static_cast<int64_t>(Random(seed).below(below, 3 * static_cast<uint64_t>(i) + what));
    };
    const int64_t colour = draw(3, 0), left = 4 * draw(4, 1), top = 4 * draw(4, 2);
    Image picture = {.width = 16, .height = 16, .pixels = std::vector<uint8_t>(16 * 16 * 3, 255)};
    for (int64_t y = top; y < top + 4; ++y)
      for (int64_t x = left; x < left + 4; ++x)
        for (int64_t c = 0; c < 3; ++c) picture.at(x, y, c) = c == colour ? 220 : 20;
    write_text(folder / fmt::format("{}-{}.png", name, i), png_bytes(picture));
    const Json box = {left, top, left + 4, top + 4};
    lines += Json({{"image", fmt::format("{}-{}.png", name, i)},
                   {"caption", fmt::format("a {} square", colours[colour])},
                   {"boxes", {nullptr, box, box}}})
                 .dump() +
             "\n";
  }
  write_text(folder / (name + ".jsonl"), lines);
}

TEST_F(CaptionVerb, LearnsFromPicturesAndIsMeasured) {
  const std::filesystem::path data = folder_ / "data";
  std::filesystem::create_directories(data);
  write_squares(data, "train", 80, 1);
  write_squares(data, "test", 20, 2);
  const std::string flags =
      "train captions --data data/train.jsonl -o trained --image-size 16 --patch-size 4 --encoder-width 16 --embedding "
      "8 "
      "--decoder-width 24 --dropout 0 --learning-rate 8e-3 --warmup 20 --batch-tokens 200 --steps 400 --average 0 "
      "--validate-every 200 --quiet";
  const Answer trained = folder_.run(flags);
  ASSERT_EQ(trained.code, 0) << trained.out;
  const Json scores = Json::parse(folder_.run("evaluate -m trained --data data/test.jsonl --part all --json").out);
  EXPECT_GE(scores["exact"].get<double>(), 0.9);
  EXPECT_TRUE(scores.contains("pointing") && scores.contains("CIDEr") && scores.contains("BLEU-4"));

  // The same from files, as those of any other system.
  std::string paths;
  for (int i = 0; i < 20; ++i) paths += fmt::format("data/test-{}.png\n", i);
  write_text(folder_ / "test-paths.txt", paths);
  ASSERT_EQ(folder_.run("caption -m trained -i test-paths.txt --json -o output.jsonl --quiet").code, 0);
  const Json again =
      Json::parse(folder_.run("evaluate --task captions --references data/test.jsonl output.jsonl --json").out);
  for (const char* name : {"exact", "pointing", "BLEU-4", "CIDEr"}) EXPECT_EQ(again[name], scores[name]) << name;
}

TEST_F(CaptionVerb, APictureThatIsNotThereStopsATrainingWithItsName) {
  write_text(folder_ / "bad.tsv", "missing.png\ta red square\npicture.png\ta line\n");
  const Answer answer = folder_.run("train captions --data bad.tsv -o never --hold-out 50");
  EXPECT_EQ(answer.code, 2) << answer.out;
  EXPECT_NE(answer.out.find("missing.png"), std::string::npos) << answer.out;
}

}  // namespace
}  // namespace fovea
