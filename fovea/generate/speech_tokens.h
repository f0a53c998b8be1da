// What the ids of Whisper's vocabulary mean beyond its words, and which of them may follow which.
//
//   const SpeechTokens tokens = read_speech_tokens(pretrained);
//   tokens.prompt("de", SpeechTask::transcribe);       // <|startoftranscript|><|de|><|transcribe|>
//   tokens.exclude(logits, written);                   // what may not come next becomes −∞
//
// Words come first, then <|endoftext|>, marks, and last the times <|0.00|>, <|0.02|> … of a window.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fovea/generate/alignment_heads.h"
#include "fovea/models/pretrained.h"

namespace fovea {

enum class SpeechTask { transcribe, translate };  // translate: into English

struct SpeechTokens {
  int64_t end = -1, start = -1, transcribe = -1, translate = -1;
  int64_t previous = -1;                                        // stands before what was said before the window
  int64_t no_speech = -1;                                       // its probability at the start: nobody speaks
  int64_t no_times = -1;                                        // the last of the marks
  std::vector<std::pair<std::string, int64_t>> languages = {};  // codes and ids; none if the model knows English alone
  std::vector<int64_t> never = {}, not_first = {};
  int64_t latest_first_time = 50;  // of the first time that is written; −1: any
  std::vector<AlignmentHead> alignment_heads = {};

  int64_t first_time() const { return no_times + 1; }
  bool is_word(int64_t id) const { return id < end; }
  bool is_time(int64_t id) const { return id > no_times; }
  int64_t language_id(const std::string& code) const;  // an Error if the model does not know it
  std::vector<int64_t> prompt(const std::string& language, SpeechTask) const;

  // Of a row of logits: times come in pairs that do not decrease, the first one within a second of the window's beginning; they are
  // written where all of them together are more probable than any word (Radford et al. 2022).
  void exclude(std::span<float> logits, std::span<const int64_t> written) const;
};

// From the tokenizer's names or, where it has none, the order that every Whisper has; what is never written and which heads align from
// generation_config.json. Without these: no signs that nobody says, and the heads that are known of a model of this size.
SpeechTokens read_speech_tokens(const Pretrained&);

}  // namespace fovea
