#include "fovea/data/text/jinja/expression_parser.h"

#include <algorithm>

namespace fovea::jinja {
namespace {

constexpr int deepest = 200;  // nodes below each other, as in a long sum

std::string_view shown(const Token& token) {
  switch (token.kind) {
    case Token::text:
      return "text";
    case Token::print_begin:
      return "{{";
    case Token::print_end:
      return "}}";
    case Token::block_begin:
      return "{%";
    case Token::block_end:
      return "%}";
    case Token::string:
      return "a string";
    case Token::end:
      return "the end of the template";
    default:
      return token.spelling;
  }
}

}  // namespace

const Token& ExpressionParser::take() {
  const Token& token = tokens_[at_];
  if (token.kind != Token::end) ++at_;
  return token;
}

bool ExpressionParser::take_if(std::string_view symbol) {
  if (!now().is(symbol)) return false;
  take();
  return true;
}

bool ExpressionParser::take_name_if(std::string_view name) {
  if (!now().is_name(name)) return false;
  take();
  return true;
}

void ExpressionParser::expect(std::string_view symbol) {
  if (!take_if(symbol)) fail_found(symbol);
}

std::string ExpressionParser::expect_name() {
  if (now().kind != Token::name) fail_found("a name");
  return take().spelling;
}

void ExpressionParser::fail(std::string text, Error::Kind kind) const {
  throw SyntaxFault(now().line, kind, std::move(text));
}

void ExpressionParser::fail_found(std::string_view expected) const {
  fail(fmt::format("found {}, expected {}", shown(now()), expected));
}

ExpressionPointer ExpressionParser::make(Expression e) const {
  for (const ExpressionPointer& part : e.parts)
    if (part) e.depth = std::max(e.depth, part->depth + 1);
  for (const Argument& argument : e.arguments) e.depth = std::max(e.depth, argument.value->depth + 1);
  if (e.depth > deepest) fail(fmt::format("found an expression of more than {} levels", deepest));
  return std::make_unique<const Expression>(std::move(e));
}

ExpressionPointer ExpressionParser::make(Expression::Kind kind, int line, Parts parts, std::string name) const {
  Expression e;
  e.kind = kind;
  e.line = line;
  e.parts = std::move(parts);
  e.name = std::move(name);
  return make(std::move(e));
}

ExpressionPointer ExpressionParser::expression(bool conditional) {
  const Level level(*this);
  ExpressionPointer value = disjunction();
  while (conditional && now().is_name("if")) {
    const int line = take().line;
    ExpressionPointer condition = disjunction(), otherwise;
    if (take_name_if("else")) otherwise = expression();
    value = make(Expression::conditional, line, parts(std::move(condition), std::move(value), std::move(otherwise)));
  }
  return value;
}

ExpressionPointer ExpressionParser::disjunction() {
  ExpressionPointer left = conjunction();
  while (now().is_name("or")) {
    const int line = take().line;
    left = make(Expression::or_, line, parts(std::move(left), conjunction()));
  }
  return left;
}

ExpressionPointer ExpressionParser::conjunction() {
  ExpressionPointer left = negation();
  while (now().is_name("and")) {
    const int line = take().line;
    left = make(Expression::and_, line, parts(std::move(left), negation()));
  }
  return left;
}

ExpressionPointer ExpressionParser::negation() {
  if (!now().is_name("not")) return comparison();
  const Level level(*this);
  const int line = take().line;
  return make(Expression::not_, line, parts(negation()));
}

ExpressionPointer ExpressionParser::comparison() {
  Expression e;
  e.kind = Expression::compare;
  e.line = now().line;
  e.parts = parts(sum());
  while (true) {
    static constexpr std::string_view symbols[] = {"==", "!=", "<", "<=", ">", ">="};
    if (std::any_of(std::begin(symbols), std::end(symbols), [&](auto s) { return now().is(s); })) {
      e.operators.push_back(take().spelling);
    } else if (take_name_if("in")) {
      e.operators.emplace_back("in");
    } else if (now().is_name("not") && ahead().is_name("in")) {
      take();
      take();
      e.operators.emplace_back("not in");
    } else {
      break;
    }
    e.parts.push_back(sum());
  }
  return e.operators.empty() ? std::move(e.parts[0]) : make(std::move(e));
}

ExpressionPointer ExpressionParser::sum() {
  ExpressionPointer left = concatenation();
  while (now().is("+") || now().is("-")) {
    const Token& symbol = take();
    left = make(Expression::arithmetic, symbol.line, parts(std::move(left), concatenation()), symbol.spelling);
  }
  return left;
}

ExpressionPointer ExpressionParser::concatenation() {
  const int line = now().line;
  Parts all = parts(product());
  while (take_if("~")) all.push_back(product());
  return all.size() == 1 ? std::move(all[0]) : make(Expression::concatenate, line, std::move(all));
}

ExpressionPointer ExpressionParser::product() {
  ExpressionPointer left = power();
  while (now().is("*") || now().is("/") || now().is("//") || now().is("%")) {
    const Token& symbol = take();
    left = make(Expression::arithmetic, symbol.line, parts(std::move(left), power()), symbol.spelling);
  }
  return left;
}

ExpressionPointer ExpressionParser::power() {
  ExpressionPointer left = unary(true);
  while (now().is("**")) {
    const Token& symbol = take();
    left = make(Expression::arithmetic, symbol.line, parts(std::move(left), unary(true)), symbol.spelling);
  }
  return left;
}

ExpressionPointer ExpressionParser::unary(bool with_filters) {
  const Level level(*this);
  ExpressionPointer value;
  if (now().is("-") || now().is("+")) {
    const Token& sign = take();
    value = make(sign.is("-") ? Expression::negate : Expression::plus, sign.line, parts(unary(false)));
  } else {
    value = primary(false);
  }
  value = postfix(std::move(value));
  while (with_filters) {
    if (now().is("|"))
      value = filters(std::move(value));
    else if (now().is_name("is"))
      value = test(std::move(value));
    else if (now().is("("))
      value = postfix(std::move(value));
    else
      break;
  }
  return value;
}

ExpressionPointer ExpressionParser::named(bool with_namespace) {
  Expression e;
  e.line = now().line;
  const std::string name = take().spelling;
  if (name == "true" || name == "True")
    e.value = true;
  else if (name == "false" || name == "False")
    e.value = false;
  else if (name == "none" || name == "None")
    e.value = None();
  else {
    mentions_.varargs |= name == "varargs";
    mentions_.kwargs |= name == "kwargs";
    mentions_.caller |= name == "caller";
    e.kind = Expression::variable;
    e.name = name;
    if (with_namespace && take_if(".")) {
      e.kind = Expression::namespaced;
      e.value = Value(expect_name());
    }
  }
  return make(std::move(e));
}

ExpressionPointer ExpressionParser::primary(bool with_namespace) {
  const Token& token = now();
  if (token.kind == Token::name) return named(with_namespace);
  if (token.is("[")) return list();
  if (token.is("{")) return dict();
  if (take_if("(")) {
    ExpressionPointer inner = tuple({.in_brackets = true});
    expect(")");
    return inner;
  }
  Expression e;
  e.line = token.line;
  if (token.kind == Token::number) {
    e.value = take().number_value;
  } else if (token.kind == Token::string) {
    std::string text;
    while (now().kind == Token::string) text += take().spelling;
    e.value = Value(std::move(text));
  } else {
    fail_found("an expression");
  }
  return make(std::move(e));
}

ExpressionPointer ExpressionParser::tuple(const TupleOptions& options) {
  const Level level(*this);
  const int line = now().line;
  const auto at_end = [&] {
    return now().kind == Token::print_end || now().kind == Token::block_end || now().is(")") ||
           (!options.ends_before.empty() && now().is_name(options.ends_before));
  };
  Parts items;
  bool comma = false;
  while (!at_end()) {
    items.push_back(expression(options.conditional));
    if (!take_if(",")) break;
    comma = true;
  }
  if (!comma && items.size() == 1) return std::move(items[0]);
  if (!comma && !options.in_brackets) fail_found("an expression");
  return make(Expression::tuple, line, std::move(items));
}

ExpressionPointer ExpressionParser::target(bool with_namespace, std::string_view ends_before) {
  const Level level(*this);
  const int line = now().line;
  Parts items;
  bool comma = false;
  while (!now().is(")") && !now().is("=") && now().kind != Token::block_end && !now().is_name(ends_before)) {
    if (take_if("(")) {
      items.push_back(target(with_namespace));
      expect(")");
    } else {
      items.push_back(primary(with_namespace));
    }
    if (items.back()->kind != Expression::variable && items.back()->kind != Expression::namespaced &&
        items.back()->kind != Expression::tuple) {
      fail("found a value, expected a name to assign to");
    }
    if (!take_if(",")) break;
    comma = true;
  }
  if (items.empty()) fail_found("a name to assign to");
  return comma ? make(Expression::tuple, line, std::move(items)) : std::move(items[0]);
}

ExpressionPointer ExpressionParser::list() {
  const int line = take().line;
  Parts items;
  while (!now().is("]")) {
    items.push_back(expression());
    if (!now().is("]")) expect(",");
  }
  take();
  return make(Expression::list, line, std::move(items));
}

ExpressionPointer ExpressionParser::dict() {
  const int line = take().line;
  Parts items;
  while (!now().is("}")) {
    items.push_back(expression());
    expect(":");
    items.push_back(expression());
    if (!now().is("}")) expect(",");
  }
  take();
  return make(Expression::dict, line, std::move(items));
}

}  // namespace fovea::jinja
