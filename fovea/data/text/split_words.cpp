// Where a text is cut into words; see words.h.
#include <algorithm>
#include <array>

#include "fovea/data/text/words.h"

namespace fovea {
namespace {

using Points = std::vector<CodePoint>;

constexpr std::array<std::string_view, 15> titles = {"mr", "mrs", "ms",  "dr",   "st",  "prof", "jr", "sr",
                                                     "vs", "co",  "inc", "corp", "ltd", "gen",  "sen"};

bool is_apostrophe(char32_t c) { return c == '\'' || c == U'’'; }

// The code points [begin, end) between two stretches of white space.
class Chunk {
 public:
  Chunk(std::string_view text, const Points& points, size_t begin, size_t end)
      : text_(text), points_(points), begin_(begin), end_(end) {}

  void cut(std::vector<Span>& into) {
    while (begin_ < end_ && !is_word_character(at(begin_)) && !starts_name()) {
      size_t next = begin_ + 1;
      while (next < end_ && is_run(at(begin_)) && at(next) == at(begin_)) ++next;
      into.push_back(span(begin_, next));
      begin_ = next;
    }
    std::vector<Span> after;
    while (end_ > begin_ && !is_word_character(at(end_ - 1)) && !is_abbreviation()) {
      size_t first = end_ - 1;
      while (first > begin_ && is_run(at(end_ - 1)) && at(first - 1) == at(end_ - 1)) --first;
      after.push_back(span(first, end_));
      end_ = first;
    }
    if (begin_ < end_) {
      const size_t middle = ending();
      if (middle > begin_) into.push_back(span(begin_, middle));
      if (middle < end_) into.push_back(span(middle, end_));
    }
    into.insert(into.end(), after.rbegin(), after.rend());
  }

 private:
  char32_t at(size_t i) const { return points_[i].value; }
  Span span(size_t begin, size_t end) const { return {points_[begin].span.begin, points_[end - 1].span.end}; }
  static bool is_run(char32_t c) { return c == '.' || c == '-'; }

  // "@name" and "#topic" are one word.
  bool starts_name() const {
    return (at(begin_) == '@' || at(begin_) == '#') && begin_ + 1 < end_ && is_word_character(at(begin_ + 1));
  }

  bool is_abbreviation() const {
    if (at(end_ - 1) != '.' || end_ - begin_ < 2) return false;
    size_t letters = 0, stops = 0;
    bool short_parts = true;
    for (size_t i = begin_; i < end_; ++i) {
      if (at(i) == '.') {
        short_parts = short_parts && letters >= 1 && letters <= 2;
        letters = 0;
        ++stops;
      } else {
        short_parts = short_parts && is_word_character(at(i)) && !(at(i) >= '0' && at(i) <= '9');
        ++letters;
      }
    }
    if (short_parts && (stops > 1 || end_ - begin_ == 2)) return true;
    const std::string word = lower_case(piece_of(text_, span(begin_, end_ - 1)));
    return std::find(titles.begin(), titles.end(), word) != titles.end();
  }

  // Where 's, 'm, 'd, 're, 've, 'll or n't begins, or the end.
  size_t ending() const {
    for (size_t length : {2, 3}) {
      if (end_ - begin_ <= length) break;
      const size_t first = end_ - length;
      if (is_apostrophe(at(first))) {
        const std::string rest = lower_case(piece_of(text_, span(first + 1, end_)));
        for (const char* known : {"s", "m", "d", "re", "ve", "ll"}) {
          if (rest == known) return first;
        }
      }
      if (length == 3 && (at(first) | 0x20) == 'n' && is_apostrophe(at(first + 1)) && (at(end_ - 1) | 0x20) == 't') {
        return first;
      }
    }
    return end_;
  }

  std::string_view text_;
  const Points& points_;
  size_t begin_, end_;
};

}  // namespace

std::vector<Span> split_words(std::string_view text) {
  const Points points = code_points(text);
  std::vector<Span> spans;
  for (size_t i = 0; i < points.size();) {
    if (is_space(points[i].value)) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < points.size() && !is_space(points[end].value)) ++end;
    Chunk(text, points, i, end).cut(spans);
    i = end;
  }
  return spans;
}

}  // namespace fovea
