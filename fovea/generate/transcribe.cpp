#include "fovea/generate/transcribe.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "fovea/data/audio/log_mel.h"
#include "fovea/generate/speech_languages.h"
#include "fovea/generate/speech_window.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

constexpr int64_t rate = 16000;

TranscribeOptions checked(TranscribeOptions o) {
  require(o.task == "transcribe" || o.task == "translate",
          "transcribe: found the task '{}', expected transcribe or translate", o.task);
  require(o.temperature >= 0 && o.temperature <= 10 && o.warmer >= 0,
          "transcribe: found temperature {} and warmer {}, expected 0 to 10, and at least 0", o.temperature, o.warmer);
  require(o.attempts >= 1 && o.attempts <= 100, "transcribe: found attempts {}, expected 1 to 100", o.attempts);
  if (!o.language.empty()) o.language = language_code(o.language);
  return o;
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// From one end of the recording to the other.
class Transcriber final {
 public:
  Transcriber(const Pretrained& p, const Sound& sound, const TranscribeOptions& o)
      : p_(p),
        model_(p.as<Generator>()),
        listener_(p.as<Listener>()),
        tokens_(read_speech_tokens(p)),
        options_(checked(o)),
        task_(options_.task == "translate" ? SpeechTask::translate : SpeechTask::transcribe),
        sound_(sound),
        shape_(listener_.sound_shape()),
        log_mel_({.bands = shape_.bands}) {
    require(sound.rate == rate, "transcribe: found a recording of {} Hz, expected {}", sound.rate, rate);
    require(task_ == SpeechTask::transcribe || !tokens_.languages.empty(),
            "transcribe: found the task translate, expected transcribe: this model knows English alone");
    if (!options_.language.empty() && !(tokens_.languages.empty() && options_.language == "en"))
      tokens_.language_id(options_.language);
    frames_ = (static_cast<int64_t>(sound.samples.size()) + step() - 1) / step();
    if (!options_.prompt.empty()) said_ = p.tokenizer->encode(" " + trimmed(options_.prompt)).ids;
  }

  Transcription run() {
    result_.seconds = sound_.seconds();
    result_.language = tokens_.languages.empty() ? "en" : options_.language;
    for (int64_t at = 0; at < frames_;) {
      at += window(at);
      if (options_.on_progress)
        options_.on_progress(std::min(result_.seconds, static_cast<double>(at) * seconds_per_frame()));
    }
    result_.text = trimmed(result_.text);
    return std::move(result_);
  }

 private:
  int64_t step() const { return log_mel_.config().step; }
  double seconds_per_frame() const { return static_cast<double>(step()) / rate; }
  double seconds_of(int64_t time) const {  // of a time's id, from the window's beginning
    return static_cast<double>((time - tokens_.first_time()) * shape_.frames_per_state) * seconds_per_frame();
  }

  // Frames from `at` on, silence behind the end.
  Tensor frames_from(int64_t at) const {
    std::vector<float> samples(static_cast<size_t>(shape_.frames * step()));
    const auto begin = sound_.samples.begin() + at * step();
    std::copy_n(begin, std::min<int64_t>(std::ssize(samples), sound_.samples.end() - begin), samples.begin());
    return log_mel_(samples).unsqueeze(0);
  }

  // How many frames are done with.
  int64_t window(int64_t at) {
    const int64_t real = std::min(shape_.frames, frames_ - at);
    Trace* const trace = at == 0 ? options_.trace : nullptr;
    SpeechWindow window(model_, listener_, tokens_, listener_.hear({.frames = frames_from(at)}, {.trace = trace}));
    if (result_.language.empty()) {
      const SpeechWindow::Language found = window.language();
      result_.language = found.code, result_.language_probability = found.probability;
      if (options_.on_language) options_.on_language(found.code, found.probability);
    }
    const std::vector<int64_t> read = prompt();
    const WindowText text = write(window, at);
    if (trace) keep_traced(read, text);
    if (text.no_speech > options_.most_no_speech && text.mean_log_probability() < options_.least_log_probability)
      return real;
    int64_t done = real;
    std::vector<Part> parts = parts_of(text, real, done);
    finish(parts, text, at, words_of(window, parts, text, real));
    if (!options_.condition || text.temperature > 0.5) said_.clear();
    return done;
  }

  void keep_traced(const std::vector<int64_t>& read, const WindowText& text) {
    result_.traced_prompt = read, result_.traced_ids = text.ids;
    if (text.log_probabilities.size() > text.ids.size()) result_.traced_ids.push_back(tokens_.end);
  }

  std::vector<int64_t> prompt() const {
    std::vector<int64_t> prompt = tokens_.prompt(result_.language, task_);
    const auto most = static_cast<size_t>(std::max<int64_t>(0, model_.longest() / 2 - 1));
    if (said_.empty() || tokens_.previous < 0) return prompt;
    std::vector<int64_t> before(said_.end() - static_cast<std::ptrdiff_t>(std::min(most, said_.size())), said_.end());
    before.insert(before.begin(), tokens_.previous);
    prompt.insert(prompt.begin(), before.begin(), before.end());
    return prompt;
  }

  std::vector<int64_t> words_in(const std::vector<int64_t>& ids) const {
    std::vector<int64_t> words;
    for (int64_t id : ids)
      if (tokens_.is_word(id)) words.push_back(id);
    return words;
  }

  WindowText write(SpeechWindow& window, int64_t at) const {
    WindowText text;
    std::optional<Trace> written;  // by the latest attempt, which is the one that is taken
    for (double temperature = options_.temperature;; temperature += options_.warmer) {
      if (at == 0 && options_.trace) written.emplace(options_.trace->probe());
      text = window.write(prompt(),
                          {.temperature = temperature,
                           .attempts = options_.attempts,
                           .most = model_.longest() / 2,
                           .random = Random(static_cast<uint64_t>(options_.seed)).fork(static_cast<uint64_t>(at)),
                           .trace = written ? &*written : nullptr});
      const bool improbable = text.mean_log_probability() < options_.least_log_probability;
      const bool silent = improbable && text.no_speech > options_.most_no_speech;
      const bool repeats = compression_ratio(p_.tokenizer->decode(words_in(text.ids))) > options_.most_compression;
      const bool last = options_.warmer == 0 || temperature + options_.warmer > 1 + 1e-9;
      if (last || silent || (!improbable && !repeats)) break;
    }
    if (written)
      for (const auto& [place, runs] : written->results())
        for (const ProbeResult& run : runs) options_.trace->add(place, run);
    return text;
  }

  // Tokens [begin, end) of a window's text.
  struct Part {
    size_t begin, end;
    Segment segment;
  };

  // Cut between two times that follow each other. What stands behind the last such pair is heard again in the next window, unless it
  // ends with a time of its own: then nobody speaks behind it.
  std::vector<Part> parts_of(const WindowText& text, int64_t real, int64_t& done) const {
    const std::vector<int64_t>& ids = text.ids;
    const auto is_time = [&](size_t i) { return tokens_.is_time(ids[i]); };
    std::vector<Part> parts;
    std::vector<size_t> cuts;
    for (size_t i = 1; i < ids.size(); ++i)
      if (is_time(i - 1) && is_time(i)) cuts.push_back(i);
    const bool ends_with_one = ids.size() >= 2 && !is_time(ids.size() - 2) && is_time(ids.size() - 1);
    if (cuts.empty()) {
      double end = static_cast<double>(real) * seconds_per_frame();
      for (size_t i = 0; i < ids.size(); ++i)
        if (is_time(i) && ids[i] != tokens_.first_time()) end = seconds_of(ids[i]);
      const double start = !ids.empty() && is_time(0) ? std::min(seconds_of(ids[0]), end) : 0;
      parts.push_back({0, ids.size(), {.start = ids.size() > 1 && start < end ? start : 0, .end = end}});
      return parts;
    }
    if (ends_with_one) cuts.push_back(ids.size());
    size_t begin = 0;
    for (size_t cut : cuts) {
      parts.push_back({begin, cut, {.start = seconds_of(ids[begin]), .end = seconds_of(ids[cut - 1])}});
      begin = cut;
    }
    const int64_t last = (ids[begin - 1] - tokens_.first_time()) * shape_.frames_per_state;
    if (!ends_with_one && last > 0) done = std::min(last, real);
    return parts;
  }

  // If asked for: all that was said is read once more, without times, in one pass, as the program that made the model does it.
  SpokenWords words_of(SpeechWindow& window, const std::vector<Part>& parts, const WindowText& text,
                       int64_t real) const {
    if (!options_.words && !options_.heard) return {};
    SpokenTokens spoken = {.seconds_per_state = static_cast<double>(shape_.frames_per_state) * seconds_per_frame(),
                           .spaces = !writes_without_spaces(task_ == SpeechTask::translate ? "en" : result_.language),
                           .heard = options_.heard};
    for (const Part& part : parts)
      for (size_t i = part.begin; i < part.end; ++i) {
        if (!tokens_.is_word(text.ids[i])) continue;
        spoken.ids.push_back(text.ids[i]), spoken.probabilities.push_back(std::exp(text.log_probabilities[i]));
      }
    if (spoken.ids.empty()) return {};
    std::vector<int64_t> read = tokens_.prompt(result_.language, task_);
    spoken.before = std::ssize(read);
    read.push_back(tokens_.no_times);
    read.insert(read.end(), spoken.ids.begin(), spoken.ids.end());
    read.push_back(tokens_.end);
    spoken.weights = window.look(read, (real + shape_.frames_per_state - 1) / shape_.frames_per_state);
    return spoken_words(*p_.tokenizer, spoken);
  }

  void finish(std::vector<Part>& parts, const WindowText& text, int64_t at, SpokenWords all) {
    const double offset = static_cast<double>(at) * seconds_per_frame();
    for (SpokenWord& word : all.words) word.start += offset, word.end += offset;
    size_t next = 0;
    for (Part& part : parts) {
      Segment& s = part.segment;
      s.ids.assign(text.ids.begin() + static_cast<std::ptrdiff_t>(part.begin),
                   text.ids.begin() + static_cast<std::ptrdiff_t>(part.end));
      s.start += offset, s.end += offset, s.window = offset, s.first = part.begin;
      const std::vector<int64_t> ids = words_in(s.ids);
      const std::string raw = p_.tokenizer->decode(ids);
      s.text = trimmed(raw);
      s.temperature = text.temperature, s.mean_log_probability = text.mean_log_probability();
      s.compression = compression_ratio(raw), s.no_speech = text.no_speech;
      for (size_t count = 0; count < ids.size() && next < all.words.size(); ++next) {
        count += all.words[next].tokens;
        s.words.push_back(std::move(all.words[next]));
      }
      fit_words(s.words, all.usual, spoken_until_, s.start, s.end);
      if (!s.words.empty()) spoken_until_ = s.end;
      if (s.text.empty() || s.end <= s.start) continue;
      said_.insert(said_.end(), s.ids.begin(), s.ids.end());
      result_.text += raw;
      result_.segments.push_back(std::move(s));
      if (options_.on_segment) options_.on_segment(result_.segments.back());
    }
  }

  const Pretrained& p_;
  const Generator& model_;
  const Listener& listener_;
  SpeechTokens tokens_;
  TranscribeOptions options_;
  SpeechTask task_;
  const Sound& sound_;
  SoundShape shape_;
  LogMel log_mel_;
  int64_t frames_ = 0;
  Transcription result_;
  std::vector<int64_t> said_;
  double spoken_until_ = 0;
};

}  // namespace

void TranscribeOptions::fields(Fields& f) {
  f("language", language, "what is spoken, as en or english; found out if not given");
  f("task", task, "transcribe, or translate into English");
  f("words", words, "when each word was said");
  f("prompt", prompt, "text that might stand before, with names and terms as they are spelled");
  f("condition", condition, "whether each window of 30 s is told what was said before");
  f("temperature", temperature, "0: the most probable words; above it words are drawn, logits divided by this");
  f("warmer", warmer,
    "where the words repeat themselves or are improbable, this is added and all is tried again, up to 1; 0: not");
  f("attempts", attempts, "texts that are drawn at a temperature above 0, of which the most probable is taken");
  f("seed", seed, "of the random numbers");
  f("most_compression", most_compression, "a text that zlib makes smaller than by this repeats itself");
  f("least_log_probability", least_log_probability, "the mean of a window's tokens below which it is written again");
  f("most_no_speech", most_no_speech, "an improbable window is passed over if it is more probable that nobody speaks");
}

Transcription transcribe(const Pretrained& p, const Sound& sound, const TranscribeOptions& o) {
  return Transcriber(p, sound, o).run();
}

double compression_ratio(const std::string& text) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::vector<Bytef> packed(size);
  if (compress(packed.data(), &size, reinterpret_cast<const Bytef*>(text.data()), static_cast<uLong>(text.size())) !=
      Z_OK)
    throw Error(Error::io, "transcribe: zlib could not compress {} bytes", text.size());
  return static_cast<double>(text.size()) / static_cast<double>(size);
}

}  // namespace fovea
