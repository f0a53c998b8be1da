#include "fovea/explain/dictionary.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/text/lines.h"
#include "fovea/explain/alignment.h"

namespace fovea {
namespace {

constexpr int rounds = 8;
constexpr double least = 0.05;   // probability of an entry
constexpr size_t longest = 100;  // words of a sentence that is learned from

std::vector<std::string> plain_words(std::string_view text) {
  std::vector<std::string> words;
  for (Span span : words_of(text)) {
    const std::vector<CodePoint> points = code_points(piece_of(text, span));
    const auto is_part = [](const CodePoint& c) { return is_word_character(c.value); };
    const auto first = std::find_if(points.begin(), points.end(), is_part);
    const auto last = std::find_if(points.rbegin(), points.rend(), is_part);
    words.push_back(first == points.end()
                        ? std::string(piece_of(text, span))
                        : lower_case(text.substr(static_cast<size_t>(span.begin + first->span.begin),
                                                 static_cast<size_t>(last->span.end - first->span.begin))));
  }
  return words;
}

using Sentence = std::vector<int>;

// Words as numbers; 0 is the empty word, which whatever has no partner is from.
class Numbers final {
 public:
  Sentence of(std::string_view text) {
    Sentence s;
    for (const std::string& word : plain_words(text)) {
      s.push_back(known_.emplace(word, static_cast<int>(known_.size()) + 1).first->second);
      if (names_.size() < known_.size()) names_.push_back(word);
    }
    return s;
  }
  const std::string& name(int number) const { return names_[static_cast<size_t>(number) - 1]; }

 private:
  std::map<std::string, int> known_;
  std::vector<std::string> names_;
};

}  // namespace

Dictionary Dictionary::read(const std::string& path) {
  Dictionary d;
  Lines lines(path);
  for (std::string line; lines.next(line);) {
    const size_t tab = line.find('\t');
    require(tab != std::string::npos && tab > 0 && tab + 1 < line.size(),
            "{}: found '{}', expected a word, a tab and a word", lines.where(), line.substr(0, 60));
    d.entries_[{lower_case(line.substr(0, tab)), lower_case(line.substr(tab + 1))}] = 1;
  }
  return d;
}

// t(f | e) ← Σ over sentences of the share of f that e explains, t(f | e) / Σ t(f | e′) over the source's words, by Σ over f.
Dictionary Dictionary::learned(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Numbers source_words, target_words;
  std::vector<std::pair<Sentence, Sentence>> sentences;
  for (const auto& [source, target] : pairs) {
    std::pair<Sentence, Sentence> s = {source_words.of(source), target_words.of(target)};
    s.first.push_back(0);
    if (s.first.size() <= longest && s.second.size() <= longest) sentences.push_back(std::move(s));
  }
  std::map<std::pair<int, int>, double> probability;
  for (int round = 0; round < rounds; ++round) {
    std::map<std::pair<int, int>, double> expected;
    std::map<int, double> totals;
    for (const auto& [source, target] : sentences)
      for (int f : target) {
        double sum = 0;
        for (int e : source) sum += round == 0 ? 1 : probability[{e, f}];
        for (int e : source) {
          const double share = (round == 0 ? 1 : probability[{e, f}]) / sum;
          expected[{e, f}] += share, totals[e] += share;
        }
      }
    for (auto& [pair, count] : expected) count /= totals[pair.first];
    probability = std::move(expected);
  }
  Dictionary d;
  for (const auto& [pair, p] : probability)
    if (pair.first != 0 && p >= least && p > probability[{0, pair.second}])
      d.entries_[{source_words.name(pair.first), target_words.name(pair.second)}] = p;
  return d;
}

Alignment Dictionary::links(std::string_view source, std::string_view target) const {
  const std::vector<std::string> from = plain_words(source), to = plain_words(target);
  Alignment links;
  for (size_t t = 0; t < to.size(); ++t) {
    double best = 0, away = 0;
    size_t chosen = 0;
    for (size_t s = 0; s < from.size(); ++s) {
      const auto entry = entries_.find({from[s], to[t]});
      const double p = entry == entries_.end() ? 0 : entry->second;
      // Of equal ones the nearest.
      const double beside = std::abs(static_cast<double>(s) / static_cast<double>(from.size()) -
                                     static_cast<double>(t) / static_cast<double>(to.size()));
      if (p > best || (p == best && p > 0 && beside < away)) best = p, away = beside, chosen = s;
    }
    if (best > 0) links.insert({static_cast<int64_t>(chosen), static_cast<int64_t>(t)});
  }
  return links;
}

}  // namespace fovea
