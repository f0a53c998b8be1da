// `fovea transcribe`: what is said in a recording, and when.
#include "fovea/generate/transcribe.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/answers.h"
#include "cli/drawings.h"
#include "cli/terminal.h"
#include "cli/tracing.h"
#include "cli/verb.h"
#include "fovea/data/text/utf8.h"
#include "fovea/explain/record_file.h"
#include "fovea/explain/sound_map.h"
#include "fovea/explain/trace_file.h"
#include "fovea/explain/transcript.h"
#include "fovea/models/zoo.h"

namespace fovea::verbs {
namespace {

struct TranscribeVerbOptions {
  static constexpr const char* positional = "audio";
  std::string audio, model, weights, format = "text", output, trace;
  bool show = false, quiet = false;
  DrawingOptions drawing;
  TranscribeOptions how;

  void fields(Fields& f) {
    f("audio", audio, "the recording: WAV, FLAC, Ogg or MP3");
    f("model", model, "a Whisper: its folder, a ggml file of whisper.cpp's, or a .pt of OpenAI's");
    f("weights", weights, weights_help);
    f("format", format, "text, srt, vtt, tsv (milliseconds) or json");
    f("output", output, "file to write instead of stdout");
    f("show", show, "draw the words in the terminal: when each was said, and where in the sound it attends");
    drawing.fields(f, "the sound and where each word listened, of a recording of up to 30 s,");
    f("trace", trace,
      "write what the model saw into this file: safetensors with all weights, of a recording of up to 30 s");
    f("quiet", quiet, "no notes and no progress on stderr");
    how.fields(f);
  }
  void complete() {
    if (show) how.heard = how.words = true;
    require(!audio.empty(), "transcribe: found no recording, expected a file: fovea transcribe audio.wav -m MODEL");
    require(!model.empty(), "--model: found none, expected the folder or the file of a Whisper");
    require(!show || format == "text", "--show: found --format {} beside it, expected one of them", format);
  }
};

// Words are told if they were asked for, not if a picture alone needs them.
Segment told(Segment s, bool words) {
  if (!words) s.words.clear();
  return s;
}

void run(const TranscribeVerbOptions& o) {
  TranscriptWriter writer(o.format);
  require_trace_file(o.trace);
  const Sound sound = read_sound(o.audio);
  const Pretrained model = load_pretrained(find_model(o.model), load_as(o.weights));
  model.as<Listener>();
  if (o.drawing.wanted()) require_one_window(model, sound, o.audio);
  Results results(o.output);
  Drawings drawings(o.drawing);
  ProgressLine progress({.unit = "seconds",
                         .whole = static_cast<int64_t>(sound.seconds()),
                         .quiet = o.quiet || (o.output.empty() && stdout_is_terminal())});
  int64_t done = 0;
  TranscribeOptions how = o.how;
  if (o.drawing.wanted()) how.heard = how.words = true;
  how.on_language = [&](const std::string& code, double probability) {
    if (!o.quiet) fmt::print(stderr, "language: {} ({:.2f})\n", code, probability);
  };
  how.on_segment = [&](const Segment& s) {
    results.write(o.show ? to_terminal(s, sound, terminal_look()) : writer.segment(told(s, o.how.words)));
  };
  how.on_progress = [&](double seconds) {
    const auto now = static_cast<int64_t>(seconds);
    progress.add(now - done, now - done);
    done = now;
  };
  results.write(writer.begin());
  Transcription t;
  if (o.trace.empty()) {
    t = transcribe(model, sound, how);
  } else {
    SeenTranscription seen = transcribe_seen(model, sound, how);
    write_trace(o.trace, seen.recording);
    t = std::move(seen.transcription);
  }
  if (drawings.wanted()) drawings.write(to_svg(heard_sound(model, sound, t), trim(t.text)));
  for (Segment& s : t.segments) s = told(std::move(s), o.how.words);
  results.write(writer.end(t));
  results.finish();
}

}  // namespace

extern const Verb transcribe = {.name = "transcribe",
                                .group = "use",
                                .help = "what is said in a recording, and when each word was said",
                                .examples =
                                    "fovea transcribe -m my-listener speech.wav\n"
                                    "fovea transcribe -m my-listener speech.wav --words --format srt\n"
                                    "fovea transcribe -m my-listener speech.wav --language german --task translate\n"
                                    "fovea transcribe -m my-listener speech.wav --show\n"
                                    "fovea transcribe -m my-listener speech.wav --svg speech.svg --pdf speech.pdf\n"
                                    "fovea transcribe -m my-listener speech.wav --words --format json -o output.json",
                                .run = [](const TranscribeVerbOptions& o) { run(o); }};

}  // namespace fovea::verbs
