#include "fovea/data/text/jinja/lexer.h"

#include <algorithm>
#include <charconv>

#include "fovea/data/text/jinja/literal.h"
#include "fovea/data/text/jinja/python_text.h"

namespace fovea::jinja {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// One kind of line end, and none behind the last line.
std::string normalized(std::string_view source) {
  std::string result;
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') continue;
    result += source[i] == '\r' ? '\n' : source[i];
  }
  if (result.ends_with('\n')) result.pop_back();
  return result;
}

class Lexer final {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) text_and_tag();
    add(Token::end, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(std::string text) const { throw SyntaxFault(line_, Error::invalid, std::move(text)); }
  std::string_view rest() const { return std::string_view(source_).substr(at_); }
  bool sees(std::string_view s) const { return rest().starts_with(s); }

  void add(Token::Kind kind, std::string spelling) { tokens_.push_back({kind, line_, std::move(spelling), {}}); }
  void skip(size_t count) {
    const std::string_view passed = rest().substr(0, count);
    line_ += static_cast<int>(std::count(passed.begin(), passed.end(), '\n'));
    at_ += passed.size();
    if (!passed.empty()) line_begins_ = passed.back() == '\n';
  }
  void skip_spaces() { skip(rest().size() - strip(rest(), Side::left).size()); }

  // A text, without the white space that the sign of the tag behind it takes away.
  void add_text(std::string_view text, char sign, bool prints) {
    if (sign == '-') {
      text = strip(text, Side::right);
    } else if (sign != '+' && !prints) {
      const size_t newline = text.rfind('\n');
      const size_t begin = newline == text.npos ? 0 : newline + 1;
      if ((begin > 0 || line_begins_) && strip(text.substr(begin)).empty()) text = text.substr(0, begin);
    }
    if (!text.empty()) add(Token::text, std::string(text));
  }

  static size_t next_tag(std::string_view text) {
    for (size_t at = text.find('{'); at != text.npos; at = text.find('{', at + 1)) {
      if (at + 1 < text.size() && (text[at + 1] == '{' || text[at + 1] == '%' || text[at + 1] == '#')) return at;
    }
    return text.npos;
  }

  static char sign_at(std::string_view text, size_t at) {
    return at < text.size() && (text[at] == '-' || text[at] == '+') ? text[at] : 0;
  }

  // {% NAME %} at the beginning of the text: its size up to %}, or 0; a sign before %} is left in `end_sign`.
  static size_t bare_tag(std::string_view text, std::string_view name, char& end_sign) {
    if (!text.starts_with("{%")) return 0;
    std::string_view rest = strip(text.substr(sign_at(text, 2) ? 3 : 2), Side::left);
    if (!rest.starts_with(name)) return 0;
    rest = strip(rest.substr(name.size()), Side::left);
    end_sign = sign_at(rest, 0);
    if (end_sign) rest.remove_prefix(1);
    return rest.starts_with("%}") ? text.size() - rest.size() + 2 : 0;
  }

  void text_and_tag() {
    const std::string_view text = rest();
    const size_t tag = next_tag(text);
    if (tag == text.npos) {
      add(Token::text, std::string(text));
      return skip(text.size());
    }
    const char sign = sign_at(text, tag + 2);
    const char kind = text[tag + 1];
    char end_sign = 0;
    const size_t raw = bare_tag(text.substr(tag), "raw", end_sign);
    add_text(text.substr(0, tag), sign, kind == '{');
    if (raw > 0 && end_sign != '+') {
      skip(tag + raw);
      if (end_sign == '-') skip_spaces();
      return raw_text();
    }
    skip(tag + (sign ? 3 : 2));
    if (kind == '#') return comment();
    add(kind == '{' ? Token::print_begin : Token::block_begin, "");
    inside(kind == '{');
  }

  void end_of_tag(char sign) {
    if (sign == '-')
      skip_spaces();
    else if (sign != '+' && sees("\n"))
      skip(1);
  }

  void comment() {
    const size_t end = rest().find("#}");
    if (end == rest().npos) fail("found a comment without an end, expected #}");
    const char sign = end > 0 ? sign_at(rest(), end - 1) : 0;
    skip(end + 2);
    end_of_tag(sign);
  }

  void raw_text() {
    const std::string_view text = rest();
    for (size_t at = text.find("{%"); at != text.npos; at = text.find("{%", at + 1)) {
      char end_sign = 0;
      const size_t size = bare_tag(text.substr(at), "endraw", end_sign);
      if (size == 0) continue;
      add_text(text.substr(0, at), sign_at(text, at + 2), false);
      skip(at + size);
      return end_of_tag(end_sign);
    }
    fail("found {% raw %} without an end, expected {% endraw %}");
  }

  // What stands in a tag, and its end. Within brackets }} and %} are symbols.
  void inside(bool prints) {
    const std::string_view close = prints ? "}}" : "%}";
    std::string open;
    while (true) {
      skip_spaces();
      if (at_ == source_.size()) fail(fmt::format("found the end of the template, expected {}", close));
      const char sign = sign_at(rest(), 0);
      const bool signed_end = (sign == '-' || (sign == '+' && !prints)) && rest().substr(1).starts_with(close);
      if (open.empty() && (sees(close) || signed_end)) {
        add(prints ? Token::print_end : Token::block_end, "");
        skip(signed_end ? 3 : 2);
        if (signed_end && sign == '-')
          skip_spaces();
        else if (!prints)
          end_of_tag(sign == '+' ? '+' : 0);
        return;
      }
      token(open);
    }
  }

  void token(std::string& open) {
    const char c = source_[at_];
    if (is_digit(c)) return number();
    if (begins_name(c)) {
      size_t size = 1;
      while (size < rest().size() && (begins_name(rest()[size]) || is_digit(rest()[size]))) ++size;
      add(Token::name, std::string(rest().substr(0, size)));
      return skip(size);
    }
    if (c == '\'' || c == '"') return string(c);
    symbol(open);
  }

  void string(char quote) {
    size_t end = 1;
    while (end < rest().size() && rest()[end] != quote) end += rest()[end] == '\\' ? 2 : 1;
    if (end >= rest().size()) fail("found a string without an end");
    try {
      add(Token::string, unescaped(rest().substr(1, end - 1)));
    } catch (const Fault& fault) {
      throw SyntaxFault(line_, fault.kind(), fault.what());
    }
    skip(end + 1);
  }

  void number() {
    const NumberLiteral number = read_number(rest());
    if (number.size == 0) fail(fmt::format("found the number {}, expected one of 64 bits", rest().substr(0, 20)));
    add(Token::number, std::string(rest().substr(0, number.size)));
    tokens_.back().number_value = number.value;
    skip(number.size);
  }

  void symbol(std::string& open) {
    static constexpr std::string_view symbols[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                   "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                   ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
    const auto* found = std::find_if(std::begin(symbols), std::end(symbols), [&](auto s) { return sees(s); });
    if (found == std::end(symbols)) fail(fmt::format("found '{}', which begins nothing", rest().substr(0, 1)));
    if (*found == "(") open += ')';
    if (*found == "[") open += ']';
    if (*found == "{") open += '}';
    if (*found == ")" || *found == "]" || *found == "}") {
      if (open.empty()) fail(fmt::format("found '{}' without its beginning", *found));
      if (open.back() != (*found)[0]) fail(fmt::format("found '{}', expected '{}'", *found, open.back()));
      open.pop_back();
    }
    add(Token::symbol, std::string(*found));
    skip(found->size());
  }

  std::string source_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_begins_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(std::string_view source) { return Lexer(normalized(source)).run(); }

}  // namespace fovea::jinja
