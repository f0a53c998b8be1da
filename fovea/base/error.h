// The one exception of Fovea: a kind, and a text "where: found …, expected …" that names the remedy.
//
//   throw Error(Error::corrupt, "{}: tensor '{}' ends at byte {}, but the file has {}", path, name, end, size);
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace fovea {

class Error final : public std::runtime_error {
 public:
  enum Kind { invalid, not_found, corrupt, unsupported, io };

  template <class... Args>
  Error(Kind kind, fmt::format_string<Args...> text, Args&&... args)
      : std::runtime_error(whole(fmt::format(text, std::forward<Args>(args)...))), kind_(kind) {}

  Kind kind() const { return kind_; }

 private:
  // What it quotes may hold NUL bytes, at which what() would end: they become \x00.
  static std::string whole(std::string text);

  Kind kind_;
};

// Throws Error::invalid unless the condition holds:  require(a == b, "add: found {}, expected {}", a, b);
template <class... Args>
void require(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) throw Error(Error::invalid, text, std::forward<Args>(args)...);
}

}  // namespace fovea
