#include "fovea/data/text/jinja/objects.h"

#include <algorithm>

#include "fovea/data/text/jinja/methods.h"

namespace fovea::jinja {

Value Namespace::attribute(Renderer& renderer, std::string_view name) {
  renderer.budget().steps(static_cast<int64_t>(attributes_.size() / 8));
  for (const auto& [other, value] : attributes_)
    if (other == name) return value;
  return {};
}

void Namespace::set(Budget& budget, std::string_view name, Value value) {
  budget.steps(static_cast<int64_t>(attributes_.size() / 8));
  if (name.starts_with('_'))
    throw Fault(Error::invalid, "found '{}' in a namespace, expected a name without a '_' before it", name);
  for (auto& [other, old] : attributes_) {
    if (other != name) continue;
    old = std::move(value);
    return;
  }
  attributes_.emplace_back(name, std::move(value));
}

Value Loop::changed(Budget& budget, Value now) {
  const bool same = !last_.is_undefined() && equal(budget, last_, now);
  last_ = std::move(now);
  return !same;
}

Value Loop::attribute(Renderer& renderer, std::string_view name) {
  const auto at = static_cast<int64_t>(at_), size = static_cast<int64_t>(items_.size());
  if (name == "index") return at + 1;
  if (name == "index0") return at;
  if (name == "revindex") return size - at;
  if (name == "revindex0") return size - at - 1;
  if (name == "first") return at == 0;
  if (name == "last") return at + 1 == size;
  if (name == "length") return size;
  if (name == "depth") return int64_t{1};  // deeper ones are recursive loops, which are refused
  if (name == "depth0") return int64_t{0};
  if (name == "previtem" && at > 0) return items_[at_ - 1];
  if (name == "nextitem" && at + 1 < size) return items_[at_ + 1];
  if (name == "cycle") {
    return renderer.make<Function>(
        "cycle",
        [](Renderer&, Object* self, const Arguments& a) -> Value {
          if (a.list.empty()) throw Fault(Error::invalid, "loop.cycle: expected something to cycle through");
          return a.list[static_cast<Loop*>(self)->at() % a.list.size()];
        },
        this);
  }
  if (name == "changed") {
    return renderer.make<Function>(
        "changed",
        [](Renderer& r, Object* self, const Arguments& a) -> Value {
          return static_cast<Loop*>(self)->changed(r.budget(), make_list(a.list, Sequence::tuple));
        },
        this);
  }
  return {};
}

Value Macro::attribute(Renderer&, std::string_view name) { return name == "name" ? Value(definition_.name) : Value(); }

Value Macro::call(Renderer& renderer, const Arguments& arguments) {
  Budget& budget = renderer.budget();
  const Budget::Level level(budget);
  const auto& parameters = definition_.parameters;
  budget.items(parameters.size() * (parameters.size() + arguments.named.size()) / 16);
  Scope* scope = renderer.make_scope(&scope_);
  std::vector<Value> more;
  std::vector<std::pair<Value, Value>> more_named;
  for (size_t i = 0; i < arguments.list.size(); ++i) {
    if (i < parameters.size())
      scope->set(budget, parameters[i].name, arguments.list[i]);
    else
      more.push_back(arguments.list[i]);
  }
  Value caller = undefined("found no body for 'caller', expected one from {% call %}");
  for (const auto& [name, value] : arguments.named) {
    const auto known =
        std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == name; });
    if (known != parameters.end())
      scope->set(budget, known->name, value);
    else if (definition_.takes_caller && name == "caller")
      caller = value;
    else if (definition_.takes_dict)
      more_named.emplace_back(Value(name), value);
    else
      throw Fault(Error::invalid, "{}: found an argument '{}', expected one of the macro's names", definition_.name,
                  name);
  }
  if (!more.empty() && !definition_.takes_list) {
    throw Fault(Error::invalid, "{}: found {} arguments, expected at most the macro's {}", definition_.name,
                arguments.list.size(), parameters.size());
  }
  if (definition_.takes_list) scope->set(budget, "varargs", make_list(std::move(more), Sequence::tuple));
  if (definition_.takes_dict) scope->set(budget, "kwargs", make_dict(std::move(more_named)));
  if (definition_.takes_caller) scope->set(budget, "caller", caller);
  for (const Parameter& p : parameters) {
    const bool given =
        std::any_of(scope->names.begin(), scope->names.end(), [&](const auto& n) { return n.first == p.name; });
    if (given) continue;
    scope->set(budget, p.name,
               p.value ? renderer.evaluate(*p.value, *scope)
                       : undefined(fmt::format("parameter '{}' was not provided", p.name)));
  }
  return renderer.rendered(definition_.body, *scope);
}

Value Method::call(Renderer& renderer, const Arguments& arguments) {
  return call_method(renderer.budget(), self_, name_, arguments);
}

Value Cycler::attribute(Renderer& renderer, std::string_view name) {
  if (name == "current") return items_[at_];
  if (name == "next") {
    return renderer.make<Function>(
        "next",
        [](Renderer&, Object* self, const Arguments&) -> Value {
          auto* cycler = static_cast<Cycler*>(self);
          const size_t at = cycler->at_;
          cycler->at_ = (at + 1) % cycler->items_.size();
          return cycler->items_[at];
        },
        this);
  }
  if (name == "reset") {
    return renderer.make<Function>(
        "reset",
        [](Renderer&, Object* self, const Arguments&) -> Value {
          static_cast<Cycler*>(self)->at_ = 0;
          return None();
        },
        this);
  }
  return {};
}

}  // namespace fovea::jinja
