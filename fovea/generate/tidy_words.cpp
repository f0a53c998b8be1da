#include "fovea/generate/tidy_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "fovea/generate/known_letters.h"
#include "fovea/generate/letter_case.h"
#include "fovea/generate/word_links.h"

namespace fovea {
namespace {

// Contractions without their apostrophe that are no other word.
constexpr std::array<std::pair<std::string_view, std::string_view>, 26> contractions = {{
    {"dont", "don't"},
    {"doesnt", "doesn't"},
    {"didnt", "didn't"},
    {"isnt", "isn't"},
    {"arent", "aren't"},
    {"wasnt", "wasn't"},
    {"werent", "weren't"},
    {"cant", "can't"},
    {"couldnt", "couldn't"},
    {"wouldnt", "wouldn't"},
    {"shouldnt", "shouldn't"},
    {"hasnt", "hasn't"},
    {"havent", "haven't"},
    {"hadnt", "hadn't"},
    {"im", "I'm"},
    {"ive", "I've"},
    {"youre", "you're"},
    {"youve", "you've"},
    {"theyre", "they're"},
    {"thats", "that's"},
    {"whats", "what's"},
    {"lets", "let's"},
    {"theres", "there's"},
    {"was'nt", "wasn't"},
    {"does'nt", "doesn't"},
    {"i", "I"},
}};
// With which questions begin.
constexpr std::array<std::string_view, 66> askers = {
    "can",    "could",  "would",   "will",    "do",     "does",   "did",    "is",     "are",      "was",   "were",
    "have",   "has",    "where",   "what",    "who",    "how",    "why",    "when",   "which",    "whose", "may",
    "shall",  "am",     "wo",      "wer",     "was",    "wie",    "warum",  "wann",   "wieso",    "wem",   "wen",
    "wessen", "welche", "welcher", "welches", "kannst", "könnt",  "können", "kann",   "hast",     "habt",  "bist",
    "seid",   "ist",    "sind",    "hat",     "haben",  "kommst", "gehst",  "willst", "möchtest", "darf",  "dürfen",
    "musst",  "magst",  "weißt",   "kennst",  "wohin",  "woher",  "womit",  "machst", "siehst",   "wirst", "soll"};

bool overlaps(const std::vector<Span>& spans, Span span) {
  return std::ranges::any_of(spans, [&](Span s) { return span.begin < s.end && s.begin < span.end; });
}

std::vector<Span> words_apart_from(std::string_view text, const std::vector<Span>& apart) {
  std::vector<Span> words = plain_words(text);
  std::erase_if(words, [&](Span w) { return overlaps(apart, w); });
  return words;
}

Letters letters_of(std::string_view text, const std::vector<Span>& words) {
  Letters all;
  for (Span w : words) {
    const Letters some = letters_in(piece_of(text, w));
    all.upper += some.upper, all.lower += some.lower;
  }
  return all;
}

// "whyyyy": three letters or more are one or two.
std::string without_stretching(const Tokenizer& tokenizer, const std::string& word) {
  const std::vector<CodePoint> points = code_points(word);
  std::string once, twice;
  bool stretched = false;
  for (size_t i = 0; i < points.size(); ++i) {
    size_t same = 1;
    while (i + same < points.size() && points[i + same].value == points[i].value) ++same;
    const std::string letter(piece_of(word, points[i].span));
    const bool longer = same > 2 && !(points[i].value >= U'0' && points[i].value <= U'9');
    stretched = stretched || longer;
    for (size_t k = 0; k < (longer ? 1 : same); ++k) once += letter;
    for (size_t k = 0; k < std::min<size_t>(same, longer ? 2 : same); ++k) twice += letter;
    i += same - 1;
  }
  if (!stretched) return word;
  return pieces_in(tokenizer, twice) < pieces_in(tokenizer, once) ? twice : once;
}

std::string contracted(const std::string& word, std::string_view language) {
  if (language != "en") return word;
  const std::string small = lower_case(word);
  const auto found = std::ranges::find(contractions, small, [](const auto& c) { return c.first; });
  if (found != contractions.end())
    return letters_in(word.substr(0, 1)).upper > 0 ? with_first_capital(found->second) : std::string(found->second);
  return small.starts_with("i'") ? with_first_capital(word) : word;
}

// "metre", "neighbour": a vocabulary that knows only the other spelling reads that.
std::string usual_spelling(const Tokenizer& tokenizer, const std::string& word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> pairs = {
      {{"tre", "ter"}, {"our", "or"}, {"ise", "ize"}}};
  const int64_t pieces = pieces_in(tokenizer, word);
  if (pieces < 2) return word;
  for (const auto& [british, american] : pairs)
    if (const size_t at = word.rfind(british); at != word.npos && at > 1) {
      const std::string other = std::string(word).replace(at, british.size(), american);
      if (pieces_in(tokenizer, other) == 1) return other;
    }
  return word;
}

std::string_view typewriter(char32_t c) {
  switch (c) {
    case U'’':
    case U'‘':
    case U'‚':
    case U'´':
      return "'";
    case U'“':
    case U'”':
    case U'„':
    case U'«':
    case U'»':
      return "\"";
    case U'–':
    case U'—':
      return "-";
    case U'…':
      return "...";
    default:
      return "";
  }
}

bool knows(const Tokenizer& tokenizer, std::string_view text) {
  const std::vector<int64_t> ids = tokenizer.encode(text).ids;
  return std::ranges::find(ids, tokenizer.special().unk) == ids.end() && ids.size() <= 2;
}

// Marks: curly ones, those behind a blank, several of ? and !, a comma without a blank.
void tidy_marks(std::string_view text, const std::vector<Span>& apart, const Tokenizer& tokenizer,
                std::vector<Edit>& edits) {
  const std::vector<CodePoint> points = code_points(text);
  for (size_t i = 0; i < points.size(); ++i) {
    const CodePoint& c = points[i];
    const auto at = [&](size_t k) { return k < points.size() ? points[k].value : U' '; };
    if (overlaps(apart, c.span) || is_word_character(c.value)) continue;
    const bool in_word = i > 0 && is_word_character(at(i - 1)) && is_word_character(at(i + 1));
    const std::string_view plain = typewriter(c.value);
    if (!plain.empty() && !(in_word && plain == "'") && !knows(tokenizer, piece_of(text, c.span)))
      edits.push_back({c.span, std::string(plain)});
    else if (c.value == U' ' && i > 0 && is_word_character(at(i - 1)) &&
             (at(i + 1) == U'?' || at(i + 1) == U'!' || at(i + 1) == U',' || at(i + 1) == U'.') &&
             !is_word_character(at(i + 2)) && at(i + 2) != U'.')
      edits.push_back({c.span, ""});
    else if ((c.value == U'?' || c.value == U'!') && at(i + 1) == c.value)
      edits.push_back({c.span, ""});
    else if (c.value == U',' && in_word && !(at(i - 1) >= U'0' && at(i - 1) <= U'9'))
      edits.push_back({c.span, ", "});
  }
}

bool is_roman(std::string_view word) { return word.find_first_not_of("IVXLC") == word.npos; }

struct Emphasis {
  bool word = false;  // a usual one, set in capitals
  std::string small;
};

Emphasis emphasis_of(std::string_view word, const Tokenizer& tokenizer) {
  const Letters letters = letters_in(word);
  if (letters.upper < 2 || letters.lower > 0 || is_roman(word) || pieces_in(tokenizer, word) == 1) return {};
  std::string small = usual_case(tokenizer, word);
  return {letters.upper >= 3 && pieces_in(tokenizer, small) == 1 && letters_in(small).upper == 0, small};
}

}  // namespace

Tidied tidy(std::string_view text, const std::vector<Span>& apart, const Reader& reader) {
  Tidied result;
  const std::vector<Span> words = words_apart_from(text, apart);
  const Letters letters = letters_of(text, words);
  result.capitals = letters.lower == 0 && letters.upper >= 3 && (words.size() > 1 || letters.upper > 4);
  const bool begins = words.empty() || plain_words(text.substr(0, static_cast<size_t>(words[0].begin))).empty();
  const bool capital_before = !begins && letters_in(text.substr(0, static_cast<size_t>(words[0].begin))).upper > 0;
  const bool small = letters.upper == 0 && words.size() > 1 && !capital_before;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string before(piece_of(text, words[i]));
    std::string word = before;
    if (const size_t curly = word.find("’"); curly != word.npos)
      word = fmt::format("{}'{}", word.substr(0, curly), word.substr(curly + std::string_view("’").size()));
    word = without_stretching(reader.tokenizer, word);
    if (result.capitals || small) word = usual_case(reader.tokenizer, word);
    word = contracted(word, reader.language);
    if (reader.language == "en") word = usual_spelling(reader.tokenizer, word);
    if ((result.capitals || small) && i == 0 && begins) word = with_first_capital(word);
    if (!result.capitals && !small)
      if (const Emphasis e = emphasis_of(word, reader.tokenizer); e.word)
        word = i == 0 && begins ? with_first_capital(e.small) : e.small, result.emphasised.push_back(words[i]);
    if (word != before) result.edits.push_back({words[i], word});
  }
  tidy_marks(text, apart, reader.tokenizer, result.edits);
  std::ranges::sort(result.edits, {}, [](const Edit& e) { return e.span.begin; });
  const auto end = without_spaces(text, {0, static_cast<int64_t>(text.size())}).end;
  const std::vector<CodePoint> points = code_points(text.substr(0, static_cast<size_t>(end)));
  result.added_mark = !points.empty() &&
                      (is_word_character(points.back().value) || overlaps(apart, points.back().span)) &&
                      words.size() > 1;
  if (result.added_mark) {
    const std::string first = lower_case(piece_of(text, words[0]));
    result.edits.push_back({{end, end}, std::ranges::find(askers, first) != askers.end() ? "?" : "."});
  }
  return result;
}

std::vector<Span> unknown_writing(std::string_view text, const std::vector<Span>& apart, const Reader& reader) {
  constexpr char32_t first = 0x370;  // what stands before are Latin letters, but for µ
  std::vector<Span> found;
  for (Span span : words_apart_from(text, apart)) {
    const std::string_view word = piece_of(text, span);
    const auto unknown = [&](const CodePoint& c) {
      if ((c.value < first && c.value != U'µ') || !is_word_character(c.value)) return false;
      const std::string_view letter = piece_of(word, c.span);
      return !knows_a_letter(reader.tokenizer, letter, reader.tokenizer.encode(letter));
    };
    if (!std::ranges::any_of(code_points(word), unknown)) continue;
    const bool goes_on =
        !found.empty() && found.back().end + 1 == span.begin && text[static_cast<size_t>(span.begin - 1)] == ' ';
    if (goes_on)
      found.back().end = span.end;
    else
      found.push_back(span);
  }
  return found;
}

std::vector<Span> unknown_abbreviations(std::string_view text, const std::vector<Span>& apart, const Reader& reader) {
  const std::vector<Span> words = words_apart_from(text, apart);
  std::vector<Span> found;
  if (letters_of(text, words).lower == 0) return found;
  for (Span span : words) {
    const std::string_view word = piece_of(text, span);
    const Letters letters = letters_in(word);
    if (letters.upper < 2 || letters.lower > 0 || is_roman(word) || pieces_in(reader.tokenizer, word) == 1) continue;
    if (!emphasis_of(word, reader.tokenizer).word) found.push_back(span);
  }
  return found;
}

namespace {

constexpr int64_t many = 3;  // pieces of a word that the vocabulary does not know
// Before a name; of some what the other language says in any sentence, with a full stop where it has one (Mr. is Herr or Herrn).
struct Title {
  std::string_view word, from = {}, in_target = {};
};
constexpr std::array<Title, 14> titles = {{{"Mr"},
                                           {"Mrs", "en", "Frau"},
                                           {"Ms", "en", "Frau"},
                                           {"Dr", "en", "Dr."},
                                           {"Doctor", "en", "Doktor"},
                                           {"Prof"},
                                           {"Professor"},
                                           {"President"},
                                           {"Mayor"},
                                           {"Herr", "de", "Mr."},
                                           {"Herrn", "de", "Mr."},
                                           {"Frau", "de", "Mrs."},
                                           {"Doktor", "de", "Dr."},
                                           {"Familie"}}};
constexpr std::array<std::string_view, 6> links = {"van", "der", "de", "von", "del", "al"};
// Behind a word that begins a sentence: it was somebody.
constexpr std::array<std::string_view, 14> predicates = {"is",   "was",  "has",   "had",  "and",   "will",   "can",
                                                         "said", "sang", "wrote", "went", "likes", "bought", "met"};

template <class List>
bool is_in(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

bool is_title(std::string_view word) { return std::ranges::find(titles, word, &Title::word) != titles.end(); }

// The names of one text; its words in order.
class NameFinder {
 public:
  NameFinder(std::string_view text, std::vector<Span> words, const Reader& reader)
      : text_(text), words_(std::move(words)), reader_(reader) {}

  std::vector<Span> run() const {
    std::vector<Span> found;
    for (size_t i = 0; i < words_.size(); ++i) {
      if (!capital(i)) continue;
      size_t begin = i, end = i + 1;
      while (end < words_.size() && next_to(end - 1) && (capital(end) || links_names(end))) ++end;
      while (end > begin + 1 && !capital(end - 1)) --end;
      const bool several = end - begin > 1;
      while (begin < end && (begin == 0 ? pieces_in(reader_.tokenizer, lower_case(word(begin))) : pieces(begin)) == 1)
        ++begin;
      if (begin < end && is_name(begin, end, several)) found.push_back({words_[begin].begin, words_[end - 1].end});
      i = end - 1;
    }
    return found;
  }

 private:
  std::string_view word(size_t i) const { return piece_of(text_, words_[i]); }
  int64_t pieces(size_t i) const { return pieces_in(reader_.tokenizer, word(i)); }
  // The first word has a capital in any case: "Liegt Gelsenkirchen …" is no name of two words.
  int64_t fewest_pieces(size_t i) const {
    return i > 0 ? pieces(i) : std::min(pieces(i), pieces_in(reader_.tokenizer, lower_case(word(i))));
  }
  bool next_to(size_t i) const { return piece_of(text_, {words_[i].end, words_[i + 1].begin}) == " "; }
  bool links_names(size_t i) const { return is_in(links, word(i)) && i + 1 < words_.size() && next_to(i); }

  bool capital(size_t i) const {
    const std::vector<CodePoint> points = code_points(word(i));
    return letters_in(piece_of(word(i), points[0].span)).upper == 1 && letters_in(word(i)).lower > 0 &&
           !is_title(word(i));
  }

  bool is_name(size_t begin, size_t end, bool several) const {
    int64_t most = 0;
    for (size_t i = begin; i < end; ++i) {
      if (!capital(i)) continue;
      if (const size_t mark = word(i).rfind('\''); mark != std::string_view::npos && word(i).size() - mark <= 3)
        return false;  // I'm
      if (begin == 0 && pieces(i) == 1) return false;
      most = std::max(most, std::min(pieces(i), pieces_in(reader_.tokenizer, lower_case(word(i)))));
    }
    if (most < many) return false;
    const bool behind_title = begin > 0 && is_title(word(begin - 1));
    if (behind_title) return true;
    // Where every noun has a capital, names are several words of which none is known, and they are not counted.
    if (reader_.language == "de") {
      const bool counted = begin > 0 && word(begin - 1).find_first_of("0123456789") != std::string_view::npos;
      for (size_t i = begin; i < end; ++i)
        if (capital(i) ? fewest_pieces(i) < many : word(i) == "der") return false;
      return end - begin > 1 && !counted;
    }
    if (begin > 0 || several) return true;
    const std::string_view next = end < words_.size() ? word(end) : "";
    return most > many &&
           (is_in(predicates, next) || (next.size() > 3 && (next.ends_with("s") || next.ends_with("ed"))));
  }

  std::string_view text_;
  std::vector<Span> words_;
  const Reader& reader_;
};

// How many letters stand in the one as in the other, at most.
size_t common_run(std::string_view one, std::string_view other) {
  const std::vector<CodePoint> a = code_points(one), b = code_points(other);
  std::vector<size_t> run(b.size() + 1);
  size_t longest = 0;
  for (const CodePoint& letter : a)
    for (size_t j = b.size(); j > 0; --j)
      longest = std::max(longest, run[j] = b[j - 1].value == letter.value ? run[j - 1] + 1 : 0);
  return longest;
}

}  // namespace

TitledName with_title(std::string_view text, Span name, std::string_view from, std::string_view to) {
  const std::string_view before = text.substr(0, static_cast<size_t>(name.begin));
  for (const Title& t : titles)
    for (const std::string_view mark : {" ", ". "}) {
      const std::string title = std::string(t.word) + std::string(mark);
      const bool known = t.from == from && (from == "en" ? to == "de" : to == "en");
      if (!known || !before.ends_with(title)) continue;
      const auto begin = name.begin - static_cast<int64_t>(title.size());
      if (begin > 0 && text[static_cast<size_t>(begin - 1)] != ' ') continue;
      return {{begin, name.end}, std::string(t.in_target) + " " + std::string(piece_of(text, name))};
    }
  return {name, std::string(piece_of(text, name))};
}

std::vector<LookAlike> look_alikes(std::string_view text, const std::vector<Span>& apart, std::string_view found,
                                   const Reader& reader) {
  constexpr size_t alike = 4, shortest = 5;  // letters
  const std::vector<Span> words = plain_words(found);
  std::vector<std::string> small;
  std::unordered_set<std::string> in_text, in_found;
  for (Span s : plain_words(text)) in_text.insert(lower_case(piece_of(text, s)));
  for (Span s : words) in_found.insert(small.emplace_back(lower_case(piece_of(found, s))));
  std::vector<LookAlike> all;
  for (Span span : words_apart_from(text, apart)) {
    const std::string word = lower_case(piece_of(text, span));
    if (code_points(word).size() < shortest || in_found.contains(word)) continue;
    if (pieces_in(reader.tokenizer, piece_of(text, span)) < many) continue;
    if (span.begin == 0 && pieces_in(reader.tokenizer, word) < many) continue;  // its capital is the sentence's
    for (size_t i = 0; i < words.size(); ++i)
      if (!in_text.contains(small[i]) && common_run(word, small[i]) >= alike) all.push_back({span, words[i]});
  }
  return all;
}

std::vector<Span> unknown_names(std::string_view text, const std::vector<Span>& apart, const Reader& reader) {
  std::vector<Span> words = words_apart_from(text, apart);
  if (letters_of(text, words).lower == 0) return {};
  return NameFinder(text, std::move(words), reader).run();
}

}  // namespace fovea
