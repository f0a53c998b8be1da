#include "fovea/generate/transcribe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "fovea/base/threads.h"
#include "fovea/data/audio/log_mel.h"
#include "fovea/formats/safetensors.h"
#include "fovea/generate/speech_languages.h"
#include "fovea/generate/speech_tokens.h"
#include "fovea/generate/speech_window.h"
#include "fovea/models/listener_folder.h"
#include "test_paths.h"

namespace fovea {
namespace {

const std::filesystem::path golden = std::filesystem::path(test_data) / "golden";

// tests/golden/make_whisper.py: what Transformers lets follow.
TEST(SpeechTokens, AllowWhatTransformersAllows) {
  const SafeTensors file(golden / "whisper.safetensors");
  const SpeechTokens tokens = {.end = 10, .no_times = 20, .latest_first_time = 5};
  for (int i = 0; i < 10; ++i) {
    SCOPED_TRACE(i);
    const std::string name = fmt::format("rules.{}.", i);
    std::vector<float> scores = file[name + "scores"].values<float>();
    tokens.exclude(scores, file[name + "history"].values<int64_t>());
    std::vector<int64_t> open;
    for (float s : scores) open.push_back(std::isfinite(s));
    EXPECT_EQ(open, file[name + "open"].values<int64_t>());
  }
}

TEST(WordTimes, AreWarpedAsTransformersWarpsThem) {
  const SafeTensors file(golden / "whisper.safetensors");
  for (int i = 0; i < 4; ++i) {
    SCOPED_TRACE(i);
    const std::string name = fmt::format("warping.{}.", i);
    const Tensor weights = file[name + "weights"];
    const int64_t tokens = weights.size(1);
    EXPECT_EQ(said_at(weights, 0, tokens), file[name + "times"].values<int64_t>());
    if (tokens <= 2) continue;
    EXPECT_EQ(said_at(weights, 1, tokens - 2), file[name + "inner_times"].values<int64_t>());
  }
}

TEST(WordTimes, AWordBehindAPauseDoesNotBeginWithIt) {
  std::vector<SpokenWord> words = {{.text = " so", .start = 1, .end = 6, .tokens = 1},
                                   {.text = " it", .start = 6, .end = 6.3, .tokens = 1}};
  double start = 1, end = 6.3;
  fit_words(words, 0.3, 0, start, end);
  EXPECT_NEAR(words[0].start, 5.4, 1e-9);
  EXPECT_NEAR(start, 5.4, 1e-9);
  EXPECT_NEAR(end, 6.3, 1e-9);
}

TEST(Languages, HaveCodesAndNames) {
  EXPECT_EQ(language_code("German"), "de");
  EXPECT_EQ(language_code("yue"), "yue");
  EXPECT_EQ(spoken_languages().size(), 100u);
  EXPECT_THROW(language_code("klingon"), Error);
}

TEST(Compression, IsLargeWhereATextRepeatsItself) {
  std::string loop;
  for (int i = 0; i < 40; ++i) loop += "Thank you. ";
  EXPECT_GT(compression_ratio(loop), 2.4);
  EXPECT_LT(compression_ratio("And so my fellow Americans ask not what your country can do for you"), 2.4);
}

class Listening : public testing::Test {
 protected:
  void SetUp() override {
    write_listener(folder_);
    p_ = load_pretrained(folder_);
    sound_.samples.resize(40000);  // two windows and a half
    for (size_t i = 0; i < sound_.samples.size(); ++i)
      sound_.samples[i] =
          static_cast<float>(0.3 * std::sin(0.05 * static_cast<double>(i)) * std::sin(0.0003 * static_cast<double>(i)));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "fovea_listener";
  Pretrained p_;
  Sound sound_;
  TranscribeOptions quick_ = {.warmer = 0, .least_log_probability = -100, .most_no_speech = 1};
};

TEST_F(Listening, MarksAreFoundByTheirNames) {
  const SpeechTokens tokens = read_speech_tokens(p_);
  EXPECT_EQ(tokens.prompt("de", SpeechTask::translate), (std::vector<int64_t>{257, 259, 260}));
  EXPECT_EQ(tokens.first_time(), 265);
  EXPECT_EQ(tokens.latest_first_time, 10);
  ASSERT_EQ(tokens.alignment_heads.size(), 2u);
  EXPECT_EQ(tokens.alignment_heads[0].head, 1);
  EXPECT_THROW(tokens.prompt("fr", SpeechTask::transcribe), Error);
}

// A drawn model says nothing of sense, but in order: no segment goes back, and all of it is within the recording.
TEST_F(Listening, SegmentsComeInOrderAsTheyAreWritten) {
  std::vector<std::string> came;
  double last = 0, progress = 0;
  quick_.words = true;
  quick_.on_segment = [&](const Segment& s) {
    came.push_back(s.text);
    EXPECT_GE(s.start, 0);
    EXPECT_LT(s.start, s.end);
    for (const SpokenWord& w : s.words) {
      EXPECT_GE(w.start, last - 1e-9);
      EXPECT_LE(w.start, w.end);
      EXPECT_GE(w.probability, 0);
      last = w.start;
    }
  };
  quick_.on_progress = [&](double seconds) {
    EXPECT_GT(seconds, progress);
    progress = seconds;
  };
  const Transcription t = transcribe(p_, sound_, quick_);
  EXPECT_EQ(came.size(), t.segments.size());
  EXPECT_NEAR(progress, 2.5, 1e-9);
  EXPECT_TRUE(t.language == "en" || t.language == "de");
}

// What is looked at once more, behind what was written, is what a pass over all of it sees.
TEST_F(Listening, LooksAsAWholePassDoes) {
  const SpeechTokens tokens = read_speech_tokens(p_);
  const auto& model = p_.as<Generator>();
  const auto& listener = p_.as<Listener>();
  const SoundShape shape = listener.sound_shape();
  const Tensor frames =
      LogMel({.bands = shape.bands})(std::span(sound_.samples).first(static_cast<size_t>(shape.frames * 160)));
  const Tensor states = listener.hear({.frames = frames.unsqueeze(0)}, {});
  SpeechWindow window(model, listener, tokens, states);
  std::vector<int64_t> ids = tokens.prompt("en", SpeechTask::transcribe);
  window.write(ids, {.temperature = 1, .attempts = 3});
  ids.insert(ids.end(), {tokens.no_times, 72, 101, 108, tokens.end});
  const int64_t seen = states.size(1) - 3, count = std::ssize(ids);
  const Tensor found = window.look(ids, seen);

  Trace trace({.weights = true});
  model.logits({.states = states}, tensor({1, count}, ids), {.trace = &trace});
  ASSERT_EQ(found.shape().text(), (Shape{std::ssize(tokens.alignment_heads), count, seen}).text());
  for (int64_t h = 0; h < found.size(0); ++h) {
    const AlignmentHead head = tokens.alignment_heads[static_cast<size_t>(h)];
    const Tensor all =
        trace[fmt::format("decoder.{}.cross", head.layer)].weights.select(0, 0).select(0, head.head).contiguous();
    for (int64_t t = 0; t < count; ++t) {
      const float* wanted = all.data<float>() + t * all.size(1);
      const double sum = std::accumulate(wanted, wanted + seen, 0.0);
      for (int64_t s = 0; s < seen; ++s)
        EXPECT_NEAR(found.data<float>()[(h * count + t) * seen + s], wanted[s] / sum, 1e-6);
    }
  }
}

TEST_F(Listening, SaysTheSameWithAndWithoutWordsAndForAnyNumberOfThreads) {
  const int before = threads();
  const Transcription plain = transcribe(p_, sound_, quick_);
  quick_.words = true;
  set_threads(3);
  const Transcription timed = transcribe(p_, sound_, quick_);
  set_threads(before);
  EXPECT_EQ(plain.text, timed.text);
  ASSERT_EQ(plain.segments.size(), timed.segments.size());
  for (size_t i = 0; i < plain.segments.size(); ++i) EXPECT_EQ(plain.segments[i].ids, timed.segments[i].ids);
}

TEST_F(Listening, DrawnTextsDependOnTheSeedAlone) {
  quick_.temperature = 0.8;
  const Transcription one = transcribe(p_, sound_, quick_), two = transcribe(p_, sound_, quick_);
  EXPECT_EQ(one.text, two.text);
  quick_.seed = 7;
  EXPECT_NE(transcribe(p_, sound_, quick_).text, one.text);
}

TEST_F(Listening, WhereNobodySpeaksThereIsNoText) {
  quick_.most_no_speech = 0, quick_.least_log_probability = 0;
  EXPECT_EQ(transcribe(p_, sound_, quick_).text, "");
  sound_.samples.clear();
  EXPECT_TRUE(transcribe(p_, sound_).segments.empty());
}

TEST_F(Listening, WhatCannotBeAskedForIsAnError) {
  EXPECT_THROW(transcribe(p_, sound_, {.language = "french"}), Error);
  EXPECT_THROW(transcribe(p_, sound_, {.task = "sing"}), Error);
  EXPECT_THROW(transcribe(p_, sound_, {.attempts = 0}), Error);
  EXPECT_THROW(transcribe(p_, {.rate = 8000, .samples = {0}}), Error);
  write_listener(folder_, false);
  const Pretrained english = load_pretrained(folder_);
  EXPECT_THROW(transcribe(english, sound_, {.language = "de"}), Error);
  EXPECT_THROW(transcribe(english, sound_, {.task = "translate"}), Error);
  EXPECT_EQ(transcribe(english, {.samples = {0}}, {.language = "en"}).language, "en");
}

}  // namespace
}  // namespace fovea
