// What must and what must not stand in a system's answer to a sentence, and how many sentences get an answer that has it all.
//
//   const std::vector<DemandingSentence> all = parse_demands(file.lines, file.name);      // kind, source, demands, with tabs between
//   score_demands(all, answers).share();
//
// A demand is met if one of its alternatives (Milliarden|Mrd.) stands in the answer as whole words; a * stands for the rest of a
// word (*brücke*), and ! before the demand means that it must not stand there. One in small letters is found in any case, one with
// a capital as it is written. A number is not found inside of a longer one (2,3 in 12,3 or in 2,35). /…/ is a regular expression.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/text/pretrained/regex.h"

namespace fovea {

class Demand final {
 public:
  Demand(std::string_view text, std::string_view where);  // an Error if it says nothing

  bool met(std::string_view answer) const;
  const std::string& text() const { return text_; }  // as it was written

 private:
  struct Alternative {
    std::u32string letters;  // a star is the character 0
    bool any_case;
    bool in(std::u32string_view answer) const;
  };

  std::string text_;
  bool forbidden_ = false;
  std::vector<Alternative> alternatives_;
  std::optional<Regex> regex_;
};

struct DemandingSentence {
  std::string kind, source;
  std::vector<Demand> demands;
  size_t line = 0;  // of the file, from 1
};

// Empty lines, and those that begin with #, are passed over. `where` names the file in errors.
std::vector<DemandingSentence> parse_demands(std::span<const std::string> lines, std::string_view where);

struct DemandScore {
  int64_t met = 0, sentences = 0;  // those all of whose demands are met, of how many
  double share() const { return sentences == 0 ? 0 : static_cast<double>(met) / static_cast<double>(sentences); }
};

struct DemandFailure {
  size_t sentence;              // its number, from 0
  std::vector<size_t> not_met;  // of its demands
};

struct DemandScores : DemandScore {
  std::vector<std::pair<std::string, DemandScore>> kinds;  // in the order in which they come
  std::vector<DemandFailure> failures;
};

// One answer for each sentence, an Error otherwise.
DemandScores score_demands(const std::vector<DemandingSentence>&, std::span<const std::string> answers);

}  // namespace fovea
