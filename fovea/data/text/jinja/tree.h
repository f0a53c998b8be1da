// What a template says, as a tree of statements and expressions.
//
//   Body body = parse("{% for m in messages %}{{ m.content }}{% endfor %}");
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/data/text/jinja/value.h"

namespace fovea::jinja {

struct Expression;
using ExpressionPointer = std::unique_ptr<const Expression>;

struct Argument {
  enum Kind { positional, keyword, spread_list, spread_dict };
  Kind kind = positional;
  std::string name;
  ExpressionPointer value;
};

struct Expression {
  enum Kind {
    constant,     // value
    variable,     // name
    list,         // parts
    tuple,        // parts
    dict,         // parts: key, value, key, value, …
    attribute,    // parts[0].name
    item,         // parts[0][parts[1]]
    slice,        // parts[0][parts[1] : parts[2] : parts[3]], each of the three perhaps null
    call,         // parts[0](arguments)
    filter,       // parts[0] | name(arguments); parts[0] is null in {% filter %} and {% set x | … %}
    test,         // parts[0] is name(arguments)
    negate,       // -parts[0]
    plus,         // +parts[0]
    not_,         // not parts[0]
    and_,         // parts[0] and parts[1]
    or_,          // parts[0] or parts[1]
    arithmetic,   // parts[0] name parts[1], where name is + - * / // % **
    concatenate,  // parts joined by ~
    compare,      // parts[0] operators[0] parts[1] operators[1] parts[2] …
    conditional,  // parts[1] if parts[0] else parts[2], which may be null
    namespaced,   // name.value, as a target of {% set %}
  };
  Kind kind = constant;
  int line = 1;
  std::string name;
  Value value;
  std::vector<ExpressionPointer> parts;
  std::vector<Argument> arguments;
  std::vector<std::string> operators;
  int depth = 1;
};

struct Statement;
using Body = std::vector<std::unique_ptr<const Statement>>;

struct Parameter {
  std::string name;
  ExpressionPointer value;  // its default, or null
};

struct MacroDefinition {
  std::string name;
  std::vector<Parameter> parameters;
  Body body;
  bool takes_list = false, takes_dict = false, takes_caller = false;  // the body mentions varargs, kwargs, caller
};

struct Statement {
  enum Kind {
    text,       // name is the text
    print,      // expression
    if_,        // branches: tests with bodies; otherwise `otherwise`
    for_,       // target, expression, perhaps test; body; otherwise
    set,        // target = expression
    set_block,  // target = body, through the filter `expression` unless null
    macro,      // definition
    call,       // expression is the call, definition the caller
    filter,     // body through the filter `expression`
    with,       // assignments, then body
    scope,      // body in a scope of its own
    break_,
    continue_,
  };
  struct Branch {
    ExpressionPointer test;
    Body body;
  };
  struct Assignment {
    ExpressionPointer target, value;
  };
  Kind kind = text;
  int line = 1;
  std::string name;
  ExpressionPointer target, expression, test;
  std::vector<Branch> branches;
  std::vector<Assignment> assignments;
  Body body, otherwise;
  MacroDefinition definition;
};

}  // namespace fovea::jinja
