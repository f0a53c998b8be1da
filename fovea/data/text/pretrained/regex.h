// Regular expressions as tokenizer.json has them, those of Oniguruma with Ruby's syntax, run by PCRE2's JIT.
//
//   Regex words(" ?\\p{L}+", "tokenizer.json");
//   words.each_match(text, [&](size_t begin, size_t end) { … });
//
// What PCRE2 reads differently is translated (\s, \w, \b, \h, {,n}, {n,m}+, (?m), ^ and $ at lines, \p{Han}) or an Error of kind
// unsupported. A pattern that takes too many steps on a text is an Error, too.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace fovea {

class Regex final {
 public:
  Regex(std::string_view pattern, std::string_view where);
  // One that stands for itself.
  static Regex literal(std::string_view text, std::string_view where);

  // The matches in a valid text from left to right, as they do not overlap.
  void each_match(std::string_view text, const std::function<void(size_t begin, size_t end)>& found) const;
  const std::string& pattern() const { return pattern_; }  // as it was given

 private:
  struct Compiled;
  std::string pattern_;
  std::shared_ptr<const Compiled> compiled_;
};

std::string pcre2_of_oniguruma(std::string_view pattern, std::string_view where);
bool is_script(std::string_view name);  // of Unicode: Han, Latin, Common

}  // namespace fovea
