#include "fovea/data/datasets/columns.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "fovea/base/error.h"
#include "fovea/data/text/utf8.h"

namespace fovea {
namespace {

using Cells = std::vector<std::string>;

// The first that is there counts.
constexpr std::string_view sure_texts[] = {"text", "sentence", "text_a", "premise", "sentence1", "question1"};
constexpr std::string_view texts[] = {
    "text",     "sentence", "review",   "review_text", "review_body", "comment", "comment_text", "content",
    "message",  "tweet",    "post",     "document",    "utterance",   "title",   "body",         "headline",
    "question", "query",    "abstract", "description", "statement",   "phrase",  "input",        "source"};
constexpr std::string_view labels[] = {"label",
                                       "labels",
                                       "label_text",
                                       "gold_label",
                                       "category",
                                       "categories",
                                       "class",
                                       "class_index",
                                       "classes",
                                       "sentiment",
                                       "topic",
                                       "topics",
                                       "intent",
                                       "emotion",
                                       "emotions",
                                       "polarity",
                                       "genre",
                                       "genres",
                                       "stars",
                                       "rating",
                                       "score",
                                       "similarity",
                                       "relatedness_score",
                                       "target"};
constexpr std::pair<std::string_view, std::string_view> two_texts[] = {
    {"text", "text_b"},         {"text_a", "text_b"},         {"text1", "text2"},         {"premise", "hypothesis"},
    {"sentence1", "sentence2"}, {"sentence_a", "sentence_b"}, {"question1", "question2"}, {"question", "sentence"}};
constexpr std::pair<std::string_view, std::string_view> sides[] = {{"source", "target"},
                                                                   {"src", "tgt"},
                                                                   {"src", "trg"},
                                                                   {"source_text", "target_text"},
                                                                   {"dialogue", "summary"},
                                                                   {"document", "summary"},
                                                                   {"article", "summary"},
                                                                   {"article", "highlights"},
                                                                   {"text", "summary"},
                                                                   {"text", "target"},
                                                                   {"input", "output"},
                                                                   {"input_text", "target_text"},
                                                                   {"question", "answer"},
                                                                   {"sentence", "translation"},
                                                                   {"source", "translation"},
                                                                   {"image", "caption"},
                                                                   {"file_name", "caption"},
                                                                   {"filename", "caption"},
                                                                   {"file", "caption"},
                                                                   {"path", "caption"},
                                                                   {"image", "text"},
                                                                   {"file_name", "text"}};
// Languages by their codes and names. Those of the second list are words as well: one of the two must be of the first.
constexpr std::string_view languages[] = {
    "en",     "de",      "fr",      "pt",         "nl",        "ru",       "zh",      "ja",        "ko",      "pl",
    "cs",     "sv",      "da",      "fi",         "hu",        "ro",       "tr",      "uk",        "ar",      "fa",
    "bg",     "hr",      "sr",      "sk",         "sl",        "lt",       "lv",      "et",        "vi",      "th",
    "ca",     "eu",      "gl",      "ga",         "cy",        "mt",       "sq",      "mk",        "bn",      "ta",
    "te",     "ur",      "sw",      "eng",        "deu",       "ger",      "fra",     "fre",       "spa",     "ita",
    "por",    "nld",     "dut",     "rus",        "zho",       "chi",      "jpn",     "kor",       "pol",     "ces",
    "swe",    "dan",     "fin",     "hun",        "ron",       "tur",      "ukr",     "ara",       "english", "german",
    "french", "spanish", "italian", "portuguese", "dutch",     "russian",  "chinese", "japanese",  "korean",  "polish",
    "czech",  "swedish", "danish",  "finnish",    "hungarian", "romanian", "turkish", "ukrainian", "arabic",  "greek"};
constexpr std::string_view language_words[] = {"it", "es", "is", "no", "so", "he", "el", "hi", "id", "la", "ms"};

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != std::end(list);
}

// "Review Text" and "review-text" are review_text.
std::string plain_name(std::string_view cell) {
  std::string name;
  for (const char c : trim(cell)) {
    name += c == ' ' || c == '-' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return name;
}

int index_of(const Cells& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

template <class List>
int first_of(const Cells& names, const List& usual, int besides = -1) {
  for (const std::string_view name : usual) {
    const int found = index_of(names, name);
    if (found >= 0 && found != besides) return found;
  }
  return -1;
}

template <class List>
std::pair<int, int> both_of(const Cells& names, const List& usual) {
  for (const auto& [one, other] : usual) {
    const int a = index_of(names, one), b = index_of(names, other);
    if (a >= 0 && b >= 0) return {a, b};
  }
  return {-1, -1};
}

std::pair<int, int> two_languages(const Cells& names) {
  std::vector<int> sure, all;
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::find(names, names[i]) - names.begin() < static_cast<std::ptrdiff_t>(i)) continue;
    if (contains(languages, names[i])) sure.push_back(static_cast<int>(i));
    if (contains(languages, names[i]) || contains(language_words, names[i])) all.push_back(static_cast<int>(i));
  }
  if (sure.size() == 2) return {sure[0], sure[1]};
  return sure.size() == 1 && all.size() == 2 ? std::pair(all[0], all[1]) : std::pair(-1, -1);
}

// What the names say by themselves, without what was asked for.
FoundColumns usual_columns(ExampleKind kind, const Cells& names) {
  FoundColumns found;
  if (kind == ExampleKind::pairs) {
    std::tie(found.source, found.target) = both_of(names, sides);
    if (found.source < 0) std::tie(found.source, found.target) = two_languages(names);
    return found;
  }
  std::tie(found.source, found.text_b) = both_of(names, two_texts);
  if (found.source < 0) found.source = first_of(names, texts);
  found.label = first_of(names, labels, found.source);
  const bool all_but_one = names.size() == 2 && (found.source < 0) != (found.label < 0);
  if (all_but_one && found.source < 0) found.source = 1 - found.label;
  if (all_but_one && found.label < 0) found.label = 1 - found.source;
  return found;
}

// Whether a first row whose columns nobody named is a header.
bool is_header(ExampleKind kind, const Cells& row, const Cells& names) {
  if (kind == ExampleKind::texts) return false;
  const FoundColumns found = usual_columns(kind, names);
  if (kind == ExampleKind::pairs) return found.target >= 0;
  if (!std::ranges::all_of(row, [](const std::string& cell) { return cell.empty() || looks_like_a_name(cell); })) {
    return false;
  }
  // A single word may be the text of an example and the name of a column: it takes more than that.
  const int text = first_of(names, texts), label = first_of(names, labels, text);
  if (kind == ExampleKind::documents) return text >= 0;
  const bool last = label >= 0 && label + 1 == static_cast<int>(names.size());
  return (label >= 0 && (last || text >= 0)) || first_of(names, sure_texts) >= 0;
}

struct Role {
  const char* name;  // for the user
  std::string Columns::*wanted;
  int FoundColumns::*found;
  bool needed;
};

std::vector<Role> roles_of(ExampleKind kind) {
  if (is_text_alone(kind)) return {{"text", &Columns::source, &FoundColumns::source, true}};
  if (kind == ExampleKind::pairs) {
    return {{"source", &Columns::source, &FoundColumns::source, true},
            {"target", &Columns::target, &FoundColumns::target, true}};
  }
  return {{"text", &Columns::source, &FoundColumns::source, true},
          {"text_b", &Columns::text_b, &FoundColumns::text_b, false},
          {"label", &Columns::label, &FoundColumns::label, true}};
}

bool any_given(const Columns& wanted, const std::vector<Role>& roles) {
  return std::ranges::any_of(roles, [&](const Role& role) { return !(wanted.*role.wanted).empty(); });
}

void by_place(ExampleKind kind, FoundColumns& found, size_t width, bool given) {
  if (kind == ExampleKind::pairs) {
    if (found.source < 0) found.source = found.target == 0 ? 1 : 0;
    if (found.target < 0) found.target = found.source == 1 ? 0 : 1;
    return;
  }
  if (is_text_alone(kind)) {
    found.source = std::max(found.source, 0);
    return;
  }
  if (found.label < 0) found.label = static_cast<int>(width) - 1;
  found.text_before_label = !given;
  if (found.source < 0) found.source = found.label == 0 && given ? 1 : 0;
}

// What was asked for by number or name; the names are those of a header.
void place_given(FoundColumns& found, const Columns& wanted, const std::vector<Role>& roles, const Cells& row,
                 const Cells& names, const std::string& where) {
  for (const Role& role : roles) {
    const std::string& given = wanted.*role.wanted;
    if (given.empty()) continue;
    const std::optional<int> number = column_number(given);
    int& index = found.*role.found;
    index = number ? column_index(*number, names.size()) : index_of(names, plain_name(given));
    require(index >= 0, "{}: found {} columns ({}), expected the {} in column '{}'", where, names.size(),
            fmt::join(row, ", "), role.name, given);
  }
}

void require_different(const FoundColumns& found, const std::vector<Role>& roles, const std::string& where) {
  for (const Role& a : roles) {
    for (const Role& b : roles) {
      const bool same = a.found != b.found && found.*a.found >= 0 && found.*a.found == found.*b.found;
      require(!same, "{}: found the {} and the {} in column {}, expected two columns", where, a.name, b.name,
              found.*a.found + 1);
    }
  }
}

void describe(FoundColumns& found, const std::vector<Role>& roles, const Cells& row) {
  for (const Role& role : roles) {
    const int index = found.*role.found;
    if (index < 0) continue;
    const bool before = found.text_before_label && role.found == &FoundColumns::source && found.label > 1;
    found.text += fmt::format("{}{} = {}", found.text.empty() ? "" : ", ", role.name,
                              before ? "all before it" : fmt::format("column {}", index + 1));
    if (found.header && !before) found.text += fmt::format(" ({})", trim(row[static_cast<size_t>(index)]));
  }
}

}  // namespace

std::optional<int> column_number(const std::string& column) {
  int number = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), number);
  if (column.empty() || error != std::errc() || end != column.data() + column.size()) return std::nullopt;
  require(number != 0, "columns: found 0, expected a number from 1, or from -1 for the last");
  return number;
}

int column_index(int number, size_t columns) {
  const auto count = static_cast<int>(columns);
  const int index = number < 0 ? number + count : number - 1;
  return index < 0 || index >= count ? -1 : index;
}

bool looks_like_a_name(std::string_view cell) {
  cell = trim(cell);
  return !cell.empty() && cell.size() <= 40 && !(cell[0] >= '0' && cell[0] <= '9') && cell[0] != '-' &&
         std::ranges::all_of(cell,
                             [](char c) {
                               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                                      c == '_' || c == '-' || c == ' ' || c == '.';
                             }) &&
         std::ranges::count(cell, ' ') <= 2 && cell.back() != '.';
}

FoundColumns find_columns(ExampleKind kind, const Columns& wanted, const Cells& row, const std::string& where) {
  const std::vector<Role> roles = roles_of(kind);
  Cells names;
  for (const std::string& cell : row) names.push_back(plain_name(cell));
  const bool given = any_given(wanted, roles);
  const bool named = std::ranges::any_of(
      roles, [&](const Role& role) { return !(wanted.*role.wanted).empty() && !column_number(wanted.*role.wanted); });
  FoundColumns found;
  found.header = wanted.header.value_or(named || is_header(kind, row, names));
  require(found.header || !named, "{}: found columns given by name and 'header: false', expected numbers", where);
  if (!found.header) {
    place_given(found, wanted, roles, row, names, where);
    by_place(kind, found, row.size(), given);
    if (given) require_different(found, roles, where);
    if (given) found.width = row.size();
    describe(found, roles, row);
    return found;
  }
  found.width = row.size();
  const FoundColumns usual = usual_columns(kind, names);
  for (const Role& role : roles) {
    if (role.needed || wanted.source.empty()) found.*role.found = usual.*role.found;
  }
  place_given(found, wanted, roles, row, names, where);
  const bool nothing = std::ranges::all_of(roles, [&](const Role& role) { return found.*role.found < 0; });
  if (nothing) by_place(kind, found, row.size(), false);
  for (const Role& role : roles) {
    require(!role.needed || found.*role.found >= 0,
            "{}: found a header with {}, which leaves open where the {} is; say so, as --{}-column NAME", where,
            fmt::join(row, ", "), role.name, role.name);
  }
  require_different(found, roles, where);
  describe(found, roles, row);
  return found;
}

Columns find_keys(ExampleKind kind, const Columns& wanted, const Cells& keys, const std::string& where) {
  Columns filled = wanted;
  if (kind == ExampleKind::tagged) {
    constexpr std::string_view tokens[] = {"tokens", "words"}, tags[] = {"tags", "ner_tags", "ner", "labels", "pos"};
    const int token = first_of(keys, tokens), tag = first_of(keys, tags);
    if (wanted.tokens.empty()) filled.tokens = token < 0 ? "tokens" : keys[static_cast<size_t>(token)];
    if (wanted.tags.empty()) filled.tags = tag < 0 ? "tags" : keys[static_cast<size_t>(tag)];
    return filled;
  }
  Cells names;
  for (const std::string& key : keys) names.push_back(plain_name(key));
  const FoundColumns usual = usual_columns(kind, names);
  for (const Role& role : roles_of(kind)) {
    std::string& key = filled.*role.wanted;
    const int index = usual.*role.found;
    if (!key.empty() || (!role.needed && (index < 0 || !wanted.source.empty()))) continue;
    require(index >= 0, "{}: found the keys {}, which leave open where the {} is; say so, as --{}-column KEY", where,
            fmt::join(keys, ", "), role.name, role.name);
    key = keys[static_cast<size_t>(index)];
  }
  return filled;
}

}  // namespace fovea
