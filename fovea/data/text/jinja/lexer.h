// The tokens of a template: texts, and what stands in {{ }} and {% %}. White space around tags is taken away here, as Jinja2 does
// with trim_blocks and lstrip_blocks on and keep_trailing_newline off, which is how chat templates are read.
//
//   std::vector<Token> tokens = lex("Hello {{ name }}");      // a Syntax error names its line
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/text/jinja/value.h"

namespace fovea::jinja {

struct Token {
  enum Kind { text, print_begin, print_end, block_begin, block_end, name, string, number, symbol, end };
  Kind kind = end;
  int line = 1;
  std::string spelling;  // a text, a name, a string without its quotes, a symbol
  Value number_value;

  bool is(std::string_view s) const { return kind == symbol && spelling == s; }
  bool is_name(std::string_view n) const { return kind == name && spelling == n; }
};

class SyntaxFault final : public std::exception {
 public:
  SyntaxFault(int line, Error::Kind kind, std::string text) : line_(line), kind_(kind), text_(std::move(text)) {}
  int line() const { return line_; }
  Error::Kind kind() const { return kind_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  int line_;
  Error::Kind kind_;
  std::string text_;
};

std::vector<Token> lex(std::string_view source);

}  // namespace fovea::jinja
