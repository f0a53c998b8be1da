// Words that a model carries from the source to the target, so that they can stand for what it does not know. A model that was
// trained with placeholders carries those; for one that was not, names and numbers do that it has seen often.
//
//   parse_carriers({"text:Boston", "number:30=30|dreißig", "date:October 20=20. Oktober"})[1].targets;   // 30, dreißig
#pragma once

#include <string>
#include <vector>

namespace fovea {

struct Carrier {
  enum Kind { text, name, number, amount, date, time, place };
  Kind kind;
  std::string source;
  std::vector<std::string> targets;  // what may come of it; the source itself if nothing else is said
};

std::vector<Carrier> parse_carriers(const std::vector<std::string>& lines);  // an Error for what is none

}  // namespace fovea
