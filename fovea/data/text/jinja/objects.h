// The values of a template that can change or be called: namespaces, loops, macros, methods, functions, cyclers and joiners.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/data/text/jinja/renderer.h"

namespace fovea::jinja {

// {% set ns = namespace(found=false) %} … {% set ns.found = true %}: the one thing that outlives a loop's round.
class Namespace final : public Object {
 public:
  std::string_view kind() const override { return "namespace"; }
  Value attribute(Renderer& renderer, std::string_view name) override;
  void set(Budget& budget, std::string_view name, Value value);

 private:
  std::vector<std::pair<std::string, Value>> attributes_;
};

// What `loop` is within {% for %}.
class Loop final : public Object {
 public:
  explicit Loop(std::vector<Value> items) : items_(std::move(items)) {}

  const std::vector<Value>& items() const { return items_; }
  size_t at() const { return at_; }
  void next() { ++at_; }
  Value changed(Budget& budget, Value now);

  std::string_view kind() const override { return "loop"; }
  Value attribute(Renderer& renderer, std::string_view name) override;

 private:
  std::vector<Value> items_;
  size_t at_ = 0;
  Value last_;
};

class Macro final : public Object {
 public:
  Macro(const MacroDefinition& definition, Scope& scope) : definition_(definition), scope_(scope) {}
  std::string_view kind() const override { return "macro"; }
  Value attribute(Renderer&, std::string_view name) override;
  bool callable() const override { return true; }
  Value call(Renderer& renderer, const Arguments& arguments) override;

 private:
  const MacroDefinition& definition_;
  Scope& scope_;
};

// A function of the language, or one that an object gives: range, raise_exception, loop.cycle …
class Function final : public Object {
 public:
  using Run = Value (*)(Renderer&, Object* self, const Arguments&);
  Function(std::string_view name, Run run, Object* self = nullptr) : name_(name), run_(run), self_(self) {}
  std::string_view kind() const override { return name_; }
  bool callable() const override { return true; }
  Value call(Renderer& renderer, const Arguments& arguments) override { return run_(renderer, self_, arguments); }

 private:
  std::string name_;
  Run run_;
  Object* self_;
};

Function::Run find_function(std::string_view name);  // of the language; nullptr if there is none

class Method final : public Object {
 public:
  Method(Value self, std::string name) : self_(std::move(self)), name_(std::move(name)) {}
  std::string_view kind() const override { return "method"; }
  bool callable() const override { return true; }
  Value call(Renderer& renderer, const Arguments& arguments) override;

 private:
  Value self_;
  std::string name_;
};

// cycler('odd', 'even').next()
class Cycler final : public Object {
 public:
  explicit Cycler(std::vector<Value> items) : items_(std::move(items)) {}
  std::string_view kind() const override { return "cycler"; }
  Value attribute(Renderer& renderer, std::string_view name) override;

 private:
  std::vector<Value> items_;
  size_t at_ = 0;
};

// joiner(', ')() is empty the first time.
class Joiner final : public Object {
 public:
  explicit Joiner(Value separator) : separator_(std::move(separator)) {}
  std::string_view kind() const override { return "joiner"; }
  bool callable() const override { return true; }
  Value call(Renderer&, const Arguments&) override { return std::exchange(used_, true) ? separator_ : Value(""); }

 private:
  Value separator_;
  bool used_ = false;
};

}  // namespace fovea::jinja
