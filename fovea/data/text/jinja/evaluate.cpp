#include <algorithm>

#include "fovea/data/text/jinja/filters.h"
#include "fovea/data/text/jinja/methods.h"
#include "fovea/data/text/jinja/objects.h"
#include "fovea/data/text/jinja/operators.h"
#include "fovea/data/text/jinja/predicates.h"
#include "fovea/data/text/jinja/printing.h"
#include "fovea/data/text/jinja/renderer.h"

namespace fovea::jinja {

Value Renderer::evaluate(const Expression& e, Scope& scope) {
  const Budget::Level level(budget_);
  budget_.steps(1);
  line_ = e.line;
  const auto part = [&](size_t i) { return evaluate(*e.parts[i], scope); };
  switch (e.kind) {
    case Expression::constant:
      return e.value;
    case Expression::variable:
      return variable(e, scope);
    case Expression::list:
      return make_list(all(e.parts, scope));
    case Expression::tuple:
      return make_list(all(e.parts, scope), Sequence::tuple);
    case Expression::dict:
      return dict(e, scope);
    case Expression::attribute:
      return attribute(part(0), e.name);
    case Expression::item:
      return item_of(e, scope);
    case Expression::slice:
      return slice_of(e, scope);
    case Expression::call:
      return call(e, scope);
    case Expression::filter:
      return filter(e, scope);
    case Expression::test:
      return test(e, scope);
    case Expression::negate:
      return negate(part(0));
    case Expression::plus:
      return arithmetic(budget_, "+", int64_t{0}, part(0));
    case Expression::not_:
      return !truth(part(0));
    case Expression::and_: {
      Value left = part(0);
      return truth(left) ? part(1) : left;
    }
    case Expression::or_: {
      Value left = part(0);
      return truth(left) ? left : part(1);
    }
    case Expression::arithmetic: {
      const Value left = part(0), right = part(1);
      line_ = e.line;
      return arithmetic(budget_, e.name, left, right);
    }
    case Expression::concatenate:
      return concatenate(e, scope);
    case Expression::compare:
      return compare(e, scope);
    case Expression::conditional:
      if (truth(part(0))) return part(1);
      return e.parts[2] ? part(2) : undefined("found an 'if' that is false, expected an 'else' behind it");
    case Expression::namespaced:
      break;
  }
  return {};
}

std::vector<Value> Renderer::all(const std::vector<ExpressionPointer>& parts, Scope& scope) {
  budget_.items(parts.size());
  std::vector<Value> values;
  for (const ExpressionPointer& part : parts) values.push_back(evaluate(*part, scope));
  return values;
}

Value Renderer::variable(const Expression& e, Scope& scope) {
  if (const Value* found = scope.find(budget_, e.name)) return *found;
  if (const Function::Run function = find_function(e.name)) return make<Function>(e.name, function);
  return undefined(fmt::format("'{}' is undefined", e.name));
}

Value Renderer::compare(const Expression& e, Scope& scope) {
  Value left = evaluate(*e.parts[0], scope);
  for (size_t i = 0; i < e.operators.size(); ++i) {
    Value right = evaluate(*e.parts[i + 1], scope);
    if (!jinja::compare(budget_, e.operators[i], left, right)) return false;
    left = std::move(right);
  }
  return true;
}

Value Renderer::concatenate(const Expression& e, Scope& scope) {
  std::string text;
  for (const ExpressionPointer& part : e.parts) {
    const std::string next = print(budget_, evaluate(*part, scope));
    budget_.bytes(next.size());
    text += next;
  }
  return text;
}

Value Renderer::dict(const Expression& e, Scope& scope) {
  std::vector<std::pair<Value, Value>> pairs;
  for (size_t i = 0; i < e.parts.size(); i += 2) {
    budget_.items(2);
    Value key = evaluate(*e.parts[i], scope), value = evaluate(*e.parts[i + 1], scope);
    put(budget_, pairs, std::move(key), std::move(value));
  }
  return make_dict(std::move(pairs));
}

Value Renderer::attribute(const Value& value, std::string_view name) {
  if (value.is_undefined()) fail_undefined(value);
  if (value.object()) {
    Value found = value.object()->attribute(*this, name);
    return found.is_undefined() ? undefined(fmt::format("found no '{}' in a {}", name, value.object()->kind())) : found;
  }
  if (has_method(value, name)) return make<Method>(value, std::string(name));
  if (value.mapping())
    if (const Value* found = find(budget_, *value.mapping(), name)) return *found;
  return undefined(fmt::format("found no '{}' in a value of type '{}'", name, type_name(value)));
}

Value Renderer::item_of(const Expression& e, Scope& scope) {
  const Value value = evaluate(*e.parts[0], scope), key = evaluate(*e.parts[1], scope);
  line_ = e.line;
  Value found = item(budget_, value, key);
  const bool missing = found.is_undefined() && key.text() && (value.object() || has_method(value, *key.text()));
  return missing ? attribute(value, *key.text()) : found;
}

Value Renderer::slice_of(const Expression& e, Scope& scope) {
  const Value value = evaluate(*e.parts[0], scope);
  Value bounds[3];
  for (size_t i = 0; i < 3; ++i) bounds[i] = e.parts[i + 1] ? evaluate(*e.parts[i + 1], scope) : None();
  line_ = e.line;
  return slice(budget_, value, &bounds[0], &bounds[1], &bounds[2]);
}

Arguments Renderer::arguments(const Expression& e, Scope& scope) {
  Arguments result;
  for (const Argument& a : e.arguments) {
    budget_.items(1);
    Value value = evaluate(*a.value, scope);
    if (a.kind == Argument::positional) {
      result.list.push_back(std::move(value));
    } else if (a.kind == Argument::keyword) {
      result.named.emplace_back(a.name, std::move(value));
    } else if (a.kind == Argument::spread_list) {
      for (Value& item : iterate(budget_, value)) result.list.push_back(std::move(item));
    } else {
      if (!value.mapping()) throw Fault(Error::invalid, "found '{}' behind **, expected a dict", type_name(value));
      budget_.items(value.mapping()->pairs.size());
      for (const auto& [key, item] : value.mapping()->pairs) result.named.emplace_back(print(budget_, key), item);
    }
  }
  return result;
}

Value Renderer::call(const Expression& e, Scope& scope, const Arguments* more) {
  const Expression& callee = *e.parts[0];
  // A method is called without being made an object first.
  const bool method = callee.kind == Expression::attribute;
  const Value target = evaluate(method ? *callee.parts[0] : callee, scope);
  Arguments given = arguments(e, scope);
  if (more) given.named.insert(given.named.end(), more->named.begin(), more->named.end());
  line_ = e.line;
  if (method && has_method(target, callee.name)) return call_method(budget_, target, callee.name, given);
  const Value function = method ? attribute(target, callee.name) : target;
  if (function.is_undefined()) fail_undefined(function);
  if (!function.object())
    throw Fault(Error::invalid, "found a call of '{}', which cannot be called", type_name(function));
  return function.object()->call(*this, given);
}

Value Renderer::filter(const Expression& e, Scope& scope, const Value* input) {
  // In a chain without a value of its own the first filter takes the input.
  const Value value = !e.parts[0]                              ? *input
                      : e.parts[0]->kind == Expression::filter ? filter(*e.parts[0], scope, input)
                                                               : evaluate(*e.parts[0], scope);
  const Arguments given = arguments(e, scope);
  line_ = e.line;
  return apply_filter(budget_, e.name, value, given);
}

Value Renderer::test(const Expression& e, Scope& scope) {
  const Value value = evaluate(*e.parts[0], scope);
  const Arguments given = arguments(e, scope);
  line_ = e.line;
  return apply_test(budget_, e.name, value, given);
}

}  // namespace fovea::jinja
