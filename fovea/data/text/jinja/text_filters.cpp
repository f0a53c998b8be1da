#include <algorithm>
#include <charconv>
#include <cmath>

#include "fovea/data/text/jinja/filters.h"
#include "fovea/data/text/jinja/methods.h"
#include "fovea/data/text/jinja/operators.h"
#include "fovea/data/text/jinja/printing.h"
#include "fovea/data/text/jinja/python_text.h"
#include "fovea/data/text/utf8.h"

namespace fovea::jinja {
namespace {

template <std::string (*change)(std::string_view)>
Value changed(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, "this filter", {});
  const std::string text = print(budget, value);
  budget.items(text.size() / 8);
  return change(text);
}

Value trim(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, "trim", {"chars"});
  const std::string text = print(budget, value);
  return b.has(0) ? strip(text, Side::both, b.text(0)) : strip(text);
}

Value replace_filter(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, "replace", {"old", "new", "count"});
  return replace(budget, print(budget, value), print(budget, b.value(0)), print(budget, b.value(1)), b.whole(2, -1));
}

Value string_filter(Budget& budget, const Value& value, const Arguments&) { return print(budget, value); }

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&#34;";
    else if (c == '\'')
      result += "&#39;";
    else
      result += c;
  }
  return result;
}

Value indent(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, "indent", {"width", "first", "blank"});
  if (value.is_undefined()) fail_undefined(value);
  const std::string text = print(budget, value) + "\n";
  std::string margin;
  if (b.has(0) && b.value(0).text()) {
    margin = b.text(0);
  } else {
    const int64_t width = std::max<int64_t>(b.whole(0, 4), 0);
    budget.bytes(static_cast<uint64_t>(width));
    margin = std::string(static_cast<size_t>(width), ' ');
  }
  std::string result = b.flag(1, false) ? margin : "";
  bool first = true;
  for (std::string_view line : split_lines(budget, text, false)) {
    budget.bytes(line.size() + margin.size());
    if (!first) result += "\n";
    if (!std::exchange(first, false) && (b.flag(2, false) || !line.empty())) result += margin;
    result += line;
  }
  return result;
}

Value tojson(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, "tojson", {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonOptions options;
  options.ensure_ascii = b.flag(0, false);
  options.sort_keys = b.flag(3, false);
  if (b.has(1) && b.value(1).text()) {
    options.indent = b.text(1);
  } else if (b.has(1)) {
    options.indent = std::string(static_cast<size_t>(std::clamp<int64_t>(b.whole(1), 0, 1000)), ' ');
  }
  if (b.has(2)) {
    const Value& both = b.value(2);
    if (!both.sequence() || both.items().size() != 2 || !both.items()[0].text() || !both.items()[1].text())
      throw Fault(Error::invalid, "tojson: expected two texts as separators");
    options.item_separator = *both.items()[0].text();
    options.key_separator = *both.items()[1].text();
  }
  return to_json(budget, value, options);
}

bool parse_real(std::string_view text, double& number) {
  text = strip(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool parse_whole(std::string_view text, int base, int64_t& number) {
  text = strip(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

Value int_filter(Budget&, const Value& value, const Arguments& a) {
  const Bound b(a, "int", {"default", "base"});
  const int64_t base = b.whole(1, 10);
  if (base < 2 || base > 36) throw Fault(Error::invalid, "int: found the base {}, expected 2 to 36", base);
  if (value.is_undefined()) fail_undefined(value);
  int64_t whole = 0;
  double real = 0;
  if (value.is_whole()) return value.whole();
  if (value.text() && parse_whole(*value.text(), static_cast<int>(base), whole)) return whole;
  const bool number = value.real() ? (real = *value.real(), true) : value.text() && parse_real(*value.text(), real);
  return number && std::abs(real) < 9.2e18 ? Value(static_cast<int64_t>(real)) : b.value(0, int64_t{0});
}

Value float_filter(Budget&, const Value& value, const Arguments& a) {
  const Bound b(a, "float", {"default"});
  if (value.is_undefined()) fail_undefined(value);
  double real = 0;
  if (value.is_number()) return value.number();
  return value.text() && parse_real(*value.text(), real) ? Value(real) : b.value(0, 0.0);
}

double number_of(const Value& value, std::string_view who) {
  if (value.is_undefined()) fail_undefined(value);
  if (!value.is_number()) throw Fault(Error::invalid, "{}: found '{}', expected a number", who, type_name(value));
  return value.number();
}

Value round_filter(Budget&, const Value& value, const Arguments& a) {
  const Bound b(a, "round", {"precision", "method"});
  const int64_t precision = b.whole(0, 0);
  const std::string method = b.text(1, "common");
  const double number = number_of(value, "round");
  if (precision < -300 || precision > 300) throw Fault(Error::invalid, "round: found a precision of {}", precision);
  if (method == "ceil" || method == "floor") {
    const double scale = std::pow(10.0, static_cast<double>(precision));
    return (method == "ceil" ? std::ceil(number * scale) : std::floor(number * scale)) / scale;
  }
  if (method != "common")
    throw Fault(Error::invalid, "round: found the method '{}', expected common, ceil or floor", method);
  if (value.is_whole() && precision >= 0) return value.whole();
  if (!std::isfinite(number)) return number;
  double result = 0;
  if (precision >= 0) {
    parse_real(fmt::format("{:.{}f}", number, precision), result);
  } else {
    const double scale = std::pow(10.0, static_cast<double>(-precision));
    result = std::nearbyint(number / scale) * scale;
  }
  return value.is_whole() && std::abs(result) < 9.2e18 ? Value(static_cast<int64_t>(result)) : Value(result);
}

Value abs_filter(Budget&, const Value& value, const Arguments&) {
  return number_of(value, "abs") < 0 ? negate(value) : value.is_whole() ? Value(value.whole()) : value;
}

Value wordcount(Budget& budget, const Value& value, const Arguments&) {
  int64_t words = 0;
  bool inside = false;
  const std::string text = print(budget, value);
  budget.items(text.size());
  for (const CodePoint& c : code_points(text)) {
    const bool word = c.value == '_' || is_word_character(c.value);
    words += word && !inside;
    inside = word;
  }
  return words;
}

Value center(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, "center", {"width"});
  return call_method(budget, print(budget, value), "center", {{Value(b.whole(0, 80))}, {}});
}

Value truncate(Budget& budget, const Value& value, const Arguments& a) {
  const Bound b(a, "truncate", {"length", "killwords", "end", "leeway"});
  const std::string text = print(budget, value), end = b.text(2, "...");
  const int64_t size = b.whole(0, 255), leeway = b.whole(3, 5), end_size = length(end);
  if (size < end_size || leeway < 0) throw Fault(Error::invalid, "truncate: found a length of {}, expected more", size);
  if (length(text) - leeway <= size) return text;
  std::string start = text.substr(0, byte_of_character(text, size - end_size));
  if (!b.flag(1, false)) start = start.substr(0, start.rfind(' '));
  return start + end;
}

Value format_filter(Budget& budget, const Value& value, const Arguments& a) {
  if (!a.named.empty())
    throw Fault(Error::unsupported, "format: found named arguments, expected values in their order");
  return percent_format(budget, print(budget, value), make_list(a.list, Sequence::tuple));
}

Value default_filter(Budget&, const Value& value, const Arguments& a) {
  const Bound b(a, "default", {"default_value", "boolean"});
  const bool missing = value.is_undefined() || (b.flag(1, false) && !truth(value));
  return missing ? b.value(0, Value("")) : value;
}

Value length_filter(Budget&, const Value& value, const Arguments&) { return length(value); }

constexpr Filter filters[] = {
    {"upper", changed<upper>},
    {"lower", changed<lower>},
    {"capitalize", changed<capitalize>},
    {"title", changed<jinja_title>},
    {"escape", changed<escaped>},
    {"e", changed<escaped>},
    {"forceescape", changed<escaped>},
    {"trim", trim},
    {"replace", replace_filter},
    {"string", string_filter},
    {"safe", string_filter},
    {"indent", indent},
    {"tojson", tojson},
    {"int", int_filter},
    {"float", float_filter},
    {"round", round_filter},
    {"abs", abs_filter},
    {"wordcount", wordcount},
    {"center", center},
    {"truncate", truncate},
    {"format", format_filter},
    {"default", default_filter},
    {"d", default_filter},
    {"length", length_filter},
    {"count", length_filter},
};

}  // namespace

std::span<const Filter> text_filters() { return filters; }

}  // namespace fovea::jinja
