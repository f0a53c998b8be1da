#include "fovea/data/audio/sound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/audio/log_mel.h"
#include "fovea/formats/safetensors.h"
#include "test_paths.h"

namespace fovea {
namespace {

const std::filesystem::path golden = std::filesystem::path(test_data) / "golden";

Tensor expected(const std::string& name) {
  static const SafeTensors file(golden / "sound.safetensors");
  return file.tensors().at(name);
}

std::vector<std::byte> bytes_of(const std::string& name) {
  const MappedFile file(golden / "sound" / name);
  return {file.bytes().begin(), file.bytes().end()};
}

// Of what both have; the root of the mean square.
double distance(const Sound& sound, const Tensor& wanted, int64_t shift = 0) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 200; i + 200 < wanted.elements() && i + shift < static_cast<int64_t>(sound.samples.size());
       ++i, ++count)
    sum += std::pow(sound.samples[static_cast<size_t>(i + shift)] - wanted.data<float>()[i], 2);
  return std::sqrt(sum / static_cast<double>(count));
}

// tests/golden/make_sound.py
TEST(Sound, IsReadFromWhateverHoldsIt) {
  const Tensor wanted = expected("samples");
  const Sound plain = read_sound(golden / "sound" / "plain.wav");
  EXPECT_EQ(plain.samples.size(), 8000u);
  EXPECT_EQ(distance(plain, wanted), 0);
  EXPECT_LT(distance(read_sound(golden / "sound" / "float.wav"), wanted), 2e-5);
  EXPECT_NEAR(read_sound(golden / "sound" / "stereo.flac").seconds(), 0.5, 0.001);
  EXPECT_LT(distance(read_sound(golden / "sound" / "stereo.flac"), wanted), 2e-4);  // two channels, 44,100 Hz
  EXPECT_LT(distance(read_sound(golden / "sound" / "small.ogg"), wanted), 0.02);    // lossy, 22,050 Hz
  const Sound mp3 = read_sound(golden / "sound" / "small.mp3");
  EXPECT_GT(mp3.seconds(), 0.45);
  double loudest = 0;
  for (float s : mp3.samples) loudest = std::max(loudest, std::abs(double{s}));
  EXPECT_NEAR(loudest, 0.55, 0.15);
}

TEST(Sound, OtherRatesKeepTheTones) {
  const Sound slow = read_sound(golden / "sound" / "plain.wav", 8000);
  EXPECT_EQ(slow.rate, 8000);
  EXPECT_NEAR(slow.seconds(), 0.5, 0.001);
  const Tensor wanted = expected("samples");
  double sum = 0;
  for (size_t i = 100; i + 100 < slow.samples.size(); ++i)
    sum += std::pow(slow.samples[i] - wanted.data<float>()[2 * i], 2);
  EXPECT_LT(std::sqrt(sum / static_cast<double>(slow.samples.size())), 2e-3);
}

TEST(Sound, DamageIsAnErrorThatNamesTheFile) {
  for (const std::string name : {"plain.wav", "stereo.flac", "small.ogg", "small.mp3"}) {
    const std::vector<std::byte> whole = bytes_of(name);
    EXPECT_TRUE(is_sound(whole)) << name;
    for (size_t size : {size_t{0}, size_t{3}, size_t{11}, size_t{20}, size_t{40}}) {
      try {
        parse_sound({whole.data(), size}, 16000, "cut");
        ADD_FAILURE() << name << " of " << size << " bytes was read";
      } catch (const Error& e) {
        EXPECT_EQ(std::string(e.what()).substr(0, 4), "cut:") << e.what();
      }
    }
  }
  std::vector<std::byte> broken = bytes_of("float.wav");
  const float nan = std::nanf("");
  std::memcpy(broken.data() + broken.size() - 400, &nan, sizeof(nan));
  EXPECT_THROW(parse_sound(broken, 16000, "nan.wav"), Error);
  EXPECT_FALSE(is_sound({}));
}

TEST(LogMel, IsWhatWhisperHears) {
  std::vector<float> samples = expected("samples").values<float>();
  samples.resize(32000);
  for (int64_t bands : {80, 128}) {
    const Tensor heard = LogMel({.bands = bands})(samples), wanted = expected(fmt::format("log_mel.{}", bands));
    ASSERT_EQ(heard.shape(), wanted.shape());
    for (int64_t i = 0; i < heard.elements(); ++i)
      ASSERT_NEAR(heard.data<float>()[i], wanted.data<float>()[i], 1e-4) << bands << " " << i;
  }
}

TEST(LogMel, OfSilenceAndOfLessThanAWindow) {
  EXPECT_EQ(LogMel({})(std::vector<float>(100)).size(1), 0);
  const Tensor silence = LogMel({})(std::vector<float>(1600));
  for (float x : silence.values<float>()) EXPECT_FLOAT_EQ(x, (-10.0f + 4) / 4);
  EXPECT_EQ(LogMel({})(std::vector<float>(161, 0.5f)).size(1), 1);
  EXPECT_THROW(LogMel({.bands = 0}), Error);
}

}  // namespace
}  // namespace fovea
