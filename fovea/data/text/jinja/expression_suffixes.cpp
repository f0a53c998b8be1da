// What stands behind a value: .name, [index], (arguments), | filter and `is` test.
#include "fovea/data/text/jinja/expression_parser.h"

namespace fovea::jinja {

ExpressionPointer ExpressionParser::postfix(ExpressionPointer value) {
  while (true) {
    const int line = now().line;
    if (now().is("(")) {
      Expression e;
      e.kind = Expression::call;
      e.line = line;
      e.parts = parts(std::move(value));
      e.arguments = arguments();
      value = make(std::move(e));
    } else if (take_if("[")) {
      value = subscript(std::move(value));
    } else if (take_if(".")) {
      if (now().kind == Token::number && now().number_value.integer()) {
        value = make(Expression::item, line, parts(std::move(value), primary(false)));
      } else {
        value = make(Expression::attribute, line, parts(std::move(value)), expect_name());
      }
    } else {
      return value;
    }
  }
}

ExpressionPointer ExpressionParser::subscript(ExpressionPointer value) {
  const int line = now().line;
  Parts bounds;
  bool slice = false;
  for (int i = 0; i < 3; ++i) {
    const bool here = !now().is(":") && !now().is("]");
    bounds.push_back(here ? expression() : nullptr);
    if (!take_if(":")) break;
    slice = true;
  }
  expect("]");
  if (!slice && !bounds[0]) fail("found [], expected an index");
  if (!slice) return make(Expression::item, line, parts(std::move(value), std::move(bounds[0])));
  bounds.resize(3);
  return make(Expression::slice, line,
              parts(std::move(value), std::move(bounds[0]), std::move(bounds[1]), std::move(bounds[2])));
}

std::vector<Argument> ExpressionParser::arguments() {
  std::vector<Argument> result;
  Argument::Kind last = Argument::positional;
  expect("(");
  while (!now().is(")")) {
    Argument a;
    if (take_if("*"))
      a.kind = Argument::spread_list;
    else if (take_if("**"))
      a.kind = Argument::spread_dict;
    else if (now().kind == Token::name && ahead().is("=")) {
      a.kind = Argument::keyword;
      a.name = take().spelling;
      take();
    }
    if (a.kind == Argument::positional && last != Argument::positional)
      fail("found an argument behind named ones, expected it before them");
    last = a.kind;
    a.value = expression();
    result.push_back(std::move(a));
    if (!now().is(")")) expect(",");
  }
  take();
  return result;
}

std::string ExpressionParser::dotted_name() {
  std::string name = expect_name();
  while (take_if(".")) name += "." + expect_name();
  return name;
}

ExpressionPointer ExpressionParser::filters(ExpressionPointer value, bool begins_with_name) {
  while (begins_with_name || take_if("|")) {
    begins_with_name = false;
    Expression e;
    e.kind = Expression::filter;
    e.line = now().line;
    e.name = dotted_name();
    e.parts = parts(std::move(value));
    if (now().is("(")) e.arguments = arguments();
    value = make(std::move(e));
  }
  return value;
}

ExpressionPointer ExpressionParser::test(ExpressionPointer value) {
  Expression e;
  e.kind = Expression::test;
  e.line = take().line;
  const bool negated = take_name_if("not");
  e.name = dotted_name();
  e.parts = parts(std::move(value));
  const Token& t = now();
  const bool word = t.kind == Token::name && !t.is_name("else") && !t.is_name("or") && !t.is_name("and");
  if (t.is("(")) {
    e.arguments = arguments();
  } else if (word || t.kind == Token::string || t.kind == Token::number || t.is("[") || t.is("{")) {
    if (t.is_name("is")) fail("found 'is' behind a test; put the first one in brackets");
    Argument a;
    a.value = postfix(primary(false));
    e.arguments.push_back(std::move(a));
  }
  const int line = e.line;
  ExpressionPointer result = make(std::move(e));
  return negated ? make(Expression::not_, line, parts(std::move(result))) : std::move(result);
}

}  // namespace fovea::jinja
