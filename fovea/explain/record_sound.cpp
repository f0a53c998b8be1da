#include <algorithm>
#include <cmath>
#include <cstring>

#include "fovea/data/audio/log_mel.h"
#include "fovea/explain/record_file.h"
#include "fovea/explain/transcript.h"
#include "fovea/generate/speech_tokens.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

// [bands, frames] of numbers as bytes between the least and the most, the largest of each square where there are too many.
void paint(RecordedSound& s, const Tensor& log_mel, int64_t frames) {
  const int64_t bands = log_mel.size(0), all = log_mel.size(1);
  const int64_t wide = std::max<int64_t>(1, (frames + s.most_frames - 1) / s.most_frames),
                tall = (bands + s.most_bands - 1) / s.most_bands;
  s.frames = (frames + wide - 1) / wide, s.bands = (bands + tall - 1) / tall;
  const float* numbers = log_mel.data<float>();
  std::vector<float> largest(static_cast<size_t>(s.bands * s.frames), -1e30f);
  for (int64_t b = 0; b < bands; ++b)
    for (int64_t f = 0; f < frames; ++f) {
      float& square = largest[static_cast<size_t>(b / tall * s.frames + f / wide)];
      square = std::max(square, numbers[b * all + f]);
    }
  const auto [low, high] = std::minmax_element(largest.begin(), largest.end());
  const float least = *low, range = std::max(1e-6f, *high - *low);
  for (float x : largest) s.spectrogram.push_back(static_cast<uint8_t>(std::lround(255 * (x - least) / range)));
}

void measure(RecordedSound& s, const Sound& sound) {
  const auto size = static_cast<int64_t>(sound.samples.size());
  for (int64_t f = 0; f < s.frames; ++f) {
    float most = 0;
    for (int64_t i = f * size / s.frames; i < (f + 1) * size / s.frames; ++i)
      most = std::max(most, std::abs(sound.samples[static_cast<size_t>(i)]));
    s.loudness.push_back(static_cast<uint8_t>(std::lround(255 * std::min(1.0f, most))));
  }
}

// Words by their rows of "target", which has all but the first of what was read and written; those of a later window have none.
void place_words(RecordedSound& s, const Transcription& t, const SpeechTokens& tokens, int64_t states) {
  std::vector<float> heard;
  for (const Segment& segment : t.segments) {
    const bool traced = !t.traced_prompt.empty() && segment.window == 0;
    const size_t row = t.traced_prompt.size() - 1 + segment.first;
    size_t at = 0;
    for (const SpokenWord& w : segment.words) {
      RecordedSound::Word word = {.start = w.start, .end = w.end, .probability = w.probability};
      if (const size_t letters = w.text.find_first_not_of(' '); letters != std::string::npos)
        word.text = w.text.substr(letters);
      for (; traced && at < segment.ids.size() && word.rows.size() < w.tokens; ++at)
        if (tokens.is_word(segment.ids[at])) word.rows.push_back(static_cast<int64_t>(row + at));
      s.words.push_back(std::move(word));
      const auto shift = std::lround(segment.window / s.state_seconds);
      for (int64_t i = 0; i < states; ++i) {
        const int64_t from = i - shift;
        heard.push_back(from >= 0 && from < std::ssize(w.heard) ? w.heard[static_cast<size_t>(from)] : 0);
      }
    }
  }
  if (!s.words.empty()) s.heard = tensor({static_cast<int64_t>(s.words.size()), states}, heard);
}

bool is_under(const std::vector<std::string>& places, const std::string& path) {
  return std::any_of(places.begin(), places.end(),
                     [&](const std::string& p) { return path == p || path.starts_with(p + "."); });
}

void choose_heads(RecordedPlace& p, const std::vector<int64_t>& wanted) {
  if (wanted.empty()) return;
  for (int64_t head : wanted)
    require(0 <= head && head < p.place.heads, "{}: found head {}, expected 0 to {}", p.place.path, head,
            p.place.heads - 1);
  if (p.weights) {
    std::vector<Tensor> heads;
    for (int64_t head : wanted) heads.push_back(p.weights.slice(0, head, head + 1));
    p.weights = concat(heads, 0).contiguous();
  }
  p.heads = wanted;
}

// Of the decoder, whose rows are few, the weights themselves.
void spell_out(Recording& seen, const RecordOptions& options) {
  const std::vector<std::string> wanted = options.places.empty() ? std::vector<std::string>{"decoder"} : options.places;
  std::erase_if(seen.places, [&](const RecordedPlace& p) { return !is_under(wanted, p.place.path); });
  require(!seen.places.empty(), "explain: found places that the model has not; without places all of them are shown");
  for (RecordedPlace& p : seen.places) {
    choose_heads(p, options.heads);
    if (p.weights || p.heads.empty() || p.rows() > static_cast<int64_t>(options.most_whole_tokens)) continue;
    std::vector<Tensor> heads;
    for (size_t i = 0; i < p.heads.size(); ++i) heads.push_back(p.part(i, {}, {}).unsqueeze(0));
    p.weights = concat(heads, 0), p.kept = nullptr;
  }
}

}  // namespace

void require_one_window(const Pretrained& p, const Sound& sound, const std::string& name) {
  const SoundShape shape = p.as<Listener>().sound_shape();
  const auto most = shape.frames * LogMel({.bands = shape.bands}).config().step;
  require(std::ssize(sound.samples) <= most,
          "{}: found a recording of {:.1f} s, expected at most {:.1f}: one window of the model", name, sound.seconds(),
          static_cast<double>(most) / static_cast<double>(sound.rate));
}

RecordedSound heard_sound(const Pretrained& p, const Sound& sound, const Transcription& t) {
  require_one_window(p, sound, "sound");
  const SoundShape shape = p.as<Listener>().sound_shape();
  const LogMel log_mel({.bands = shape.bands});
  const int64_t step = log_mel.config().step;
  RecordedSound s = {
      .seconds = sound.seconds(),
      .state_seconds = static_cast<double>(step * shape.frames_per_state) / static_cast<double>(sound.rate)};
  std::vector<float> samples = sound.samples;
  samples.resize(static_cast<size_t>(shape.frames * step));
  paint(s, log_mel(samples), std::clamp<int64_t>(log_mel.frames(std::ssize(sound.samples)), 1, shape.frames));
  measure(s, sound);
  const SpeechTokens tokens = read_speech_tokens(p);
  place_words(s, t, tokens, shape.frames / shape.frames_per_state);
  return s;
}

Recording record_sound(const Pretrained& p, const Sound& sound, const std::string& name, const RecordOptions& options) {
  require_one_window(p, sound, name);
  SeenTranscription both = transcribe_seen(p, sound, {.words = true, .heard = true});
  Recording& seen = both.recording;
  seen.text = name;
  spell_out(seen, options);
  seen.sound = heard_sound(p, sound, both.transcription);
  return std::move(seen);
}

}  // namespace fovea
