// Oniguruma's syntax (Ruby's) in PCRE2's words.
#include <fmt/format.h>

#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/data/text/pretrained/regex.h"

namespace fovea {
namespace {

// Inside of brackets. PCRE2's own \s and \w have other characters.
constexpr std::string_view white_space =
    "\\t-\\r\\x20\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}";
constexpr std::string_view no_white_space =
    "\\x00-\\x08\\x0E-\\x1F\\x21-\\x{84}\\x{86}-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}\\x{200B}-\\x{2027}\\x{202A}"
    "-\\x{"
    "202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{10FFFF}";
#define FOVEA_WORD                                                                                                \
  "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{" \
  "1F189}"
constexpr std::string_view word_in_brackets = FOVEA_WORD;
constexpr std::string_view word = FOVEA_WORD "\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}";
#undef FOVEA_WORD
constexpr std::string_view hexadecimal = "0-9A-Fa-f";

class Translator {
 public:
  Translator(std::string_view pattern, std::string_view where) : in_(pattern), where_(where) {}

  std::string run() {
    while (at_ < in_.size()) token();
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(Error::unsupported, "{}: the regular expression '{}': found {}, which is not supported", where_,
                printable(in_), what);
  }
  char peek(size_t ahead = 0) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }
  bool follows(std::string_view text) const { return in_.substr(at_).starts_with(text); }
  void begin_atom() { atom_ = out_.size(); }
  void copy(size_t count) {
    out_ += in_.substr(at_, count);
    at_ += count;
  }

  void token() {
    switch (peek()) {
      case '\\':
        return escape();
      case '[':
        begin_atom();
        return brackets();
      case '(':
        return open();
      case ')':
        copy(1);
        if (!groups_.empty()) atom_ = groups_.back(), groups_.pop_back();
        return;
      case '{':
        return braces();
      case '?':
      case '*':
      case '+':
        return copy(1);
      default:
        begin_atom();
        do copy(1);
        while (at_ < in_.size() && (in_[at_] & 0xC0) == 0x80);
    }
  }

  // In Ruby's syntax a + behind {n,m} repeats it, in PCRE2's it forbids going back.
  void braces() {
    const size_t end = in_.find('}', at_);
    const std::string_view inside = end == in_.npos ? "" : in_.substr(at_ + 1, end - at_ - 1);
    const bool numbers = inside.find_first_of("0123456789") != inside.npos &&
                         inside.find_first_not_of("0123456789,") == inside.npos &&
                         inside.find(',') == inside.rfind(',');
    if (!numbers) {
      begin_atom();
      out_ += "\\{";
      ++at_;
      return;
    }
    at_ = end + 1;
    out_ += fmt::format("{{{}{}}}", inside.front() == ',' ? "0" : "", inside);
    if (peek() == '?' && inside.find(',') == inside.npos) fail("{n}?");
    if (peek() != '+') return;
    ++at_;
    out_.insert(atom_, "(?:");
    out_ += ")+";
  }

  void open() {
    groups_.push_back(out_.size());
    for (std::string_view refused : {"(?~", "(?(", "(?{", "(?#", "(?R", "(?P", "(?&", "(?|", "(?^", "(*"})
      if (follows(refused)) fail(refused);
    if (!follows("(?") || follows("(?:") || follows("(?=") || follows("(?!") || follows("(?>") || follows("(?<"))
      return copy(1), copy_opening();
    copy(2);
    for (; at_ < in_.size() && peek() != ')' && peek() != ':'; ++at_) {
      if (peek() == 'm')
        out_ += 's';
      else if (peek() == 'i' || peek() == 'x' || peek() == '-')
        out_ += peek();
      else
        fail("an option other than i, m and x");
    }
    if (peek() == ')') groups_.pop_back();
    if (at_ < in_.size()) copy(1);
  }
  void copy_opening() {
    if (peek() != '?') return;
    copy(follows("?<=") || follows("?<!") ? 3 : 2);
  }

  void escape() {
    const char c = peek(1);
    begin_atom();
    if (c == '\0') fail("a \\ at the end");
    const auto set = [&](bool negated, std::string_view inside) {
      out_ += fmt::format("[{}{}]", negated ? "^" : "", inside);
      at_ += 2;
    };
    switch (c) {
      case 's':
      case 'S':
        return set(c == 'S', white_space);
      case 'w':
      case 'W':
        return set(c == 'W', word);
      case 'h':
      case 'H':
        return set(c == 'H', hexadecimal);
      case 'b':
        out_ += fmt::format("(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))", word);
        at_ += 2;
        return;
      case 'B':
        out_ += fmt::format("(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))", word);
        at_ += 2;
        return;
      default:
        plain_escape();
    }
  }

  // Of what both read alike.
  void plain_escape() {
    if (at_ + 1 == in_.size()) fail("a \\ at the end");
    const char c = peek(1);
    if (c == 'p' || c == 'P') {
      const size_t end = in_.find('}', at_);
      if (peek(2) != '{' || end == in_.npos) fail("\\p without braces");
      // PCRE2's \p{Han} has characters of several scripts, too, if Han is one of them.
      const size_t name = at_ + (peek(3) == '^' ? 4 : 3);
      if (!is_script(in_.substr(name, end - name))) return copy(end + 1 - at_);
      copy(name - at_);
      out_ += "sc:";
      return copy(end + 1 - at_);
    }
    if (c == 'x' && peek(2) == '{') {
      const size_t end = in_.find('}', at_);
      if (end == in_.npos) fail("\\x{ without }");
      return copy(end + 1 - at_);
    }
    if (c == 'u') {
      if (in_.size() - at_ < 6) fail("\\u without four digits");
      out_ += fmt::format("\\x{{{}}}", in_.substr(at_ + 2, 4));
      at_ += 6;
      return;
    }
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter && std::string_view("dDtnrfvaexAzZR0").find(c) == std::string_view::npos) fail(fmt::format("\\{}", c));
    copy(2);
    while (at_ < in_.size() && (in_[at_] & 0xC0) == 0x80) copy(1);
  }

  void brackets() {
    copy(1);
    if (peek() == '^') copy(1);
    if (peek() == ']') fail("an empty []");
    while (at_ < in_.size() && peek() != ']') {
      if (follows("&&")) fail("&& in []");
      if (peek() == '[') {
        if (!follows("[:")) fail("[] in []");
        const size_t end = in_.find(":]", at_);
        if (end == in_.npos) fail("[: without :]");
        copy(end + 2 - at_);
      } else if (peek() == '\\') {
        class_escape();
      } else {
        copy(1);
      }
    }
    if (at_ == in_.size()) fail("[ without ]");
    copy(1);
  }

  // In brackets \w lacks the superscripts and fractions of Latin-1 that it has outside of them.
  void class_escape() {
    const char c = peek(1);
    const std::string_view inside = c == 's'   ? white_space
                                    : c == 'S' ? no_white_space
                                    : c == 'w' ? word_in_brackets
                                    : c == 'h' ? hexadecimal
                                               : std::string_view();
    if (!inside.empty()) {
      out_ += inside;
      at_ += 2;
      return;
    }
    if (c == 'W' || c == 'H' || c == 'b' || c == 'B' || c == 'R' || c == 'A' || c == 'z' || c == 'Z')
      fail(fmt::format("\\{} in []", c));
    plain_escape();
  }

  std::string_view in_, where_;
  size_t at_ = 0, atom_ = 0;
  std::vector<size_t> groups_;
  std::string out_;
};

}  // namespace

std::string pcre2_of_oniguruma(std::string_view pattern, std::string_view where) {
  return Translator(pattern, where).run();
}

}  // namespace fovea
