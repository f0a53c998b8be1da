#include "fovea/data/text/jinja/renderer.h"

#include <algorithm>

#include "fovea/data/text/jinja/objects.h"
#include "fovea/data/text/jinja/operators.h"
#include "fovea/data/text/jinja/printing.h"

namespace fovea::jinja {

const Value* Scope::find(Budget& budget, std::string_view name) const {
  for (const Scope* scope = this; scope; scope = scope->outer) {
    budget.steps(static_cast<int64_t>(scope->names.size() / 8));
    for (const auto& [other, value] : scope->names)
      if (other == name) return &value;
  }
  return nullptr;
}

void Scope::set(Budget& budget, std::string_view name, Value value) {
  budget.steps(static_cast<int64_t>(names.size() / 8));
  for (auto& [other, old] : names) {
    if (other != name) continue;
    old = std::move(value);
    return;
  }
  names.emplace_back(name, std::move(value));
}

Renderer::Renderer(const Body& body, std::vector<std::pair<std::string, Value>> variables, Settings settings)
    : body_(body),
      variables_(std::move(variables)),
      settings_(std::move(settings)),
      budget_(settings_.steps, settings_.depth) {}

Scope* Renderer::make_scope(Scope* outer) {
  budget_.bytes(sizeof(Scope) + 64);
  return &scopes_.emplace_back(Scope{outer, {}});
}

std::string Renderer::run() {
  Scope* scope = make_scope(nullptr);
  for (const auto& [name, value] : variables_) scope->set(budget_, name, value);
  run(body_, *scope);
  return std::move(out_);
}

void Renderer::write(std::string_view text) {
  budget_.bytes(text.size());
  out_ += text;
}

std::string Renderer::rendered(const Body& body, Scope& scope) {
  std::string outer = std::exchange(out_, {});
  run(body, scope);
  return std::exchange(out_, std::move(outer));
}

Renderer::Flow Renderer::run(const Body& body, Scope& scope) {
  for (const auto& statement : body)
    if (const Flow flow = run(*statement, scope); flow != Flow::on) return flow;
  return Flow::on;
}

Renderer::Flow Renderer::run(const Statement& s, Scope& scope) {
  const Budget::Level level(budget_);
  budget_.steps(1);
  line_ = s.line;
  switch (s.kind) {
    case Statement::text:
      write(s.name);
      break;
    case Statement::print:
      write(print(budget_, evaluate(*s.expression, scope)));
      break;
    case Statement::if_:
      return run_if(s, scope);
    case Statement::for_:
      return run_for(s, scope);
    case Statement::set:
      assign(*s.target, evaluate(*s.expression, scope), scope);
      break;
    case Statement::set_block: {
      Value text = rendered(s.body, *make_scope(&scope));
      assign(*s.target, s.expression ? filter(*s.expression, scope, &text) : text, scope);
      break;
    }
    case Statement::macro:
      scope.set(budget_, s.definition.name, make<Macro>(s.definition, scope));
      break;
    case Statement::call:
      run_call(s, scope);
      break;
    case Statement::filter: {
      const Value text = rendered(s.body, *make_scope(&scope));
      write(print(budget_, filter(*s.expression, scope, &text)));
      break;
    }
    case Statement::with: {
      Scope* inner = make_scope(&scope);
      for (const auto& a : s.assignments) assign(*a.target, evaluate(*a.value, scope), *inner);
      return run(s.body, *inner);
    }
    case Statement::scope:
      return run(s.body, *make_scope(&scope));
    case Statement::break_:
      return Flow::break_;
    case Statement::continue_:
      return Flow::continue_;
  }
  return Flow::on;
}

Renderer::Flow Renderer::run_if(const Statement& s, Scope& scope) {
  for (const auto& branch : s.branches)
    if (truth(evaluate(*branch.test, scope))) return run(branch.body, scope);
  return run(s.otherwise, scope);
}

Renderer::Flow Renderer::run_for(const Statement& s, Scope& scope) {
  std::vector<Value> items = iterate(budget_, evaluate(*s.expression, scope));
  Scope* inner = make_scope(&scope);
  if (s.test) {
    std::erase_if(items, [&](const Value& item) {
      inner->names.clear();
      assign(*s.target, item, *inner);
      return !truth(evaluate(*s.test, *inner));
    });
  }
  if (items.empty()) {
    inner->names.clear();
    return run(s.otherwise, *inner);
  }
  Loop* loop = make<Loop>(std::move(items));
  for (; loop->at() < loop->items().size(); loop->next()) {
    budget_.steps(1);
    inner->names.clear();
    inner->set(budget_, "loop", loop);
    assign(*s.target, loop->items()[loop->at()], *inner);
    if (run(s.body, *inner) == Flow::break_) break;
  }
  return Flow::on;
}

void Renderer::run_call(const Statement& s, Scope& scope) {
  Arguments caller;
  caller.named.emplace_back("caller", make<Macro>(s.definition, scope));
  write(print(budget_, call(*s.expression, scope, &caller)));
}

void Renderer::assign(const Expression& target, Value value, Scope& scope) {
  if (target.kind == Expression::variable) return scope.set(budget_, target.name, std::move(value));
  if (target.kind == Expression::namespaced) {
    const Value* found = scope.find(budget_, target.name);
    auto* space = found ? dynamic_cast<Namespace*>(found->object()) : nullptr;
    if (!space)
      throw Fault(Error::invalid, "found '{}.{}' in {{% set %}}, expected a namespace", target.name,
                  *target.value.text());
    return space->set(budget_, *target.value.text(), std::move(value));
  }
  const std::vector<Value> items = iterate(budget_, value);
  if (items.size() != target.parts.size()) {
    throw Fault(Error::invalid, "found {} values, expected {} to unpack", items.size(), target.parts.size());
  }
  for (size_t i = 0; i < items.size(); ++i) assign(*target.parts[i], items[i], scope);
}

}  // namespace fovea::jinja
