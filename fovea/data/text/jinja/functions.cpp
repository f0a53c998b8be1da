// The functions of the language: range, dict, namespace, cycler and joiner of Jinja2, raise_exception and strftime_now of
// chat templates.
#include <algorithm>

#include "fovea/data/text/jinja/format_time.h"
#include "fovea/data/text/jinja/objects.h"
#include "fovea/data/text/jinja/operators.h"
#include "fovea/data/text/jinja/printing.h"

namespace fovea::jinja {
namespace {

constexpr uint64_t longest_range = 100'000;  // as in Jinja2's sandbox

Value range(Renderer& renderer, Object*, const Arguments& a) {
  const Bound b(a, "range", {"start", "stop", "step"});
  const bool one = !b.pointer(1);
  const int64_t begin = one ? 0 : b.whole(0), end = one ? b.whole(0) : b.whole(1), step = b.whole(2, 1);
  if (step == 0) throw Fault(Error::invalid, "range: found a step of 0");
  if (step > 0 ? begin >= end : begin <= end) return make_list({});
  const auto distance = step > 0 ? static_cast<uint64_t>(end) - static_cast<uint64_t>(begin)
                                 : static_cast<uint64_t>(begin) - static_cast<uint64_t>(end);
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const uint64_t count = (distance - 1) / stride + 1;
  if (count > longest_range)
    throw Fault(Error::invalid, "range: found {} items, expected at most {}", count, longest_range);
  renderer.budget().items(count);
  std::vector<Value> items;
  for (uint64_t i = 0; i < count; ++i) items.emplace_back(begin + static_cast<int64_t>(i) * step);
  return make_list(std::move(items));
}

std::vector<std::pair<Value, Value>> pairs_of(Renderer& renderer, const Arguments& a) {
  Budget& budget = renderer.budget();
  std::vector<std::pair<Value, Value>> pairs;
  if (a.list.size() > 1) throw Fault(Error::invalid, "dict: found {} arguments, expected at most one", a.list.size());
  if (!a.list.empty() && a.list[0].mapping()) {
    budget.items(2 * a.list[0].mapping()->pairs.size());
    pairs = a.list[0].mapping()->pairs;
  } else if (!a.list.empty()) {
    for (const Value& item : iterate(budget, a.list[0])) {
      if (!item.sequence() || item.items().size() != 2)
        throw Fault(Error::invalid, "dict: expected pairs of keys and values");
      put(budget, pairs, item.items()[0], item.items()[1]);
    }
  }
  for (const auto& [name, value] : a.named) put(budget, pairs, Value(name), value);
  return pairs;
}

Value dict(Renderer& renderer, Object*, const Arguments& a) { return make_dict(pairs_of(renderer, a)); }

Value make_namespace(Renderer& renderer, Object*, const Arguments& a) {
  auto* space = renderer.make<Namespace>();
  for (const auto& [name, value] : pairs_of(renderer, a))
    space->set(renderer.budget(), print(renderer.budget(), name), value);
  return space;
}

Value raise_exception(Renderer& renderer, Object*, const Arguments& a) {
  const Bound b(a, "raise_exception", {"message"});
  throw Fault(Error::invalid, "{}", print(renderer.budget(), b.value(0)));
}

Value strftime_now(Renderer& renderer, Object*, const Arguments& a) {
  const Bound b(a, "strftime_now", {"format"});
  renderer.budget().items(b.text(0).size());
  return format_time(b.text(0), renderer.time());
}

Value cycler(Renderer& renderer, Object*, const Arguments& a) {
  if (a.list.empty()) throw Fault(Error::invalid, "cycler: expected something to cycle through");
  return renderer.make<Cycler>(a.list);
}

Value joiner(Renderer& renderer, Object*, const Arguments& a) {
  return renderer.make<Joiner>(Bound(a, "joiner", {"sep"}).value(0, Value(", ")));
}

}  // namespace

Function::Run find_function(std::string_view name) {
  constexpr std::pair<std::string_view, Function::Run> functions[] = {
      {"range", range},
      {"dict", dict},
      {"namespace", make_namespace},
      {"raise_exception", raise_exception},
      {"strftime_now", strftime_now},
      {"cycler", cycler},
      {"joiner", joiner},
  };
  const auto* found =
      std::find_if(std::begin(functions), std::end(functions), [&](const auto& f) { return f.first == name; });
  return found == std::end(functions) ? nullptr : found->second;
}

}  // namespace fovea::jinja
