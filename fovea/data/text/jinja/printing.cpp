#include "fovea/data/text/jinja/printing.h"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>

#include "fovea/data/text/jinja/python_text.h"
#include "fovea/data/text/utf8.h"

namespace fovea::jinja {
namespace {

std::string real_text(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", d);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

bool is_printable(char32_t c) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  const bool separator =
      category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
  const bool other = category == UTF8PROC_CATEGORY_CN || category >= UTF8PROC_CATEGORY_CC;
  return c == ' ' || (!separator && !other);
}

std::string quoted(const std::string& text) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string result(1, quote);
  for (const CodePoint& c : code_points(text)) {
    if (c.value == static_cast<char32_t>(quote) || c.value == '\\')
      (result += '\\') += static_cast<char>(c.value);
    else if (c.value == '\n')
      result += "\\n";
    else if (c.value == '\r')
      result += "\\r";
    else if (c.value == '\t')
      result += "\\t";
    else if (is_printable(c.value))
      result += piece_of(text, c.span);
    else if (c.value < 0x100)
      result += fmt::format("\\x{:02x}", static_cast<uint32_t>(c.value));
    else if (c.value < 0x10000)
      result += fmt::format("\\u{:04x}", static_cast<uint32_t>(c.value));
    else
      result += fmt::format("\\U{:08x}", static_cast<uint32_t>(c.value));
  }
  return result + quote;
}

// Appends to one text, so that a value within values is written once.
class Representation final {
 public:
  Representation(Budget& budget, std::string& out) : budget_(budget), out_(out) {}

  void operator()(const Value& value) {
    if (value.text())
      put(quoted(*value.text()));
    else if (value.sequence())
      sequence(*value.sequence());
    else if (value.mapping())
      mapping(*value.mapping());
    else
      put(value.is_undefined() ? "Undefined" : print(budget_, value));
  }

 private:
  void put(std::string_view text) {
    budget_.steps(1);
    budget_.bytes(text.size());
    out_ += text;
  }
  void sequence(const Sequence& s) {
    const bool tuple = s.kind == Sequence::tuple;
    if (s.kind == Sequence::keys) put("dict_keys(");
    if (s.kind == Sequence::values) put("dict_values(");
    if (s.kind == Sequence::items) put("dict_items(");
    put(tuple ? "(" : "[");
    for (size_t i = 0; i < s.values_of.size(); ++i) {
      if (i > 0) put(", ");
      (*this)(s.values_of[i]);
    }
    if (tuple && s.values_of.size() == 1) put(",");
    put(tuple ? ")" : "]");
    if (s.kind >= Sequence::keys) put(")");
  }
  void mapping(const Mapping& m) {
    put("{");
    for (size_t i = 0; i < m.pairs.size(); ++i) {
      if (i > 0) put(", ");
      (*this)(m.pairs[i].first);
      put(": ");
      (*this)(m.pairs[i].second);
    }
    put("}");
  }

  Budget& budget_;
  std::string& out_;
};

class Json final {
 public:
  Json(Budget& budget, std::string& out, const JsonOptions& options) : budget_(budget), out_(out), options_(options) {}

  void operator()(const Value& value, int level) {
    if (value.text())
      text(*value.text());
    else if (value.sequence() && value.sequence()->kind <= Sequence::tuple)
      array(value.items(), level);
    else if (value.mapping())
      object(*value.mapping(), level);
    else
      put(scalar(value));
  }

 private:
  void put(std::string_view text) {
    budget_.steps(1);
    budget_.bytes(text.size());
    out_ += text;
  }

  std::string scalar(const Value& value) {
    if (value.is_none()) return "null";
    if (value.boolean()) return *value.boolean() ? "true" : "false";
    if (value.real() && std::isnan(*value.real())) return "NaN";
    if (value.real() && std::isinf(*value.real())) return *value.real() < 0 ? "-Infinity" : "Infinity";
    if (value.is_number()) return print(budget_, value);
    throw Fault(Error::invalid, "tojson: found '{}', which has no form in JSON", type_name(value));
  }

  void text(const std::string& text) {
    std::string quoted = "\"";
    budget_.bytes(text.size());
    for (const CodePoint& c : code_points(text)) {
      const auto value = static_cast<uint32_t>(c.value);
      constexpr std::u32string_view short_ones = U"\"\\\n\r\t\b\f";
      if (const size_t at = short_ones.find(c.value); at != short_ones.npos)
        (quoted += '\\') += "\"\\nrtbf"[at];
      else if (value < 0x20 || (options_.ensure_ascii && value >= 0x7F && value < 0x10000)) {
        quoted += fmt::format("\\u{:04x}", value);
      } else if (options_.ensure_ascii && value >= 0x10000) {
        quoted +=
            fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((value - 0x10000) >> 10), 0xDC00 + ((value - 0x10000) & 0x3FF));
      } else {
        quoted += piece_of(text, c.span);
      }
    }
    put(quoted + "\"");
  }

  void new_line(int level) {
    if (!options_.indent) return;
    put("\n");
    for (int i = 0; i < level; ++i) put(*options_.indent);
  }
  void separate(bool first, int level) {
    if (!first) put(options_.item_separator.value_or(options_.indent ? "," : ", "));
    new_line(level);
  }

  void array(const std::vector<Value>& items, int level) {
    put("[");
    for (size_t i = 0; i < items.size(); ++i) {
      separate(i == 0, level + 1);
      (*this)(items[i], level + 1);
    }
    if (!items.empty()) new_line(level);
    put("]");
  }

  void object(const Mapping& mapping, int level) {
    std::vector<std::pair<Value, Value>> sorted;
    if (options_.sort_keys) {
      budget_.items(mapping.pairs.size());
      sorted = mapping.pairs;
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](const auto& a, const auto& b) { return less(budget_, a.first, b.first); });
    }
    put("{");
    bool first = true;
    for (const auto& [key, value] : options_.sort_keys ? sorted : mapping.pairs) {
      separate(first, level + 1);
      first = false;
      text(key.text() ? *key.text() : scalar(key));
      put(options_.key_separator);
      (*this)(value, level + 1);
    }
    if (!first) new_line(level);
    put("}");
  }

  Budget& budget_;
  std::string& out_;
  const JsonOptions& options_;
};

struct Directive {
  bool left = false, zeros = false;
  int width = 0, precision = -1;
  char letter = 0;
};

int read_digits(const std::string& pattern, size_t& at) {
  int number = 0;
  for (; at < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9'; ++at) {
    number = number * 10 + (pattern[at] - '0');
    if (number > 1000) throw Fault(Error::invalid, "'%' format: found a width beyond 1000");
  }
  return number;
}

Directive read_directive(const std::string& pattern, size_t& at) {
  Directive d;
  for (; at < pattern.size() && (pattern[at] == '-' || pattern[at] == '0'); ++at)
    (pattern[at] == '-' ? d.left : d.zeros) = true;
  d.width = read_digits(pattern, at);
  if (at < pattern.size() && pattern[at] == '.') d.precision = read_digits(pattern, ++at);
  if (at == pattern.size())
    throw Fault(Error::invalid, "'%' format: found the end of the text, expected a letter behind the '%'");
  d.letter = pattern[at++];
  return d;
}

std::string formatted(Budget& budget, const Directive& d, const Value& value) {
  std::string text;
  if (d.letter == 's' || d.letter == 'r') {
    text = d.letter == 's' ? print(budget, value) : repr(budget, value);
    if (d.precision >= 0) text.resize(byte_of_character(text, d.precision));
  } else if (!value.is_number()) {
    throw Fault(Error::invalid, "'%{}' format: found '{}', expected a number", d.letter, type_name(value));
  } else if (d.letter == 'f') {
    text = fmt::format("{:.{}f}", value.number(), d.precision < 0 ? 6 : d.precision);
  } else if ((d.letter == 'd' || d.letter == 'i') && std::abs(value.number()) < 9e18) {
    text = fmt::format("{}", value.is_whole() ? value.whole() : static_cast<int64_t>(value.number()));
  } else if (d.letter == 'x' && value.is_whole()) {
    text = fmt::format("{:x}", value.whole());
  } else {
    throw Fault(Error::unsupported, "'%' format: found '{}' for '{}'", d.letter, type_name(value));
  }
  const size_t size = character_count(text), width = static_cast<size_t>(d.width);
  if (size >= width) return text;
  if (d.left) return text + std::string(width - size, ' ');
  const bool zeros = d.zeros && value.is_number() && d.letter != 's' && d.letter != 'r';
  return zeros ? text.insert(text[0] == '-' ? 1 : 0, width - size, '0') : std::string(width - size, ' ') + text;
}

}  // namespace

std::string print(Budget& budget, const Value& value) {
  if (value.is_undefined()) return "";
  if (value.is_none()) return "None";
  if (value.boolean()) return *value.boolean() ? "True" : "False";
  if (value.integer()) return fmt::format("{}", *value.integer());
  if (value.real()) return real_text(*value.real());
  if (value.object()) return fmt::format("<{}>", value.object()->kind());
  if (value.text()) {
    budget.bytes(value.text()->size());
    return *value.text();
  }
  return repr(budget, value);
}

std::string repr(Budget& budget, const Value& value) {
  std::string out;
  Representation(budget, out)(value);
  return out;
}

std::string to_json(Budget& budget, const Value& value, const JsonOptions& options) {
  std::string out;
  Json(budget, out, options)(value, 0);
  return out;
}

std::string percent_format(Budget& budget, const std::string& pattern, const Value& value) {
  const bool several = value.sequence() && value.sequence()->kind == Sequence::tuple;
  const size_t given = several ? value.items().size() : 1;
  std::string out;
  size_t next = 0;
  for (size_t at = 0; at < pattern.size();) {
    budget.steps(1);
    if (pattern[at] != '%') {
      out += pattern[at++];
      continue;
    }
    const Directive d = read_directive(pattern, ++at);
    if (d.letter == '%') {
      out += '%';
      continue;
    }
    if (next == given) throw Fault(Error::invalid, "'%' format: found {} values, expected more", given);
    const std::string text = formatted(budget, d, several ? value.items()[next] : value);
    budget.bytes(text.size());
    out += text;
    ++next;
  }
  if (next < given && (several || !value.mapping()))
    throw Fault(Error::invalid, "'%' format: found {} values, expected {}", given, next);
  return out;
}

}  // namespace fovea::jinja
