// Expressions, by recursive descent in the order in which Jinja2's operators bind.
//
//   ExpressionParser parser(lex(source));
//   ExpressionPointer e = parser.tuple();
#pragma once

#include <initializer_list>
#include <string_view>

#include "fovea/data/text/jinja/lexer.h"
#include "fovea/data/text/jinja/tree.h"

namespace fovea::jinja {

class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

 protected:
  struct TupleOptions {
    bool conditional = true, in_brackets = false;
    std::string_view ends_before = "";  // this name ends it too
  };
  ExpressionPointer expression(bool conditional = true);
  ExpressionPointer tuple(const TupleOptions& options);
  ExpressionPointer tuple() { return tuple(TupleOptions()); }
  ExpressionPointer target(bool with_namespace, std::string_view ends_before = "");
  ExpressionPointer filters(ExpressionPointer value, bool begins_with_name = false);

  const Token& now() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  const Token& take();
  bool take_if(std::string_view symbol);
  bool take_name_if(std::string_view name);
  void expect(std::string_view symbol);
  std::string expect_name();
  [[noreturn]] void fail(std::string text, Error::Kind kind = Error::invalid) const;
  [[noreturn]] void fail_found(std::string_view expected) const;

  // Held while something that may contain itself is parsed.
  class Level final {
   public:
    explicit Level(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.level_ > 100) parser_.fail("found tags or brackets nested more than 100 deep");
    }
    ~Level() { --parser_.level_; }

   private:
    ExpressionParser& parser_;
  };

  // What the macro that is being parsed mentions.
  struct Mentions {
    bool varargs = false, kwargs = false, caller = false;
  };
  Mentions mentions_;

 private:
  using Parts = std::vector<ExpressionPointer>;
  ExpressionPointer make(Expression e) const;
  ExpressionPointer make(Expression::Kind kind, int line, Parts parts, std::string name = "") const;
  template <class... Part>
  static Parts parts(Part... part) {
    Parts result;
    (result.push_back(std::move(part)), ...);
    return result;
  }

  ExpressionPointer disjunction();
  ExpressionPointer conjunction();
  ExpressionPointer negation();
  ExpressionPointer comparison();
  ExpressionPointer sum();
  ExpressionPointer concatenation();
  ExpressionPointer product();
  ExpressionPointer power();
  ExpressionPointer unary(bool with_filters);
  ExpressionPointer primary(bool with_namespace);
  ExpressionPointer named(bool with_namespace);
  ExpressionPointer list();
  ExpressionPointer dict();
  ExpressionPointer postfix(ExpressionPointer value);
  ExpressionPointer subscript(ExpressionPointer value);
  ExpressionPointer test(ExpressionPointer value);
  std::vector<Argument> arguments();
  std::string dotted_name();

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int level_ = 0;
};

}  // namespace fovea::jinja
