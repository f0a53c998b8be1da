// Runs a template's tree.
//
//   Renderer renderer(body, {{"name", Value("you")}}, {.steps = 1'000'000, .depth = 200});
//   std::string text = renderer.run();                  // a Fault if it fails, at renderer.line()
#pragma once

#include <ctime>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/data/text/jinja/arguments.h"
#include "fovea/data/text/jinja/budget.h"
#include "fovea/data/text/jinja/tree.h"

namespace fovea::jinja {

// The names of a loop's round, a macro's call, …; what is set in it is gone behind it.
struct Scope {
  Scope* outer = nullptr;
  std::vector<std::pair<std::string_view, Value>> names;

  const Value* find(Budget& budget, std::string_view name) const;  // in the outer ones too
  void set(Budget& budget, std::string_view name, Value value);
};

class Renderer final {
 public:
  struct Settings {
    int64_t steps = 0;
    int depth = 0;
    std::function<std::tm()> clock;
  };
  Renderer(const Body& body, std::vector<std::pair<std::string, Value>> variables, Settings settings);

  std::string run();
  int line() const { return line_; }

  Budget& budget() { return budget_; }
  std::tm time() const { return settings_.clock(); }
  // What is made here lives until the rendering ends, and is counted.
  template <class T, class... Args>
  T* make(Args&&... args) {
    budget_.bytes(sizeof(T) + 64);
    auto object = std::make_unique<T>(std::forward<Args>(args)...);
    T* pointer = object.get();
    objects_.push_back(std::move(object));
    return pointer;
  }
  Scope* make_scope(Scope* outer);

  Value evaluate(const Expression& e, Scope& scope);
  Value attribute(const Value& value, std::string_view name);
  std::string rendered(const Body& body, Scope& scope);  // into a text of its own

 private:
  enum class Flow { on, break_, continue_ };
  Flow run(const Body& body, Scope& scope);
  Flow run(const Statement& s, Scope& scope);
  Flow run_if(const Statement& s, Scope& scope);
  Flow run_for(const Statement& s, Scope& scope);
  void run_call(const Statement& s, Scope& scope);
  void assign(const Expression& target, Value value, Scope& scope);
  void write(std::string_view text);

  Value variable(const Expression& e, Scope& scope);
  Value compare(const Expression& e, Scope& scope);
  Value concatenate(const Expression& e, Scope& scope);
  Value dict(const Expression& e, Scope& scope);
  Value item_of(const Expression& e, Scope& scope);
  Value slice_of(const Expression& e, Scope& scope);
  Value call(const Expression& e, Scope& scope, const Arguments* first = nullptr);
  Value filter(const Expression& e, Scope& scope, const Value* input = nullptr);
  Value test(const Expression& e, Scope& scope);
  std::vector<Value> all(const std::vector<ExpressionPointer>& parts, Scope& scope);
  Arguments arguments(const Expression& e, Scope& scope);

  const Body& body_;
  std::vector<std::pair<std::string, Value>> variables_;
  Settings settings_;
  Budget budget_;
  std::string out_;
  int line_ = 1;
  std::deque<std::unique_ptr<Object>> objects_;
  std::deque<Scope> scopes_;
};

}  // namespace fovea::jinja
