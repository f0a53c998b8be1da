#include "fovea/data/text/sentences.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <utility>

namespace fovea {
namespace {

// Abbreviations behind which a sentence always goes on.
constexpr std::array inside = std::to_array<std::string_view>(
    {"Mr",  "Mrs",  "Ms",  "Dr",  "Prof", "mr",   "mrs",    "ms",  "dr",   "prof", "Gen",   "Col",
     "Maj", "Capt", "Lt",  "Sgt", "Rev",  "Hon",  "Sen",    "Rep", "Gov",  "Mt",   "Mme",   "Mlle",
     "Sra", "Hr",   "Hrn", "Fr",  "Dipl", "Ing",  "vs",     "cf",  "viz",  "bzw",  "ca",    "evtl",
     "ggf", "inkl", "sog", "vgl", "Vgl",  "zzgl", "approx", "geb", "gest", "e.g",  "i.e",   "E.g",
     "I.e", "z.B",  "Z.B", "d.h", "D.h",  "u.a",  "i.d",    "v.a", "p.ex", "Mag",  "Messrs"});
// Those behind which it goes on if a number follows.
constexpr std::array before_numbers = std::to_array<std::string_view>(
    {"No",   "no",  "Nos", "Nr",  "nr",  "Vol", "vol", "Fig", "fig", "Figs", "pp",  "Art", "Abs", "Abb", "Kap",
     "Ch",   "ch",  "Sec", "sec", "Op",  "Eq",  "Bd",  "max", "min", "Jan",  "Feb", "Mar", "Apr", "Aug", "Sep",
     "Sept", "Oct", "Okt", "Nov", "Dec", "Dez", "Tel", "tel", "Ex",  "ex",   "Str", "Mio", "Mrd"});
// Those that may also end a sentence: then a word follows with which sentences begin.
constexpr std::array anywhere = std::to_array<std::string_view>(
    {"St", "st",  "Ave",  "Blvd", "Rd",   "Inc",  "Ltd",  "Co",  "Corp",  "Bros", "Jr",  "Sr",  "etc", "usw",
     "al", "est", "dept", "Dept", "Univ", "Ph.D", "Ph.d", "usf", "Nachf", "Ges",  "Std", "Mio", "Mrd", "ff"});
constexpr std::array hours = std::to_array<std::string_view>({"a.m", "p.m", "A.M", "P.M"});
constexpr std::array time_zones =
    std::to_array<std::string_view>({"Eastern", "Central", "Mountain", "Pacific", "Greenwich", "GMT", "UTC", "EST",
                                     "EDT", "PST", "PDT", "CET", "CEST"});
constexpr std::array starters = std::to_array<std::string_view>(
    {"The",   "This",   "That",   "These",  "Those", "A",    "An",   "He",      "She",   "It",     "We",   "They",
     "I",     "You",    "My",     "His",    "Her",   "Its",  "Our",  "Their",   "Your",  "There",  "Here", "In",
     "On",    "At",     "For",    "From",   "With",  "But",  "And",  "Or",      "So",    "Then",   "If",   "When",
     "While", "As",     "After",  "Before", "What",  "Why",  "Who",  "How",     "Where", "Is",     "Are",  "Was",
     "Were",  "Do",     "Does",   "Did",    "Not",   "No",   "Yes",  "However", "Now",   "Please", "Let",  "Some",
     "Many",  "Most",   "Der",    "Die",    "Das",   "Ein",  "Eine", "Er",      "Sie",   "Es",     "Wir",  "Ich",
     "Du",    "Ihr",    "Und",    "Aber",   "Dann",  "Wenn", "Als",  "Nach",    "Da",    "Dort",   "Hier", "Was",
     "Wer",   "Wie",    "Wo",     "Warum",  "Ist",   "Sind", "Mein", "Meine",   "Sein",  "Seine",  "Ihre", "Unser",
     "Diese", "Dieser", "Dieses", "Nun",    "Doch",  "Auch", "Ja",   "Nein",    "Nicht", "Am",     "Im",   "Bei",
     "Mit",   "Il",     "Elle",   "Le",     "La",    "Les",  "Un",   "Une",     "Je",    "Nous",   "Vous", "On",
     "El",    "Los",    "Las",    "Una",    "Yo",    "Mais", "Pero"});
// What stands before or behind an ordinal number of German.
constexpr std::array before_ordinals = std::to_array<std::string_view>(
    {"der",   "die",    "das",    "den",     "dem",     "des",   "am",    "im",     "vom",    "zum",
     "zur",   "beim",   "bis",    "Der",     "Die",     "Das",   "Den",   "Dem",    "Am",     "Im",
     "Vom",   "Zum",    "mein",   "meinem",  "meinen",  "meine", "sein",  "seinem", "seinen", "seine",
     "ihr",   "ihrem",  "ihren",  "ihre",    "jeder",   "jeden", "jedes", "jede",   "ein",    "einen",
     "einem", "diesem", "diesen", "unserem", "unseren", "ins",   "seit",  "ab",     "Seit",   "Ab"});
constexpr std::array behind_ordinals = std::to_array<std::string_view>(
    {"Januar", "Jänner",    "Februar",    "März",      "April",    "Mai",         "Juni",         "Juli",
     "August", "September", "Oktober",    "November",  "Dezember", "Jahrhundert", "Jahrhunderts", "Stock",
     "Klasse", "Platz",     "Geburtstag", "Weltkrieg", "Etage",    "Auflage",     "Kapitel",      "Jahrtausend"});
constexpr std::array conjunctions = std::to_array<std::string_view>(
    {"and",    "but",     "or",  "because", "while", "when", "which",   "who",  "that", "if",   "so",   "although",
     "though", "where",   "und", "aber",    "oder",  "weil", "während", "wenn", "als",  "dass", "denn", "obwohl",
     "damit",  "sondern", "wo",  "et",      "mais",  "ou",   "que",     "car",  "y",    "pero", "o",    "porque"});

constexpr std::u32string_view full_stops = U".!?…‼⁇⁈⁉؟۔।॥።։။។", wide_stops = U"。！？｡";
constexpr std::u32string_view closers = U"\"'”’“‘»«›‹)]}」』】）〉》〕", openers = U"\"'“‘„‚«»‹›([{「『【（〈《〔¿¡*_";
constexpr std::u32string_view quotes = U"\"'”’“‘»«›‹」』";

template <class List>
bool has(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}
bool any_of(std::u32string_view set, char32_t c) { return set.find(c) != set.npos; }

bool is_emoji(char32_t c) {
  return c >= 0x1F000 || (c >= 0x2600 && c <= 0x27BF) || c == 0x2B50 || c == 0x200D || c == 0xFE0F || c == 0x20E3;
}
utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }
bool is_lower(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LL; }
bool is_upper(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LU || category(c) == UTF8PROC_CATEGORY_LT; }
bool is_digit(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }

// What white space separates, emoji at its end apart: letters between what opens before them and what closes behind them.
struct Word {
  enum Kind { none, lower, upper, letter, digit };  // what its letters begin with; `letter` has no case
  enum Stop { no, dot, dots, mark, wide };          // what it ends with; a `mark` is ! or ?

  Word(std::string_view text, Span s) : span(s), points(code_points(piece_of(text, s))), behind(points.size()) {
    const auto ends = [](char32_t c) { return any_of(full_stops, c) || any_of(wide_stops, c) || any_of(closers, c); };
    while (behind > 0 && ends(points[behind - 1].value)) add_mark(points[--behind].value);
    size_t first = 0;
    while (first < behind && any_of(openers, points[first].value)) ++first;
    for (size_t i = first; i < behind && kind == none; ++i) kind = kind_of(points[i].value);
    if (first < behind)
      core = piece_of(text, {s.begin + points[first].span.begin, s.begin + points[behind - 1].span.end});
    if (core.size() == 2 || core.size() == 3)
      face = (core[0] == ':' || core[0] == ';') && kind_of(points.back().value) != digit;
    if (!points.empty() && is_emoji(points.back().value)) face = true;
    if (behind < points.size() && behind == 1 && any_of(U":;", points[0].value)) face = true;
  }

  bool empty() const { return points.empty(); }
  bool only_closes() const { return behind == 0 && stop == no && !empty(); }

  Span span;
  std::vector<CodePoint> points;
  size_t behind;          // the number of the first point behind the core
  std::string_view core;  // of the text
  Kind kind = none;
  Stop stop = no;
  bool closes_quote = false;
  bool face = false;  // emoji, or :-)

 private:
  static Kind kind_of(char32_t c) {
    if (is_lower(c)) return lower;
    if (is_upper(c)) return upper;
    if (is_digit(c)) return digit;
    return is_word_character(c) ? letter : none;
  }

  // From the last to the first.
  void add_mark(char32_t c) {
    closes_quote = closes_quote || (stop == no && any_of(quotes, c));
    if (any_of(wide_stops, c)) stop = wide;
    if (stop == wide || !any_of(full_stops, c)) return;
    if (c != '.' && c != U'…') stop = mark;
    if (stop != mark) stop = stop == no && c == '.' ? dot : dots;
  }
};

bool all_digits(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

// "U.S", "a.m", "Ph.D": one or two letters between dots.
bool is_dotted(const Word& word) {
  int64_t letters = 0, dots = 0;
  for (char c : word.core) {
    letters = c == '.' ? 0 : letters + 1;
    if (c == '.') ++dots;
    if (letters > 2 || (c >= '0' && c <= '9')) return false;
  }
  return dots > 0;
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<Span> run() {
    Word word = next_word(0);
    while (!word.empty()) {
      Word next = next_word(word.span.end);
      add(word, next);
      before_previous_ = std::exchange(previous_, word.core);
      word = std::move(next);
    }
    return std::move(sentences_);
  }

 private:
  char32_t value_at(int64_t at, int64_t& size) const {
    utf8proc_int32_t value = 0;
    const std::string_view rest = text_.substr(static_cast<size_t>(at));
    size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(rest.data()),
                            static_cast<utf8proc_ssize_t>(rest.size()), &value);
    if (size <= 0) check_utf8(text_, "text");
    return static_cast<char32_t>(value);
  }

  Word next_word(int64_t at) const {
    const auto end = static_cast<int64_t>(text_.size());
    int64_t size = 0;
    while (at < end && is_space(value_at(at, size))) at += size;
    const int64_t begin = at;
    int64_t emoji = -1;  // where those at the end begin
    for (; at < end; at += size) {
      const char32_t c = value_at(at, size);
      if (is_space(c)) break;
      if (!is_emoji(c)) emoji = -1;
      if (is_emoji(c) && emoji < 0) emoji = at;
    }
    return Word(text_, {begin, emoji > begin ? emoji : at});
  }

  void add(const Word& word, const Word& next) {
    if (begin_ < 0) begin(word);
    cut_inside(word);
    const bool stops = word.stop != Word::no || (word.only_closes() && stopped_);
    if (ends_behind(word, next, stops)) {
      sentences_.push_back({begin_, word.span.end});
      begin_ = -1;
    }
    stopped_ = stops;
  }

  void begin(const Word& word) {
    begin_ = word.span.begin;
    of_faces_ = word.face;
    in_lower_case_ = word.kind == Word::lower;
    first_ = word.core;
  }

  // Where no white space stands behind a mark: 。 and its like, unless a quotation closes there and the sentence goes on.
  void cut_inside(const Word& word) {
    const std::vector<CodePoint>& p = word.points;
    for (size_t i = 0; i + 1 < p.size(); ++i) {
      if (!any_of(wide_stops, p[i].value)) continue;
      size_t end = i + 1;
      while (end < p.size() && (any_of(wide_stops, p[end].value) || any_of(full_stops, p[end].value))) ++end;
      const size_t marks = end;
      while (end < p.size() && any_of(closers, p[end].value) && !any_of(U"“‘「『", p[end].value)) ++end;
      if (end == p.size()) return;
      if (end == marks || any_of(openers, p[end].value)) {
        sentences_.push_back({begin_, word.span.begin + p[end].span.begin});
        begin_ = sentences_.back().end;
      }
      i = end - 1;
    }
  }

  bool only_faces_from(Word word) const {
    while (word.face) word = next_word(word.span.end);
    return word.empty();
  }

  bool ends_behind(const Word& word, const Word& next, bool stops) const {
    if (next.empty()) return true;
    if (next.only_closes() && next.closes_quote && stops) return false;  // « Oui ! »
    if (of_faces_) return !next.face;
    if (next.face && !word.face) return stops || only_faces_from(next);
    if (ends_line(word, next)) return true;
    if (!stops) return false;
    if (next.kind == Word::lower) return goes_on_in_lower_case(word);
    if (word.stop == Word::dots) return next.kind != Word::digit;
    return word.stop != Word::dot || !is_abbreviation(word, next);
  }

  bool ends_line(const Word& word, const Word& next) const {
    constexpr int64_t short_line = 50;  // bytes; a paragraph that is wrapped has longer ones
    const std::string_view gap = piece_of(text_, {word.span.end, next.span.begin});
    const auto breaks = std::ranges::count(gap, '\n');
    if (breaks != 1) return breaks > 1;
    if (next.kind == Word::lower) return false;
    const size_t line = text_.rfind('\n', static_cast<size_t>(word.span.end) - 1);
    return word.span.end - (line == text_.npos ? 0 : static_cast<int64_t>(line)) < short_line;
  }

  // Of somebody who writes all in lower case a sentence may begin so; "Wow!" she said, and Yahoo! was founded, are others.
  bool goes_on_in_lower_case(const Word& word) const {
    if (!in_lower_case_ || word.closes_quote || word.stop == Word::dots) return false;
    return word.stop != Word::dot ||
           !(word.points.size() <= 2 || is_dotted(word) || all_digits(word.core) || has(inside, word.core) ||
             has(before_numbers, word.core) || has(anywhere, word.core));
  }

  // Whether a sentence goes on behind a word with a full stop, though the next one begins like a sentence.
  bool is_abbreviation(const Word& word, const Word& next) const {
    const std::string_view core = word.core;
    if (core.empty()) return false;
    const bool number_follows = next.kind == Word::digit;
    if (all_digits(core)) return is_ordinal(word, next);
    if (has(inside, core)) return true;
    if (has(before_numbers, core)) return number_follows;
    const bool one_letter = word.behind == 1 || (word.behind == 2 && word.kind != Word::none && core.size() == 1);
    if (one_letter && core == "I") return previous_.empty() || !is_lower(static_cast<unsigned char>(previous_[0]));
    if (one_letter && spaced_abbreviation(core)) return true;
    if (has(hours, core)) return has(time_zones, next.core);
    if (one_letter || is_dotted(word) || has(anywhere, core)) return number_follows || !has(starters, next.core);
    return false;
  }

  // "z. B.", "d. h.", "u. a."
  bool spaced_abbreviation(std::string_view core) const {
    return (previous_ == "z" && core == "B") || (previous_ == "d" && core == "h") || (previous_ == "u" && core == "a");
  }

  // "1. Open the box.", "am 3. Mai", "3. 10. 1990"
  bool is_ordinal(const Word& word, const Word& next) const {
    if (word.core.size() > 3) return false;
    if (word.core.data() == first_.data()) return true;
    if (has(behind_ordinals, next.core)) return true;
    if (all_digits(next.core)) return next.stop == Word::dot || next.core.size() == 4;
    return next.kind == Word::upper && has(before_ordinals, previous_) && before_previous_ != "I";
  }

  std::string_view text_;
  std::vector<Span> sentences_;
  int64_t begin_ = -1;  // of the sentence that is open; −1: none
  bool of_faces_ = false, in_lower_case_ = false, stopped_ = false;
  std::string_view first_, previous_, before_previous_;  // words
};

}  // namespace

std::vector<Span> split_sentences(std::string_view text) { return Splitter(text).run(); }

bool is_conjunction(std::string_view word) { return has(conjunctions, word); }

}  // namespace fovea
