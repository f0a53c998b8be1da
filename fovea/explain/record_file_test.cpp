#include "fovea/explain/record_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "fovea/base/file.h"
#include "fovea/data/audio/log_mel.h"
#include "fovea/explain/picture_looks.h"
#include "fovea/explain/recording_json.h"
#include "fovea/explain/transcript.h"
#include "fovea/generate/caption.h"
#include "fovea/generate/classify_pictures.h"
#include "fovea/models/listener_folder.h"
#include "fovea/tensor/reduce.h"
#include "test_paths.h"

namespace fovea {
namespace {

const std::filesystem::path root = std::filesystem::path(test_data) / "..";

Pretrained shipped(const char* name) { return load_pretrained(root / "zoo" / name); }
std::string example(const std::string& name) { return (root / "examples" / name).string(); }

// That each row of each head is a distribution.
void expect_rows_of_one(const Recording& seen) {
  ASSERT_FALSE(seen.places.empty());
  for (const RecordedPlace& p : seen.places)
    for (size_t head = 0; head < p.heads.size(); ++head)
      for (double sum : sum(p.part(head, {}, {}), {1}).values<double>()) EXPECT_NEAR(sum, 1, 1e-5) << p.place.path;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-6) << i;
}

TEST(RecordPicture, OfALabellerHoldsWhatClassifyLookedAt) {
  const Pretrained p = shipped("fashion");
  const Image photo = read_image(example("fashion/1.png"));
  const PictureInput input = read_picture_input(p.folder);
  const Recording seen = record(p, example("fashion/1.png"));
  EXPECT_EQ(seen.answer, to_text(classify_picture(p, input, photo).label, p.as<PictureLabeller>().labels()));
  EXPECT_EQ(seen.model, "fashion");
  expect_rows_of_one(seen);
  ASSERT_TRUE(seen.picture);
  EXPECT_EQ(seen.picture->parts(), 49);
  const RecordedSequence& patches = seen.sequences.at("patches");
  ASSERT_EQ(patches.size(), 50u);
  EXPECT_EQ(patches.pieces[0], "class");
  EXPECT_EQ(patches.pieces[1 + 2 * 7 + 3], "patch 3,4");

  const PictureLooks looks = looks_at_picture(seen);
  ASSERT_EQ(looks.maps.size(), 3u * 3 + 1);
  EXPECT_EQ(looks.in_a_row, 3u);
  const SeenPicture heads = classify_picture(p, input, photo, {.look = Look::heads});
  for (size_t head = 0; head < 3; ++head) expect_near(looks.maps[6 + head].weights, heads.looks[head]);
  expect_near(looks.maps.back().weights, classify_picture(p, input, photo, {.look = Look::rollout}).looks[0]);
  EXPECT_EQ(looks.maps.back().title, "rollout");
}

TEST(RecordPicture, OfACaptionerHoldsWhereItLookedForEachWord) {
  const Pretrained p = shipped("scenes");
  const GenerationConfig config = read_generation_config(p.folder);
  const Recording seen = record(p, example("scenes/1.png"), {.generation = config});
  const Tensor pixels = caption_input(p)(read_image(example("scenes/1.png")));
  const Translation told = caption(p.as<Generator>(), *p.tokenizer, {pixels}, config, {.attention = true})[0][0];
  EXPECT_EQ(seen.answer, told.text);
  expect_rows_of_one(seen);
  EXPECT_EQ(seen.at("decoder.attention").columns(), 64);
  EXPECT_FALSE(seen.picture->rollout) << "its parts do not look at each other";
  const std::vector<SeenWord> words = seen_words(told, p.as<PictureEncoder>().picture_shape());
  const PictureLooks looks = looks_at_picture(seen);
  ASSERT_EQ(looks.maps.size(), words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(looks.maps[i].title, words[i].text);
    expect_near(looks.maps[i].weights, words[i].looked);
  }
}

TEST(RecordPicture, IsToldAsJsonWithThePictureItself) {
  const Recording seen = record(shipped("fashion"), example("fashion/1.png"));
  const nlohmann::json picture = to_json(seen)["picture"];
  EXPECT_TRUE(picture["png"].get<std::string>().starts_with("data:image/png;base64,iVBOR"));
  EXPECT_EQ(picture["size"], (nlohmann::json{112, 112}));
  EXPECT_EQ(picture["parts"], (nlohmann::json{7, 7}));
  EXPECT_EQ(picture["extra"], 1);
  EXPECT_EQ(picture["rollout"].get<std::string>().size(), (50 * 50 * 4 + 2) / 3 * 4u);
  const TraceJson again = read_trace_json(to_json(seen).dump(), "trace");
  EXPECT_EQ(again.recording.answer, seen.answer);
}

TEST(RecordPicture, OfALargePictureSendsASmallOne) {
  const Image large = {2000, 500, 3, std::vector<uint8_t>(2000 * 500 * 3, 90)};
  const Recording seen = record_picture(shipped("scenes"), large, "large.png");
  EXPECT_EQ(seen.picture->picture.width, 384);
  EXPECT_EQ(seen.picture->picture.height, 96);
}

TEST(RecordPicture, RefusesWhatIsNoPictureInOneClearLine) {
  const Pretrained p = shipped("fashion");
  const std::string broken = testing::TempDir() + "broken.png";
  write_text(broken, read_text(example("fashion/1.png")).substr(0, 200));
  const std::pair<std::string, std::string> cases[] = {
      {"The bank approved the loan.", "expected the path of a picture"},
      {"nowhere.png", "found no such file"},
      {"", "expected the path of a picture"},
      {broken, "broken.png"},
      {(root / "README.md").string(), "README.md"},
  };
  for (const auto& [given, wanted] : cases) {
    try {
      record(p, given);
      ADD_FAILURE() << given;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(wanted), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
  EXPECT_THROW(require_texts(p, "--method"), Error);
  EXPECT_THROW(looks_at_picture({}), Error);
}

class RecordSound : public testing::Test {
 protected:
  void SetUp() override { write_listener(folder_); }
  // A tone that becomes louder.
  static Sound tone(double seconds) {
    Sound sound;
    for (int64_t i = 0; i < static_cast<int64_t>(seconds * 16000); ++i) {
      const double t = static_cast<double>(i) / 16000;
      sound.samples.push_back(static_cast<float>(0.8 * t / seconds * std::sin(2 * 3.14159265 * 440 * t)));
    }
    return sound;
  }

  const std::filesystem::path folder_ = testing::TempDir() + "heard";
};

TEST_F(RecordSound, HoldsTheSpectrogramTheWordsAndWhatTheyListenedTo) {
  const Pretrained p = load_pretrained(folder_);
  const Recording seen = record_sound(p, tone(0.8), "tone.wav");
  ASSERT_TRUE(seen.sound);
  const RecordedSound& s = *seen.sound;
  EXPECT_DOUBLE_EQ(s.seconds, 0.8);
  EXPECT_LE(s.frames, RecordedSound::most_frames);
  EXPECT_LE(s.bands, RecordedSound::most_bands);
  EXPECT_EQ(s.frames, 80);
  EXPECT_EQ(static_cast<int64_t>(s.spectrogram.size()), s.frames * s.bands);
  EXPECT_EQ(*std::max_element(s.spectrogram.begin(), s.spectrogram.end()), 255);
  ASSERT_EQ(static_cast<int64_t>(s.loudness.size()), s.frames);
  EXPECT_LT(s.loudness.front(), s.loudness.back());
  EXPECT_NEAR(s.loudness.back(), 0.8 * 255, 3);
  expect_rows_of_one(seen);
  for (const RecordedPlace& place : seen.places)
    EXPECT_TRUE(place.place.path.starts_with("decoder.")) << place.place.path;
  const RecordedSequence& target = seen.sequences.at("target");
  if (!s.words.empty()) {
    ASSERT_EQ(s.heard.size(0), static_cast<int64_t>(s.words.size()));
    for (double sum : sum(s.heard, {1}).values<double>()) EXPECT_NEAR(sum, 1, 1e-4);
  }
  for (const RecordedSound::Word& w : s.words) {
    EXPECT_FALSE(w.rows.empty());
    for (const int64_t row : w.rows) {
      ASSERT_LT(row, static_cast<int64_t>(target.size()));
      EXPECT_LT(target.ids[static_cast<size_t>(row)], 256) << "a word";
    }
  }
  const nlohmann::json json = to_json(seen)["sound"];
  EXPECT_EQ(json["size"], (nlohmann::json{s.bands, s.frames}));
  EXPECT_EQ(json["words"].size(), s.words.size());
}

// What was seen while it was written is what one pass over all of it sees, also where the sound's end needs a further window, or the
// first attempt was not good enough.
TEST_F(RecordSound, IsOfTheWritingItself) {
  const Pretrained p = load_pretrained(folder_);
  const SoundShape shape = p.as<Listener>().sound_shape();
  const LogMel log_mel({.bands = shape.bands});
  std::set<size_t> windows;
  std::set<double> temperatures;
  for (const double seconds : {0.2, 0.5, 0.8, 0.91, 0.94, 0.97}) {
    const auto [t, seen] = transcribe_seen(p, tone(seconds), {.words = true, .heard = true});
    std::set<double> begun;
    for (const Segment& s : t.segments) begun.insert(s.window), temperatures.insert(s.temperature);
    windows.insert(begun.size());
    std::vector<int64_t> ids = t.traced_prompt;
    ids.insert(ids.end(), t.traced_ids.begin(), t.traced_ids.end());
    EXPECT_EQ(seen.sequences.at("target").ids, std::vector<int64_t>(ids.begin() + 1, ids.end()));
    ids.pop_back();
    std::vector<float> samples = tone(seconds).samples;
    samples.resize(static_cast<size_t>(shape.frames * log_mel.config().step));
    Trace trace({.weights = true});
    p.as<Generator>().logits({.frames = log_mel(samples).unsqueeze(0)}, tensor({1, std::ssize(ids)}, ids),
                             {.trace = &trace});
    ASSERT_FALSE(seen.places.empty());
    for (const RecordedPlace& place : seen.places) {
      SCOPED_TRACE(place.place.path);
      const Tensor expected = trace[place.place.path].weights;
      ASSERT_EQ(place.rows(), expected.size(2));
      ASSERT_EQ(place.columns(), expected.size(3));
      for (size_t h = 0; h < place.heads.size(); ++h)
        expect_near(place.part(h, {}, {}).values<double>(),
                    expected.select(0, 0).select(0, place.heads[h]).values<double>());
    }
  }
  EXPECT_GT(*windows.rbegin(), 1u) << "nothing needed a second window";
  EXPECT_GT(*temperatures.rbegin(), 0) << "nothing was written a second time";
}

TEST_F(RecordSound, AllPlacesOnRequestAndNoMoreThanAWindow) {
  const Pretrained p = load_pretrained(folder_);
  const Recording seen = record_sound(p, tone(0.5), "tone.wav", {.places = {"encoder"}, .heads = {0}});
  ASSERT_FALSE(seen.places.empty());
  for (const RecordedPlace& place : seen.places) {
    EXPECT_TRUE(place.place.path.starts_with("encoder."));
    EXPECT_EQ(place.heads, std::vector<int64_t>{0});
  }
  EXPECT_THROW(record_sound(p, tone(1.5), "tone.wav"), Error);
  EXPECT_THROW(record(p, "What was said?"), Error);
}

}  // namespace
}  // namespace fovea
