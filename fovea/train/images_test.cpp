// Labels of pictures are learned, from nothing and from a model; what pictures go through before is what was asked for.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/base/threads.h"
#include "fovea/data/datasets/pictures.h"
#include "fovea/generate/classify_pictures.h"
#include "fovea/models/zoo.h"
#include "fovea/train/picture_changes.h"
#include "fovea/train/prepare.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

// Noise with one light half: above or below, or, of `sides`, left or right.
Image toy_picture(uint64_t number, bool first, bool sides = false) {
  Image picture = {8, 8, 1, {}};
  for (int64_t y = 0; y < 8; ++y)
    for (int64_t x = 0; x < 8; ++x) {
      const bool light = ((sides ? x : y) < 4) == first;
      const auto noise = Random(number).below(100, static_cast<uint64_t>(8 * y + x));
      picture.pixels.push_back(static_cast<uint8_t>((light ? 120 : 0) + noise));
    }
  return picture;
}

class ImagesTask : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* label : {"toys/above", "toys/below", "sides/left", "sides/right"})
      fs::create_directories(folder_ / label);
    for (uint64_t i = 0; i < 60; ++i) {
      const std::string name = fmt::format("{}.png", i);
      write_text(folder_ / "toys/above" / name, png_bytes(toy_picture(i, true)));
      write_text(folder_ / "toys/below" / name, png_bytes(toy_picture(100 + i, false)));
      write_text(folder_ / "sides/left" / name, png_bytes(toy_picture(200 + i, true, true)));
      write_text(folder_ / "sides/right" / name, png_bytes(toy_picture(300 + i, false, true)));
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  Recipe recipe(const std::string& output, const std::string& more, const std::string& data = "toys") const {
    Recipe r = read_recipe(fmt::format("task: images\ndata: {}\nhold_out: 20\nsteps: 40\nwarmup: 5\nvalidate_every: 0\n"
                                       "checkpoint_every: 10\nlearning_rate: 0.003\nbatch_pictures: 16\naverage: 0\n{}",
                                       (folder_ / data).string(), more),
                           "recipe.yaml");
    r.output = (folder_ / output).string();
    return r;
  }
  static constexpr const char* small =
      "hidden_size: 16\nnum_hidden_layers: 2\nnum_attention_heads: 2\nintermediate_size: 32\n";
  TrainingResult trained(Recipe& r, bool resume = false) const {
    const std::unique_ptr<Trainee> trainee =
        prepare(r, {.resumed = resume ? fs::path(r.output) / "last" : fs::path(), .say = [](const std::string&) {}});
    return train(*trainee, r.trainer, {.folder = r.output, .resume = resume});
  }
  std::string weights(const std::string& output) const {
    return read_text(folder_ / output / "last/model.safetensors");
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "images_task";
};

TEST_F(ImagesTask, AFolderForEachLabelIsLearnedFromNothing) {
  Recipe r = recipe("model", small);
  EXPECT_GT(trained(r).best->value, 0.95);
  const Pretrained model = load_pretrained(folder_ / "model/best");
  const auto config = nlohmann::json::parse(read_text(folder_ / "model/best/config.json"));
  EXPECT_EQ(config["architectures"][0], "ViTForImageClassification");
  EXPECT_EQ(config["image_size"], 8);    // as the data has it
  EXPECT_EQ(config["num_channels"], 1);  // grey
  EXPECT_EQ(config["id2label"]["1"], "below");
  const auto input = nlohmann::json::parse(read_text(folder_ / "model/best/preprocessor_config.json"));
  EXPECT_EQ(input["image_processor_type"], "ViTImageProcessor");
  EXPECT_EQ(input["size"]["height"], 8);
  const PictureInput as_read = read_picture_input(model.folder);
  const std::vector<Image> unseen = {toy_picture(1000, true), toy_picture(1001, false), toy_picture(1002, false)};
  const std::vector<Classified> found = classify_pictures(model, as_read, unseen);
  for (size_t i = 0; i < unseen.size(); ++i) {
    EXPECT_EQ(found[i].best, i == 0 ? 0u : 1u);
    EXPECT_EQ(found[i].probabilities, classify_picture(model, as_read, unseen[i]).label.probabilities);
  }
  const std::string card = read_text(folder_ / "model/best/README.md");
  EXPECT_NE(card.find("| accuracy | "), std::string::npos);
  EXPECT_NE(card.find("| macro_f1 | "), std::string::npos);
  EXPECT_EQ(card.find("tokenizer"), std::string::npos);
}

TEST_F(ImagesTask, SameBitsForAnyNumberOfThreadsAndAfterAResume) {
  const int before = threads();
  const std::string constant = std::string(small) + "schedule: constant\n";
  Recipe whole = recipe("whole", constant), two = recipe("two", constant), half = recipe("half", constant);
  set_threads(1);
  trained(whole);
  set_threads(2);
  trained(two);
  set_threads(before);
  EXPECT_EQ(weights("whole"), weights("two"));
  half.trainer.steps = 20;
  trained(half);
  Recipe rest = read_recipe(read_text(folder_ / "half/last/recipe.yaml"), "recipe.yaml");
  rest.trainer.steps = 40;
  trained(rest, true);
  EXPECT_EQ(weights("whole"), weights("half"));
}

TEST_F(ImagesTask, AModelGetsANewHeadForOtherLabels) {
  Recipe r = recipe("model", small);
  trained(r);
  Recipe sides = recipe("sides-model", fmt::format("from: {}\nflip: 0\n", (folder_ / "model/best").string()), "sides");
  sides.trainer.steps = 80;
  EXPECT_GT(trained(sides).best->value, 0.9);
  const Pretrained model = load_pretrained(folder_ / "sides-model/best");
  EXPECT_EQ(model.as<PictureLabeller>().labels().names(), (std::vector<std::string>{"left", "right"}));
  EXPECT_EQ(classify_pictures(model, read_picture_input(model.folder), {toy_picture(2000, false, true)})[0].best, 1u);
}

TEST_F(ImagesTask, WhatMakesNoSenseIsSaid) {
  const auto says = [&](const std::string& more, const std::string& data = "toys") -> std::string {
    try {
      Recipe r = recipe("bad", small + more, data);
      prepare(r, {});
    } catch (const Error& e) {
      return e.what();
    }
    return "no Error";
  };
  EXPECT_NE(says("mix_up: 2\n").find("--mix-up: found 2, expected 0 to 1"), std::string::npos);
  EXPECT_NE(says("crop: 1\n").find("--crop: found 1, expected"), std::string::npos);
  EXPECT_NE(says("flip: -1\n").find("--flip: found -1, expected"), std::string::npos);
  EXPECT_NE(says("", "toys/above").find("found no folders in it"), std::string::npos);
  EXPECT_NE(says("tokenizer: words\n").find("unknown"), std::string::npos);  // it reads no text
}

TEST(PictureChanges, FlipsAndCropsAreThoseOfTheSeedAndMoveNothingElse) {
  const PictureInput input = {.image_mean = {0.5}, .image_std = {0.5}};
  std::vector<Image> pictures;
  for (uint64_t i = 0; i < 200; ++i) pictures.push_back(toy_picture(i, i % 2 == 0));
  const PictureChanges flips = {.flip = 0.5, .crop = 0, .mix_up = 0};
  const ChangedPictures once = flips(pictures, input, Random(1)), again = flips(pictures, input, Random(1));
  EXPECT_EQ(once.pixels.values<float>(), again.pixels.values<float>());
  EXPECT_NE(once.pixels.values<float>(), flips(pictures, input, Random(2)).pixels.values<float>());
  int64_t mirrored_ones = 0;
  for (int64_t i = 0; i < 200; ++i) {
    const auto row = once.pixels.select(0, i).values<float>();
    const bool as_it_is = row == input.numbers(pictures[static_cast<size_t>(i)]).values<float>();
    const bool turned = row == input.numbers(mirrored(pictures[static_cast<size_t>(i)])).values<float>();
    EXPECT_TRUE(as_it_is != turned) << i;
    mirrored_ones += turned;
  }
  EXPECT_NEAR(static_cast<double>(mirrored_ones), 100, 30);
  // A crop by an eighth of eight pixels moves by one at most, and what comes in is black.
  const ChangedPictures moved = PictureChanges{.flip = 0, .crop = 0.125, .mix_up = 0}(pictures, input, Random(3));
  for (int64_t i = 0; i < 200; ++i) {
    const auto row = moved.pixels.select(0, i).values<float>();
    int64_t fits = 0;
    for (int64_t dy = -1; dy <= 1; ++dy)
      for (int64_t dx = -1; dx <= 1; ++dx)
        fits += row == input.numbers(cropped(pictures[static_cast<size_t>(i)], dx, dy, 8, 8)).values<float>();
    EXPECT_EQ(fits, 1) << i;
  }
}

TEST(PictureChanges, MixUpIsItsFormula) {
  const PictureInput input = {.image_mean = {0.5}, .image_std = {0.5}};
  std::vector<Image> pictures;
  for (uint64_t i = 0; i < 5; ++i) pictures.push_back(toy_picture(i, i % 2 == 0));
  const ChangedPictures mixed = PictureChanges{.flip = 0, .crop = 0, .mix_up = 1}(pictures, input, Random(1));
  ASSERT_TRUE(mixed.mixes());
  for (int64_t i = 0; i < 5; ++i) {
    const double own = mixed.own.values<double>()[static_cast<size_t>(i)];
    const auto x = input.numbers(pictures[static_cast<size_t>(i)]).values<double>();
    const auto y =
        input.numbers(pictures[static_cast<size_t>(mixed.partners[static_cast<size_t>(i)])]).values<double>();
    const auto found = mixed.pixels.select(0, i).values<double>();
    for (size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(found[k], own * x[k] + (1 - own) * y[k], 1e-6);
  }
}

// The mean of Beta(α, α) is 1/2, its variance 1 / (4 (2 α + 1)).
TEST(PictureChanges, BetaHasItsMeanAndItsVariance) {
  for (const double alpha : {0.1, 0.2, 0.5, 1.0}) {
    double sum = 0, squares = 0;
    constexpr int count = 20000;
    for (int i = 0; i < count; ++i) {
      const double x = beta(alpha, Random(7).fork(static_cast<uint64_t>(i)));
      ASSERT_TRUE(x >= 0 && x <= 1);
      sum += x, squares += (x - 0.5) * (x - 0.5);
    }
    EXPECT_NEAR(sum / count, 0.5, 0.01) << alpha;
    EXPECT_NEAR(squares / count, 1 / (4 * (2 * alpha + 1)), 0.005) << alpha;
  }
}

}  // namespace
}  // namespace fovea
