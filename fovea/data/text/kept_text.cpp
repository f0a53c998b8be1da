#include "fovea/data/text/kept_text.h"

#include <algorithm>

#include "fovea/data/text/pretrained/regex.h"

namespace fovea {
namespace {

struct Rule {
  const char* pattern;
  bool trimmed;  // marks at its end belong to the sentence
};

constexpr const char* not_in_word = "(?<![\\p{L}\\p{N}_@.])";

// The first that matches at a place is taken.
const std::vector<std::pair<Regex, bool>>& rules() {
  static const std::vector<std::pair<Regex, bool>> all = [] {
    const std::string free = not_in_word;
    const Rule list[] = {
        {"`[^`\\n]+`", false},
        {"(?:https?|ftp|file)://[^\\s<>\"`{}|\\\\^]+", true},
        {"www\\.[A-Za-z0-9-]+\\.[^\\s<>\"`]+", true},
        {"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)+", true},
        {"[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*\\.(?:com|org|net|edu|gov|info|io|eu|de|uk|fr|at|ch)(?:/"
         "[^\\s<>\"`]*)?(?![A-Za-z0-9])",
         true},
        {"@[A-Za-z0-9_]+(?:\\.[A-Za-z0-9_]+)*", true},
        {"#[\\p{N}_]*\\p{L}[\\p{L}\\p{N}_]*", false},
        {"\\$?\\{\\{?[A-Za-z0-9_.]*\\}?\\}", false},
        {"%(?:[0-9]+\\$)?[+-]?[0-9]*(?:\\.[0-9]+)?[sdifux@](?![A-Za-z])", false},
        {"&(?:[a-z]+|#[0-9]+);", false},
        {"[A-Za-z]:\\\\[^\\s<>\"|]+", true},
        {"~?(?:/[A-Za-z0-9_.+-]+){2,}/?", true},
        {"[\\p{L}\\p{N}_-]+\\.(?:pdf|txt|md|docx?|xlsx?|pptx?|odt|csv|tsv|json|ya?ml|xml|html?|css|js|ts|py|cpp|hpp|["
         "ch]|sh|exe|zip|tar|gz|png|jpe?g|gif|svg|mp[34]|wav|log|ini|toml)(?![\\p{L}\\p{N}])",
         false},
        {"[A-Za-z_][A-Za-z0-9_.]*\\(\\)", false},
        {"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+", false},
        {"--?[a-z]+(?:-[a-z]+)*(?:=[^\\s]+)?(?=[\\s.,]|$)", false},
        {"(?=[A-Z0-9-]*[0-9])(?=[A-Z0-9-]*[A-Z])[A-Z0-9]+(?:-[A-Z0-9]+)*(?![\\p{L}\\p{N}])", false},
        {"[a-z]+[A-Z][A-Za-z0-9]*", false},
        {"[0-9]+(?:\\.[0-9]+){2,}(?![0-9])", false},
        {"(?<=[Vv]ersion )[0-9]+(?:\\.[0-9]+)+", false},
        {"[0-9]+(?:-[0-9]+)+(?![0-9])", false},
        {"(?:\\+[0-9]+|0[0-9]+)(?: [0-9]+)+(?![0-9])", false},
    };
    std::vector<std::pair<Regex, bool>> compiled;
    for (const Rule& r : list) compiled.emplace_back(Regex(free + "(?:" + r.pattern + ")", "kept text"), r.trimmed);
    return compiled;
  }();
  return all;
}

void trim_marks(std::string_view text, Span& span) {
  while (span.size() > 1 &&
         std::string_view(".,;:!?'\")]*_").find(text[static_cast<size_t>(span.end - 1)]) != std::string_view::npos)
    --span.end;
}

bool free_of(const std::vector<KeptText>& found, Span span) {
  return std::ranges::none_of(found,
                              [&](const KeptText& k) { return span.begin < k.span.end && k.span.begin < span.end; });
}

bool is_emoji(char32_t c) {
  return (c >= 0x1F000 && c <= 0x1FAFF) || (c >= 0x2600 && c <= 0x27BF) || (c >= 0x2B1B && c <= 0x2B55) ||
         (c >= 0x23E9 && c <= 0x23FA) || c == 0x231A || c == 0x231B;
}
bool joins_emoji(char32_t c) { return c == 0x200D || c == 0xFE0F || c == 0x20E3 || (c >= 0xE0020 && c <= 0xE007F); }

// One next to the other is one.
void add_emoji(std::string_view text, std::vector<KeptText>& found) {
  int64_t begin = -1, end = 0;
  const auto close = [&] {
    if (begin >= 0 && free_of(found, {begin, end})) found.push_back({KeptText::aside, {begin, end}});
    begin = -1;
  };
  for (const CodePoint& c : code_points(text)) {
    if (!is_emoji(c.value) && !(begin >= 0 && joins_emoji(c.value))) {
      close();
      continue;
    }
    if (begin < 0) begin = c.span.begin;
    end = c.span.end;
  }
  close();
}

struct Mark {
  Span span;
  std::string name;
  bool opens, closes;
};

std::string name_of(std::string_view tag) {
  std::string name;
  for (char c : tag.substr(1)) {
    if (c == '/' && name.empty()) continue;
    if (!std::isalnum(static_cast<unsigned char>(c))) break;
    name += c;
  }
  return name;
}

std::vector<Mark> marks_in(std::string_view text, const std::vector<KeptText>& found) {
  static const Regex tag("</?[A-Za-z][A-Za-z0-9]*(?:\\s[^<>]*)?/?>", "tags");
  static const Regex star(
      "\\*\\*|__|~~|(?<![*\\p{L}\\p{N}])\\*(?=[\\p{L}\\p{N}])|(?<=[\\p{L}\\p{N}.!?])\\*(?![*\\p{L}\\p{N}])", "marks");
  static const Regex link("(?<!\\])\\[(?=[^\\[\\]\\n]+\\]\\([^()\\s]+\\))|\\]\\([^()\\s]+\\)", "links");
  std::vector<Mark> marks;
  const auto each = [&](const Regex& regex, auto make) {
    regex.each_match(text, [&](size_t begin, size_t end) {
      const Span span = {static_cast<int64_t>(begin), static_cast<int64_t>(end)};
      if (free_of(found, span)) marks.push_back(make(span, piece_of(text, span)));
    });
  };
  each(tag, [](Span s, std::string_view t) {
    return Mark{s, name_of(t), t[1] != '/' && !t.ends_with("/>"), t[1] == '/'};
  });
  each(star, [](Span s, std::string_view t) { return Mark{s, std::string(t), true, true}; });
  each(link, [](Span s, std::string_view t) { return Mark{s, "link", t == "[", t != "["}; });
  std::ranges::sort(marks, {}, [](const Mark& m) { return m.span.begin; });
  return marks;
}

// Marks that open and close the same, innermost first; a tag without its other stands aside, and other marks are no marks then.
void add_marks(std::string_view text, std::vector<KeptText>& found) {
  std::vector<const Mark*> open;
  const std::vector<Mark> marks = marks_in(text, found);
  for (const Mark& m : marks) {
    const auto own = m.closes
                         ? std::find_if(open.rbegin(), open.rend(), [&](const Mark* o) { return o->name == m.name; })
                         : open.rend();
    if (own != open.rend()) {
      found.push_back({KeptText::opening, (*own)->span});
      found.push_back({KeptText::closing, m.span});
      open.erase(own.base() - 1, open.end());
    } else if (m.opens) {
      open.push_back(&m);
    }
  }
  for (const Mark& m : marks)
    if (text[static_cast<size_t>(m.span.begin)] == '<' && free_of(found, m.span))
      found.push_back({KeptText::aside, m.span});
}

}  // namespace

std::vector<KeptText> find_kept_text(std::string_view text) {
  std::vector<KeptText> found;
  static const Regex link("\\]\\([^()\\s]+\\)", "links");
  std::vector<KeptText> links;  // whose addresses are no words
  link.each_match(text, [&](size_t begin, size_t end) {
    links.push_back({KeptText::closing, {static_cast<int64_t>(begin), static_cast<int64_t>(end)}});
  });
  static const Regex tag("</?[A-Za-z][A-Za-z0-9]*(?:\\s[^<>]*)?/?>", "tags");
  tag.each_match(text, [&](size_t begin, size_t end) {
    links.push_back({KeptText::closing, {static_cast<int64_t>(begin), static_cast<int64_t>(end)}});
  });
  for (const auto& [regex, trimmed] : rules())
    regex.each_match(text, [&](size_t begin, size_t end) {
      Span span = {static_cast<int64_t>(begin), static_cast<int64_t>(end)};
      if (trimmed) trim_marks(text, span);
      if (free_of(found, span) && free_of(links, span)) found.push_back({KeptText::word, span});
    });
  add_marks(text, found);
  add_emoji(text, found);
  std::ranges::sort(found, {}, [](const KeptText& k) { return k.span.begin; });
  return found;
}

}  // namespace fovea
