// What was said, as people keep it: plain text, subtitles (SRT, WebVTT), a table, or JSON with everything that is known.
//
//   TranscriptWriter writer("srt");
//   writer.begin() + writer.segment(segment) + writer.end(transcription);    // each as it comes
#pragma once

#include <string>

#include "fovea/explain/heat_map.h"
#include "fovea/explain/recording.h"
#include "fovea/generate/transcribe.h"

namespace fovea {

class TranscriptWriter final {
 public:
  explicit TranscriptWriter(const std::string& format);  // text, srt, vtt, tsv or json; an Error for others

  std::string begin() const;
  // Empty as JSON, which is one object at the end. Of a segment with words a subtitle is made for each word.
  std::string segment(const Segment&);
  std::string end(const Transcription&) const;

 private:
  enum class Format { text, srt, vtt, tsv, json } format_;
  int64_t number_ = 0;
};

// {"text": …, "language": …, "seconds": …, "segments": [{"start", "end", "text", "words": [{"text", "start", "end", "probability"}], …}]}
std::string to_json(const Transcription&);

// What is said in a recording of one window, and what every place saw while the model wrote it; an Error of a longer one. Nothing runs
// twice: where the end of what was said needs a window of its own, the recording is of the first one.
struct SeenTranscription {
  Transcription transcription = {};
  Recording recording = {};
};
SeenTranscription transcribe_seen(const Pretrained&, const Sound&, TranscribeOptions = {});

// A line for each word: its time, how sure the model was, and where in the window it listened; above them how loud it was.
std::string to_terminal(const Segment&, const Sound&, const TerminalLook&);

}  // namespace fovea
