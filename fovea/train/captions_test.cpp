// Captions are learned picture by picture: each is looked at once, and what is learned is what its captions alone would say.
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "fovea/data/image/pictures.h"
#include "fovea/train/next_tokens.h"
#include "fovea/train/task.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr const char* table =
    "image\tcaption\na.png\tone two three\nb.png\tfour\na.png\ttwo\nc.png\tthree one\na.png\tfour four one two\n";

class CaptionsTask : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    write_text(folder_ / "captions.tsv", table);
    for (uint8_t i = 0; i < 3; ++i) {
      Image picture = {8, 8, 3, {}};
      for (int k = 0; k < 8 * 8 * 3; ++k) picture.pixels.push_back(static_cast<uint8_t>((k * (i + 3)) % 251));
      write_text(folder_ / fmt::format("{:c}.png", static_cast<char>('a' + i)), png_bytes(picture));
    }
    examples_.data = read_examples({.data = {(folder_ / "captions.tsv").string()}}, task_->format()).data;
    for (int64_t i = 0; i < 5; ++i) examples_.training.push_back(i);
    pretrained_.tokenizer = task_->learn(task_->vocabulary(), examples_);
    const std::unique_ptr<ModelConfig> config = find<Family>("captioner").config();
    from_json(R"({"image_size": 8, "patch_size": 4, "encoder_width": 12, "embedding": 6, "decoder_width": 10})",
              *config, "test");
    tell(*config, task_->facts(examples_, *pretrained_.tokenizer));
    pretrained_.model = config->make();
    initialise(*pretrained_.model, Random(3));
  }
  void TearDown() override { fs::remove_all(folder_); }

  Samples samples(int64_t max_tokens) {
    from_json(fmt::format(R"({{"max_tokens": {}}})", max_tokens), *task_, "test");
    Samples samples;
    task_->add_samples(pretrained_, examples_.data, examples_.training, samples);
    return samples;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "captions_task";
  std::unique_ptr<Task> task_ = find<TaskKind>("captions").make();
  Examples examples_;
  Pretrained pretrained_;
};

TEST_F(CaptionsTask, ThoseOfOnePictureStandTogetherUpToALimit) {
  EXPECT_EQ(samples(0).size(), 3);
  EXPECT_EQ(samples(60).size(), 3);
  const Samples few = samples(8);  // with start and end: 5 and 3, then 6
  ASSERT_EQ(few.size(), 4);
  EXPECT_EQ(few.lengths(0)[1], 8);
  EXPECT_EQ(few.lengths(3)[1], 6);
  EXPECT_EQ(few[3][0].ids, few[0][0].ids);
  EXPECT_EQ(samples(2).size(), 5);  // each by itself, to be left out
}

// The model is asked for each caption alone, from pixels.
TEST_F(CaptionsTask, TheLossIsTheSumOfEachCaptionsOwn) {
  const Samples all = samples(0);
  Batches batches(all, {.tokens = 1000});
  const Batch batch = batches.next();
  ASSERT_EQ(batch.examples.size(), 3u);
  EXPECT_EQ(task_->losses(batch), 4 + 2 + 2 + 3 + 5);
  const Generator& writer = pretrained_.as<Generator>();
  Pictures pictures({.height = 8, .width = 8, .crop_height = 8, .crop_width = 8});
  double sum = 0;
  for (int64_t i : examples_.training) {
    const Example e = examples_.data[i];
    const std::vector<int64_t> number = {pictures.add(folder_ / e.source)};
    const std::vector<Sequence> columns = task_->columns(pretrained_, e);
    const NextTokens t = next_tokens(collate({&columns[1], 1}));
    sum += writer
               .loss({.pixels = pictures.batch(number)}, t.read, t.wanted,
                     {.ignored = no_target, .reduction = Reduction::sum}, {})
               .item();
  }
  EXPECT_NEAR(task_->loss(pretrained_, batch, {}).item(), sum, 1e-4 * sum);
}

}  // namespace
}  // namespace fovea
