// What is said in a recording of any length, by a model that hears (Whisper).
//
//   const Transcription t = transcribe(pretrained, read_sound("speech.flac"), {.words = true});
//   t.text;   t.language;   t.segments[0].words[0].start;
//
// The recording is heard in windows of 30 s. In each the model writes words between times; the next window begins at the last time that
// ends something, and is told what was said before. Where the words repeat each other or are improbable the window is written again, more
// and more at random; where nobody speaks it is passed over (Radford et al. 2022, section 4.5).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/base/fields.h"
#include "fovea/data/audio/sound.h"
#include "fovea/generate/word_times.h"
#include "fovea/models/pretrained.h"

namespace fovea {

// A part of what is said, about a sentence.
struct Segment {
  double start = 0, end = 0;  // seconds of the recording
  std::string text = {};
  std::vector<int64_t> ids = {};  // words and times
  std::vector<SpokenWord> words = {};
  double window = 0;  // where its window begins: what the words heard is counted from there
  size_t first = 0;   // the place of its ids among all that was written in its window
  // Of its window:
  double temperature = 0, mean_log_probability = 0, compression = 1, no_speech = 0;
};

struct Transcription {
  std::string text = {}, language = {};
  double language_probability = 1;  // if it was found out
  double seconds = 0;               // of the recording
  std::vector<Segment> segments = {};
  // If a trace was given: what the model read in the first window, and what it wrote there, with the end if it came to it.
  std::vector<int64_t> traced_prompt = {}, traced_ids = {};
};

struct TranscribeOptions {
  std::string language = {};  // a code or an English name; empty: found out in the first window
  std::string task = "transcribe";
  bool words = false;       // when each word was said
  bool heard = false;       // and what it looked at
  std::string prompt = {};  // text that might stand before, with names as they are spelled
  bool condition = true;    // whether a window is told what was said before
  double temperature = 0,
         warmer = 0.2;  // of the first writing of a window, and how much higher each next one is, up to 1
  int64_t attempts = 5;
  int64_t seed = 0;
  Trace* trace = nullptr;  // what every place saw in the first window
  double most_compression = 2.4, least_log_probability = -1, most_no_speech = 0.6;

  // Called with each segment as it comes, and with how many seconds of the recording are done.
  std::function<void(const Segment&)> on_segment = {};
  std::function<void(const std::string& language, double probability)> on_language = {};
  std::function<void(double seconds)> on_progress = {};

  void fields(Fields& f);
};

// An Error if the model does not hear, or does not know the language.
Transcription transcribe(const Pretrained&, const Sound&, const TranscribeOptions& = {});

// Bytes of a text to bytes that zlib makes of it: what repeats itself has more than 2.4.
double compression_ratio(const std::string& text);

}  // namespace fovea
