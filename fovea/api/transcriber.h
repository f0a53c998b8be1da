// What is said in a recording, in one call, and when each word was said.
//
//   fovea::Transcriber transcribe("whisper-tiny");
//   auto r = transcribe("speech.flac");   // r.text, r.language, r.segments[0].words[0].start
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/api/model_options.h"

namespace fovea {

struct TranscriberOptions {
  std::string language = {};        // a code or an English name; empty: found out
  std::string task = "transcribe";  // or "translate", into English
  bool words = true;                // whether it is wanted when each word was said
  std::string prompt = {};          // text that might stand before, with names as they are spelled
};

class Transcriber final {
 public:
  using Options = TranscriberOptions;

  struct Word {
    std::string text;
    double start = 0, end = 0;  // seconds
    double probability = 0;
  };
  struct Segment {
    std::string text = {};
    double start = 0, end = 0;
    std::vector<Word> words = {};
  };
  struct Answer {
    std::string text = {}, language = {};
    std::vector<Segment> segments = {};
  };

  explicit Transcriber(const std::string& model, const ModelOptions& = {});

  Answer operator()(const std::string& path, const Options& = {}) const;  // WAV, FLAC, Ogg or MP3
  Answer operator()(const std::vector<float>& samples,
                    const Options& = {}) const;  // one channel, 16,000 a second, −1 to 1

 private:
  struct Loaded;
  std::shared_ptr<const Loaded> loaded_;
};

}  // namespace fovea
