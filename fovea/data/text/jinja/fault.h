// What goes wrong inside of a template, before anybody knows the file and the line: the lexer, the parser and the renderer
// make an Error of it.
//
//   throw Fault(Error::invalid, "slice: found '{}', expected an int", type);
#pragma once

#include <string>
#include <utility>

#include "fovea/base/error.h"

namespace fovea::jinja {

class Fault final : public std::exception {
 public:
  template <class... Args>
  Fault(Error::Kind kind, fmt::format_string<Args...> text, Args&&... args)
      : kind_(kind), text_(fmt::format(text, std::forward<Args>(args)...)) {}

  Error::Kind kind() const { return kind_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  Error::Kind kind_;
  std::string text_;
};

}  // namespace fovea::jinja
