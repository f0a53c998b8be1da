#include "fovea/generate/speech_tokens.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/generate/alignment_heads.h"
#include "fovea/generate/config.h"
#include "fovea/generate/speech_languages.h"

namespace fovea {
namespace {

constexpr float excluded = -std::numeric_limits<float>::infinity();
constexpr int64_t times = 1501;                // of a window of 30 s, every 0.02 s
constexpr int64_t english_vocabulary = 51864;  // of the models that know English alone

// An entry that is spelled like this, −1 if there is none.
int64_t named(const Tokenizer& t, const std::string& name) {
  const int64_t id = t.id_of(name);
  return id >= 0 && id < t.size() && t.piece(id) == name ? id : -1;
}

void find_by_name(const Tokenizer& t, SpeechTokens& tokens) {
  tokens.start = named(t, "<|startoftranscript|>");
  tokens.transcribe = named(t, "<|transcribe|>"), tokens.translate = named(t, "<|translate|>");
  tokens.previous = named(t, "<|startofprev|>");
  tokens.no_speech = std::max(named(t, "<|nospeech|>"), named(t, "<|nocaptions|>"));
  tokens.no_times = named(t, "<|notimestamps|>");
  for (const SpokenLanguage& language : spoken_languages())
    if (const int64_t id = named(t, fmt::format("<|{}|>", language.code)); id >= 0)
      tokens.languages.emplace_back(language.code, id);
}

// end, start, languages, translate, transcribe, startoflm, startofprev, nospeech, notimestamps, times
void find_by_order(int64_t vocabulary, SpeechTokens& tokens) {
  const int64_t languages = vocabulary - times - 6 - 2 - tokens.end;
  const auto known = spoken_languages();
  if (languages < 1 || languages > static_cast<int64_t>(known.size()))
    throw Error(Error::corrupt, "found a vocabulary of {} entries with {} words, expected one of Whisper's", vocabulary,
                tokens.end);
  tokens.start = tokens.end + 1;
  for (int64_t i = 0; i < languages; ++i)
    tokens.languages.emplace_back(known[static_cast<size_t>(i)].code, tokens.start + 1 + i);
  tokens.translate = tokens.start + languages + 1, tokens.transcribe = tokens.translate + 1;
  tokens.previous = tokens.translate + 3, tokens.no_speech = tokens.translate + 4;
  tokens.no_times = tokens.translate + 5;
}

// What stands for sounds and speakers, not for what is said: brackets, notes, rows of signs. Signs between words may be written,
// those that would begin a word may not.
std::vector<int64_t> signs_nobody_says(const Tokenizer& t) {
  const std::vector<std::string> signs = {"\"",  "#",  "(",  ")",   "*",   "+",   "/",   ":",  ";",   "<",  "=",  ">",
                                          "@",   "[",  "\\", "]",   "^",   "_",   "`",   "{",  "|",   "}",  "~",  "「",
                                          "」",  "『", "』", "<<",  ">>",  "<<<", ">>>", "--", "---", "-(", "-[", "('",
                                          "(\"", "((", "))", "(((", ")))", "[[",  "]]",  "{{", "}}",  "♪♪", "♪♪♪"};
  const std::vector<std::string> notes = {"♩", "♪", "♫", "♬", "♭", "♮", "♯"};
  std::vector<int64_t> ids;
  const auto add = [&](const std::string& text, bool alone) {
    const std::vector<int64_t> found = t.encode(text).ids;
    if (!found.empty() && (found.size() == 1 || !alone)) ids.push_back(found[0]);
  };
  add(" -", false), add(" '", false);
  for (const std::string& sign : signs) add(sign, true), add(" " + sign, true);
  for (const std::string& note : notes) add(note, false), add(" " + note, false);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// What read_generation_config() does not know.
void read_speech_config(const Pretrained& p, SpeechTokens& tokens, bool& english) {
  const auto path = p.folder / "generation_config.json";
  if (!is_folder(p.folder) || !path_exists(path)) return;
  const nlohmann::json file = parse_json(read_text(path), path.string());
  if (!file.is_object()) return;
  if (const auto found = file.find("alignment_heads"); found != file.end() && found->is_array() && !found->empty())
    tokens.alignment_heads = listed_heads(*found, *p.model, path.string());
  if (const auto found = file.find("max_initial_timestamp_index"); found != file.end())
    tokens.latest_first_time = found->is_number_integer() ? found->get<int64_t>() : -1;
  if (const auto found = file.find("is_multilingual"); found != file.end() && found->is_boolean())
    english = !found->get<bool>();
}

}  // namespace

int64_t SpeechTokens::language_id(const std::string& code) const {
  std::vector<std::string> known;
  for (const auto& [name, id] : languages) {
    if (name == code) return id;
    known.push_back(name);
  }
  if (languages.empty())
    throw Error(Error::invalid, "found the language '{}', expected none: this model knows English alone", code);
  throw_unknown("language of the model", code, known);
}

std::vector<int64_t> SpeechTokens::prompt(const std::string& language, SpeechTask task) const {
  if (languages.empty()) return {start};
  return {start, language_id(language), task == SpeechTask::transcribe ? transcribe : translate};
}

void SpeechTokens::exclude(std::span<float> logits, std::span<const int64_t> written) const {
  const auto below = [&](int64_t from, int64_t to) {
    const auto size = static_cast<int64_t>(logits.size());
    for (int64_t id = std::max<int64_t>(from, 0); id < std::min(to, size); ++id)
      logits[static_cast<size_t>(id)] = excluded;
  };
  const auto size = static_cast<int64_t>(logits.size());
  for (int64_t id : never) below(id, id + 1);
  below(end + 1, first_time());
  if (written.empty()) {
    below(0, first_time());
    if (latest_first_time >= 0) below(first_time() + latest_first_time + 1, size);
    for (int64_t id : not_first) below(id, id + 1);
    return;
  }
  const bool after_time = is_time(written.back());
  const bool after_two = written.size() < 2 || is_time(written[written.size() - 2]);
  if (after_time && after_two) below(first_time(), size);
  if (after_time && !after_two) below(0, end);
  // A pair may be of one time twice, the end of a part and the beginning of the next; a part has to have a length.
  const auto last = std::find_if(written.rbegin(), written.rend(), [&](int64_t id) { return is_time(id); });
  if (last != written.rend()) below(first_time(), after_time && !after_two ? *last : *last + 1);

  const auto middle = logits.begin() + std::min(first_time(), size);
  const float word = *std::max_element(logits.begin(), middle);
  const float time = middle == logits.end() ? excluded : *std::max_element(middle, logits.end());
  double sum = 0;
  if (time != excluded)
    for (auto i = middle; i != logits.end(); ++i) sum += std::exp(double{*i} - time);
  if (time != excluded && time + std::log(sum) > word) below(0, first_time());
}

SpeechTokens read_speech_tokens(const Pretrained& p) {
  const Generator& writer = p.as<Generator>();
  p.as<Listener>();
  SpeechTokens tokens;
  tokens.end = writer.special_ids().eos;
  const Tokenizer& t = *p.tokenizer;
  find_by_name(t, tokens);
  try {
    if (tokens.start < 0 || tokens.no_times < 0) find_by_order(p.model->vocabulary(), tokens);
  } catch (const Error& e) {
    throw Error(e.kind(), "{}: {}", p.folder.string(), e.what());
  }
  bool english = p.model->vocabulary() == english_vocabulary;
  read_speech_config(p, tokens, english);
  if (english) tokens.languages.clear();
  if (!tokens.languages.empty() && (tokens.transcribe < 0 || tokens.translate < 0))
    throw Error(Error::corrupt, "{}: found languages but no <|transcribe|> or <|translate|> in the vocabulary",
                p.folder.string());
  const GenerationConfig config = read_generation_config(p.folder);
  tokens.never = config.never.empty() ? signs_nobody_says(t) : config.never;
  tokens.not_first = config.not_first;
  if (tokens.not_first.empty()) tokens.not_first = t.encode(" ").ids, tokens.not_first.push_back(tokens.end);
  if (tokens.alignment_heads.empty()) tokens.alignment_heads = usual_heads(*p.model, english);
  return tokens;
}

}  // namespace fovea
