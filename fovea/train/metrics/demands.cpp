#include "fovea/train/metrics/demands.h"

#include <algorithm>
#include <set>

#include "fovea/base/error.h"
#include "fovea/data/text/utf8.h"
#include "fovea/formats/matrix_text.h"

namespace fovea {
namespace {

constexpr char32_t star = 0;

// Blanks that do not break and curly apostrophes are those that people type into demands.
std::u32string letters_of(std::string_view text) {
  std::u32string letters;
  for (const CodePoint& c : code_points(nfc(text))) {
    const bool blank = c.value == 0xA0 || c.value == 0x2009 || c.value == 0x202F;
    letters += blank ? U' ' : c.value == 0x2019 ? U'\'' : c.value;
  }
  return letters;
}

std::u32string in_small_letters(std::string_view text) { return letters_of(lower_case(text)); }

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

// Whether `letter`, the first of an alternative, may begin a word at a place; `text` is read from that place to the left.
template <class At>
bool cut_between(char32_t letter, const At& neighbour) {
  if (!is_word_character(letter)) return true;
  if (is_word_character(neighbour(0))) return false;
  const bool mark = neighbour(0) == U'.' || neighbour(0) == U',';
  return !(is_digit(letter) && mark && is_digit(neighbour(1)));
}

}  // namespace

Demand::Demand(std::string_view text, std::string_view where) : text_(text) {
  forbidden_ = text.starts_with('!');
  if (forbidden_) text.remove_prefix(1);
  if (text.size() > 2 && text.starts_with('/') && text.ends_with('/')) {
    regex_.emplace(text.substr(1, text.size() - 2), where);
    return;
  }
  for (const std::string& part : split_text(std::string(text), '|')) {
    const std::string plain(trim(part));
    require(plain.find_first_not_of('*') != std::string::npos,
            "{}: found the demand '{}', expected words, with | between alternatives and nothing empty", where, text_);
    Alternative a = {letters_of(plain), lower_case(plain) == plain};
    std::ranges::replace(a.letters, U'*', star);
    alternatives_.push_back(std::move(a));
  }
}

// All places up to which the alternative may have been read, advanced letter by letter.
bool Demand::Alternative::in(std::u32string_view answer) const {
  const size_t size = answer.size();
  const auto at = [&](size_t i) { return i < size ? answer[i] : U' '; };
  std::vector<char> here(size + 1);
  for (size_t i = 0; i <= size; ++i)
    here[i] = letters.front() == star ||
              cut_between(letters.front(), [&](size_t back) { return i > back ? at(i - 1 - back) : U' '; });
  for (const char32_t letter : letters) {
    if (letter == star) {
      for (size_t i = 0; i < size; ++i) here[i + 1] |= static_cast<char>(here[i] && is_word_character(answer[i]));
      continue;
    }
    for (size_t i = size; i > 0; --i) here[i] = here[i - 1] && answer[i - 1] == letter;
    here[0] = 0;
  }
  for (size_t i = 0; i <= size; ++i)
    if (here[i] && (letters.back() == star || cut_between(letters.back(), [&](size_t on) { return at(i + on); })))
      return true;
  return false;
}

bool Demand::met(std::string_view answer) const {
  bool found = false;
  if (regex_) regex_->each_match(answer, [&](size_t, size_t) { found = true; });
  const std::u32string exact = letters_of(answer), small = in_small_letters(answer);
  for (const Alternative& a : alternatives_) found = found || a.in(a.any_case ? small : exact);
  return found != forbidden_;
}

std::vector<DemandingSentence> parse_demands(std::span<const std::string> lines, std::string_view where) {
  std::vector<DemandingSentence> all;
  std::set<std::string> sources;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty() || lines[i].starts_with('#')) continue;
    const std::string place = fmt::format("{}:{}", where, i + 1);
    const std::vector<std::string> columns = split_text(lines[i], '\t');
    require(columns.size() >= 3,
            "{}: found {} columns, expected a kind, a sentence and one demand or more, with tabs between", place,
            columns.size());
    require(!columns[0].empty() && !columns[1].empty(), "{}: found no {}, expected one", place,
            columns[0].empty() ? "kind" : "sentence");
    require(sources.insert(columns[1]).second, "{}: found the sentence '{}' again, expected it once", place,
            columns[1]);
    DemandingSentence sentence = {columns[0], columns[1], {}, i + 1};
    for (size_t k = 2; k < columns.size(); ++k) sentence.demands.emplace_back(columns[k], place);
    all.push_back(std::move(sentence));
  }
  require(!all.empty(), "{}: found no sentences, expected lines of kind, sentence and demands", where);
  return all;
}

DemandScores score_demands(const std::vector<DemandingSentence>& sentences, std::span<const std::string> answers) {
  require(sentences.size() == answers.size(), "demands: found {} answers, expected one for each of {} sentences",
          answers.size(), sentences.size());
  DemandScores scores;
  for (size_t i = 0; i < sentences.size(); ++i) {
    const DemandingSentence& s = sentences[i];
    auto kind = std::ranges::find(scores.kinds, s.kind, [](const auto& k) { return k.first; });
    if (kind == scores.kinds.end()) kind = scores.kinds.insert(kind, {s.kind, {}});
    DemandFailure failure = {i, {}};
    for (size_t k = 0; k < s.demands.size(); ++k)
      if (!s.demands[k].met(answers[i])) failure.not_met.push_back(k);
    for (DemandScore* score : {static_cast<DemandScore*>(&scores), &kind->second})
      ++score->sentences, score->met += failure.not_met.empty() ? 1 : 0;
    if (!failure.not_met.empty()) scores.failures.push_back(std::move(failure));
  }
  return scores;
}

}  // namespace fovea
