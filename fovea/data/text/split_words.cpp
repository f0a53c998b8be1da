// Where a text is cut into words; see words.h.
#include <algorithm>
#include <array>

#include "fovea/data/text/words.h"

namespace fovea {
namespace {

using Points = std::vector<CodePoint>;

constexpr std::array<std::string_view, 15> titles = {"mr", "mrs", "ms",  "dr",   "st",  "prof", "jr", "sr",
                                                     "vs", "co",  "inc", "corp", "ltd", "gen",  "sen"};
constexpr size_t longest_title = 4;

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

  bool is_abbreviation() {
    if (at(end_ - 1) != '.' || end_ - begin_ < 2) return false;
    if (end_ <= first_long_) {
      size_t letters = 0, stops = 0, i = begin_;
      for (; i < end_; ++i) {
        const bool stop = at(i) == '.';
        const bool good =
            stop ? letters >= 1 && letters <= 2 : is_word_character(at(i)) && !(at(i) >= '0' && at(i) <= '9');
        if (!good) break;
        letters = stop ? 0 : letters + 1;
        stops += stop;
      }
      if (i < end_) first_long_ = i;
      if (i == end_ && (stops > 1 || end_ - begin_ == 2)) return true;
    }
    if (end_ - begin_ > longest_title + 1) return false;
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
  size_t first_long_ = static_cast<size_t>(-1);  // up to here all between full stops is short; looked for only once
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
