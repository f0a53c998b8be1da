#include "fovea/base/catalogue.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace fovea {
namespace {

// Levenshtein's distance: the least number of inserted, deleted and replaced characters.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

constexpr size_t longest = 100;

// The name itself, without what stands before every flag.
std::string_view bare(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  return name;
}

// Whether one of the words that a name is made of is this one, but for a letter.
bool has_nearly(std::string_view name, std::string_view word) {
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (auto begin = name.begin(); begin != name.end();) {
    begin = std::find_if(begin, name.end(), letter);
    const auto end = std::find_if_not(begin, name.end(), letter);
    if (edit_distance({begin, end}, word) <= 1) return true;
    begin = end;
  }
  return false;
}

// What a person who types `layer`, `beems` or `lr` means: a name with that word in it, or with these initials.
bool has_word(std::string_view name, std::string_view word) {
  word = bare(word);
  if (word.ends_with('s')) word.remove_suffix(1);
  if (word.size() >= 4) return name.find(word) != name.npos || has_nearly(name, word);
  std::string initials;
  for (size_t i = 0; i < name.size(); ++i)
    if (std::isalpha(name[i]) && (i == 0 || !std::isalnum(name[i - 1]))) initials += name[i];
  return word.size() > 1 && word == initials;
}

// The nearest name, if it is near; else up to three with the word in them.
std::vector<std::string> suggestions(std::string_view name, std::span<const std::string> known) {
  if (name.size() > longest) return {};
  size_t least = 1 + bare(name).size() / 3 + 1;
  std::vector<std::string> nearest, similar;
  for (const std::string& candidate : known) {
    if (candidate.size() > longest) continue;
    if (const size_t distance = edit_distance(candidate, name); distance < least) {
      least = distance;
      nearest = {candidate};
    }
    if (similar.size() < 3 && has_word(candidate, name)) similar.push_back(candidate);
  }
  return least > 1 && !similar.empty() ? similar : nearest;
}

}  // namespace

void throw_unknown(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  constexpr size_t most_shown = 12, most_compared = 10'000;
  std::string text = fmt::format("unknown {} '{}{}'", what, name.substr(0, longest), name.size() > longest ? "…" : "");
  const auto meant = suggestions(name, std::span(known).first(std::min(known.size(), most_compared)));
  text +=
      meant.empty() ? ", expected one of " : fmt::format("; did you mean '{}'? known: ", fmt::join(meant, "' or '"));
  const auto shown = std::span(known).first(std::min(known.size(), most_shown));
  text += fmt::format("{}", fmt::join(shown, ", "));
  if (known.size() > shown.size()) text += fmt::format(" and {} more", known.size() - shown.size());
  throw Error(Error::not_found, "{}", text);
}

}  // namespace fovea
