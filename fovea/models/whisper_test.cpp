// Whisper against Transformers' numbers (tests/golden/make_whisper.py).
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/file.h"
#include "fovea/data/audio/log_mel.h"
#include "fovea/models/pretrained.h"
#include "fovea/nn/golden.h"

namespace fovea {
namespace {

const std::filesystem::path golden_folder = std::filesystem::path(test_data) / "golden";

// A folder as Transformers writes it.
std::unique_ptr<Model> stored(const NamedTensors& all, const std::filesystem::path& folder, const LoadOptions& o = {}) {
  std::filesystem::create_directories(folder);
  NamedTensors weights;
  for (const auto& [key, tensor] : all)
    if (key.starts_with("weight.")) weights[key.substr(7)] = tensor;
  write_safetensors(folder / "model.safetensors", weights);
  std::string config;
  for (int64_t byte : all.at("config").values<int64_t>()) config += static_cast<char>(byte);
  write_text(folder / "config.json", config);
  return load_model(folder, o);
}

Source two_seconds(int64_t bands) {
  const SafeTensors sound(golden_folder / "sound.safetensors");
  std::vector<float> samples = sound["samples"].values<float>();
  samples.resize(32000);
  return {.frames = LogMel({.bands = bands})(samples).unsqueeze(0)};
}

void expect_near(const Tensor& found, const Tensor& wanted, double allowed, const std::string& what) {
  ASSERT_EQ(found.shape(), wanted.shape()) << what;
  const std::vector<float> a = found.values<float>(), b = wanted.values<float>();
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], allowed * std::max(1.0f, std::abs(b[i]))) << what << " " << i;
}

class WhisperGolden : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  NamedTensors all_ = golden(SafeTensors(golden_folder / "whisper.safetensors"), std::string(GetParam()) + ".");
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "fovea_whisper";
};
INSTANTIATE_TEST_SUITE_P(Models, WhisperGolden, testing::Values("whisper", "whisper_large"));

// From the samples on, so through the log-mel frames too.
TEST_P(WhisperGolden, StatesAndLogitsAreTransformers) {
  const auto model = stored(all_, folder_);
  const Listener& listener = as<Listener>(*model);
  const Source sound = two_seconds(listener.sound_shape().bands);
  EXPECT_EQ(listener.sound_shape().frames, sound.frames.size(2));
  for_each_simd([&] {
    const Tensor states = listener.hear(sound, {});
    expect_near(states, all_.at("states"), 2e-4, "states");
    expect_near(as<Generator>(*model).logits(sound, all_.at("ids"), {}), all_.at("logits"), 2e-4, "logits");
    // What was heard may be given instead of the sound.
    EXPECT_TRUE(same_bits(as<Generator>(*model).logits({.states = states}, all_.at("ids"), {}),
                          as<Generator>(*model).logits(sound, all_.at("ids"), {})));
  });
}

TEST_P(WhisperGolden, PrecisionsStayNear) {
  const Source sound = two_seconds(as<Listener>(*stored(all_, folder_)).sound_shape().bands);
  const auto rounded = stored(all_, folder_, {.precision = Precision::bf16});
  expect_near(as<Generator>(*rounded).logits(sound, all_.at("ids"), {}), all_.at("logits"), 0.1, "bf16");
  const auto small = stored(all_, folder_, {.precision = Precision::int8});
  expect_near(as<Generator>(*small).logits(sound, all_.at("ids"), {}), all_.at("logits"), 0.1, "int8");
}

// As whisper.cpp and OpenAI store it, in half precision.
TEST(WhisperFiles, HaveTransformersLogits) {
  const NamedTensors all = golden(SafeTensors(golden_folder / "whisper.safetensors"), "whisper_file.");
  for (const char* name : {"tiny.bin", "tiny.pt"}) {
    const auto model = load_model(golden_folder / "whisper" / name);
    EXPECT_EQ(as<Generator>(*model).special_ids().eos, 32);
    expect_near(as<Generator>(*model).logits({.frames = all.at("frames")}, all.at("ids"), {}), all.at("logits"), 2e-4,
                name);
  }
}

TEST_P(WhisperGolden, WhatIsNoSoundIsAnError) {
  const auto model = stored(all_, folder_);
  const Generator& writer = as<Generator>(*model);
  const int64_t bands = as<Listener>(*model).sound_shape().bands;
  EXPECT_THROW(writer.start({}, {}), Error);
  EXPECT_THROW(writer.start({.ids = zeros({1, 3}, DType::i64)}, {}), Error);
  EXPECT_THROW(writer.start({.frames = zeros({1, bands + 1, 200})}, {}), Error);
  EXPECT_THROW(writer.start({.frames = zeros({1, bands, 202})}, {}), Error);
  EXPECT_THROW(writer.start({.states = zeros({1, 10, 25})}, {}), Error);
  EXPECT_NO_THROW(writer.start({.frames = zeros({1, bands, 3})}, {}));
}

}  // namespace
}  // namespace fovea
