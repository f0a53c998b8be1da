#include "fovea/explain/transcript.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/data/audio/log_mel.h"
#include "fovea/explain/measure.h"
#include "fovea/generate/speech_tokens.h"

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;

// 01:02:03,456 of SRT, 01:02:03.456 of WebVTT.
std::string clock_time(double seconds, char mark) {
  const auto all = static_cast<int64_t>(std::llround(std::max(0.0, seconds) * 1000));
  return fmt::format("{:02}:{:02}:{:02}{}{:03}", all / 3'600'000, all / 60'000 % 60, all / 1000 % 60, mark, all % 1000);
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  return first == text.npos ? "" : text.substr(first);
}

double rounded(double x, double digits) { return std::round(x * digits) / digits; }

// An arrow would end a subtitle's times, and in a table a tab a column.
std::string plain(std::string text, std::string_view unwanted, std::string_view instead) {
  for (size_t at = text.find(unwanted); at != text.npos; at = text.find(unwanted, at + instead.size()))
    text.replace(at, unwanted.size(), instead);
  return text;
}

struct Cue {
  double start, end;
  std::string text;
};

std::vector<Cue> cues_of(const Segment& s) {
  if (s.words.empty()) return {{s.start, s.end, s.text}};
  std::vector<Cue> cues;
  for (const SpokenWord& w : s.words) cues.push_back({w.start, w.end, trimmed(w.text)});
  return cues;
}

}  // namespace

TranscriptWriter::TranscriptWriter(const std::string& format) {
  const std::vector<std::string> names = {"text", "srt", "vtt", "tsv", "json"};
  const auto found = std::find(names.begin(), names.end(), format);
  require(found != names.end(), "--format: found '{}', expected text, srt, vtt, tsv or json", format);
  format_ = static_cast<Format>(found - names.begin());
}

std::string TranscriptWriter::begin() const {
  if (format_ == Format::vtt) return "WEBVTT\n\n";
  return format_ == Format::tsv ? "start\tend\ttext\n" : "";
}

std::string TranscriptWriter::segment(const Segment& s) {
  if (format_ == Format::json) return "";
  if (format_ == Format::text && s.words.empty()) return s.text + "\n";
  std::string all;
  for (const Cue& cue : cues_of(s)) {
    ++number_;
    if (format_ == Format::text) {
      all += fmt::format("{:8.2f} {:8.2f}  {}\n", cue.start, cue.end, cue.text);
    } else if (format_ == Format::tsv) {
      all += fmt::format("{}\t{}\t{}\n", std::llround(cue.start * 1000), std::llround(cue.end * 1000),
                         plain(cue.text, "\t", " "));
    } else {
      const char mark = format_ == Format::srt ? ',' : '.';
      if (format_ == Format::srt) all += fmt::format("{}\n", number_);
      all += fmt::format("{} --> {}\n{}\n\n", clock_time(cue.start, mark), clock_time(cue.end, mark),
                         plain(cue.text, "-->", "->"));
    }
  }
  return all;
}

std::string TranscriptWriter::end(const Transcription& t) const {
  return format_ == Format::json ? to_json(t) + "\n" : "";
}

std::string to_json(const Transcription& t) {
  Json json = {{"text", t.text},
               {"language", t.language},
               {"language_probability", rounded(t.language_probability, 1e6)},
               {"seconds", rounded(t.seconds, 1e3)},
               {"segments", Json::array()}};
  for (const Segment& s : t.segments) {
    Json one = {{"start", rounded(s.start, 1e2)},
                {"end", rounded(s.end, 1e2)},
                {"text", s.text},
                {"temperature", rounded(s.temperature, 1e2)},
                {"mean_log_probability", rounded(s.mean_log_probability, 1e6)},
                {"compression", rounded(s.compression, 1e6)},
                {"no_speech", rounded(s.no_speech, 1e6)}};
    for (const SpokenWord& w : s.words)
      one["words"].push_back({{"text", trimmed(w.text)},
                              {"start", rounded(w.start, 1e2)},
                              {"end", rounded(w.end, 1e2)},
                              {"probability", rounded(w.probability, 1e6)}});
    json["segments"].push_back(std::move(one));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {

// A recording that was heard in one window, of so many states.
struct HeardWindow {
  SoundShape shape;
  LogMel log_mel;

  HeardWindow(const Pretrained& p, const Sound& sound)
      : shape(p.as<Listener>().sound_shape()), log_mel({.bands = shape.bands}) {
    require(std::ssize(sound.samples) <= samples(),
            "sound: found a recording of {:.1f} s, expected at most {:.1f}: one window", sound.seconds(),
            static_cast<double>(samples()) / static_cast<double>(sound.rate));
  }
  int64_t samples() const { return shape.frames * log_mel.config().step; }
  int64_t states() const { return shape.frames / shape.frames_per_state; }
  double seconds(const Sound& sound) const {
    return static_cast<double>(log_mel.config().step * shape.frames_per_state) / static_cast<double>(sound.rate);
  }
};

}  // namespace

SeenTranscription transcribe_seen(const Pretrained& p, const Sound& sound, TranscribeOptions options) {
  const HeardWindow window(p, sound);
  Recorder recorder(*p.model, p.tokenizer.get(), {.most_whole_tokens = 0}, "", static_cast<size_t>(window.states()));
  options.trace = recorder.trace();
  SeenTranscription seen = {transcribe(p, sound, options)};
  const Transcription& t = seen.transcription;
  recorder.heard(window.states(), window.seconds(sound), t.traced_prompt, t.traced_ids, read_speech_tokens(p).end);
  seen.recording = recorder.finish(t.text);
  seen.recording.text = t.text;
  name_model(seen.recording, p);
  return seen;
}

namespace {

// Shades of `values`, the sums of equal shares of [begin, end) of them, the largest full.
std::string bar(const std::vector<double>& values) {
  constexpr const char* shades[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = std::max(1e-12, *std::max_element(values.begin(), values.end()));
  std::string line;
  for (double v : values) line += shades[static_cast<size_t>(std::clamp(std::lround(8 * v / most), 0l, 8l))];
  return line;
}

// What lies between two times of `per_second` numbers a second, in so many columns: the largest of each.
template <class Numbers>
std::vector<double> columns_of(const Numbers& numbers, double per_second, double begin, double end, size_t count) {
  std::vector<double> columns(count);
  const auto size = static_cast<double>(numbers.size());
  for (size_t c = 0; c < count; ++c) {
    const double width = (end - begin) / static_cast<double>(count), from = begin + width * static_cast<double>(c);
    const auto first = static_cast<size_t>(std::clamp(from * per_second, 0.0, size));
    const auto last = static_cast<size_t>(std::clamp((from + width) * per_second, 0.0, size));
    for (size_t i = first; i < std::max(last, std::min(first + 1, numbers.size())); ++i)
      columns[c] = std::max(columns[c], std::abs(static_cast<double>(numbers[i])));
  }
  return columns;
}

}  // namespace

std::string to_terminal(const Segment& s, const Sound& sound, const TerminalLook& look) {
  if (s.words.empty() || s.words[0].heard.empty()) return "";
  int widest = 0;
  for (const SpokenWord& w : s.words) widest = std::max(widest, cells(trimmed(w.text)));
  const int left = widest + 26;  // the word, its times and its probability
  const auto count = static_cast<size_t>(std::clamp(look.width - left - 1, 8, 120));
  const double begin = std::max(s.window, s.start - 0.2), end = s.end + 0.2;
  std::string text = fmt::format("{}  {:7.2f} {:7.2f}        {}\n", padded("", widest), begin, end,
                                 bar(columns_of(sound.samples, static_cast<double>(sound.rate), begin, end, count)));
  for (const SpokenWord& w : s.words) {
    text += fmt::format("{}  {:7.2f} {:7.2f} {:.2f}   {}\n", padded(trimmed(w.text), widest), w.start, w.end,
                        w.probability, bar(columns_of(w.heard, 50, begin - s.window, end - s.window, count)));
  }
  return text;
}

}  // namespace fovea
