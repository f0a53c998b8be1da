#define PCRE2_CODE_UNIT_WIDTH 8
#include "fovea/data/text/pretrained/regex.h"

#include <pcre2.h>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/data/text/pretrained/character_kinds.h"

namespace fovea {
namespace {

constexpr uint32_t most_steps = 10'000'000, most_depth = 100'000, most_heap = 20'000;  // the heap in KB
constexpr size_t longest_pattern = 20'000;

std::string message_of(int code) {
  PCRE2_UCHAR text[256] = {};
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

struct Free {
  void operator()(pcre2_code* p) const { pcre2_code_free(p); }
  void operator()(pcre2_compile_context* p) const { pcre2_compile_context_free(p); }
  void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
  void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
  void operator()(pcre2_jit_stack* p) const { pcre2_jit_stack_free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

}  // namespace

struct Regex::Compiled {
  Owned<pcre2_code> code;
};

bool is_script(std::string_view name) {
  constexpr size_t longest = 40;
  if (name.empty() || name.size() > longest || name.find_first_of("\\{}:^=") != name.npos) return false;
  const std::string pattern = "\\p{sc:" + std::string(name) + "}";
  int code = 0;
  PCRE2_SIZE at = 0;
  return Owned<pcre2_code>(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF, &code,
                                         &at, nullptr)) != nullptr;
}

Regex::Regex(std::string_view pattern, std::string_view where) : pattern_(pattern) {
  const auto fail = [&](std::string_view why) {
    throw Error(Error::unsupported, "{}: the regular expression '{}': {}", where, printable(pattern), why);
  };
  if (pattern.size() > longest_pattern)
    throw Error(Error::unsupported, "{}: found a regular expression of {} bytes, expected at most {}", where,
                pattern.size(), longest_pattern);
  const std::string translated = pcre2_of_oniguruma(pattern, where);
  Owned<pcre2_compile_context> context(pcre2_compile_context_create(nullptr));
  if (!context) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context.get(), 100);
  int code = 0;
  PCRE2_SIZE at = 0;
  Owned<pcre2_code> compiled(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                                           PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &code,
                                           &at, context.get()));
  if (!compiled) fail(message_of(code));
  size_t size = 0;
  pcre2_pattern_info(compiled.get(), PCRE2_INFO_SIZE, &size);
  if (size > 10'000'000) fail("it is too large");
  pcre2_jit_compile(compiled.get(), PCRE2_JIT_COMPLETE);  // without it, it is interpreted
  compiled_ = std::make_shared<Compiled>(Compiled{std::move(compiled)});
}

Regex Regex::literal(std::string_view text, std::string_view where) {
  std::string pattern;
  for (char c : text) {
    if (c == '\0') {
      pattern += "\\x00";
      continue;
    }
    if (static_cast<unsigned char>(c) < 0x80 && !is_letter_of_word(static_cast<unsigned char>(c)) && c >= ' ')
      pattern += '\\';
    pattern += c;
  }
  return Regex(pattern, where);
}

void Regex::each_match(std::string_view text, const std::function<void(size_t, size_t)>& found) const {
  const pcre2_code* code = compiled_->code.get();
  Owned<pcre2_match_data> data(pcre2_match_data_create(1, nullptr));
  Owned<pcre2_match_context> context(pcre2_match_context_create(nullptr));
  if (!data || !context) throw std::bad_alloc();
  pcre2_set_match_limit(context.get(), most_steps);
  pcre2_set_depth_limit(context.get(), most_depth);
  pcre2_set_heap_limit(context.get(), most_heap);
  Owned<pcre2_jit_stack> stack;
  const auto subject = reinterpret_cast<PCRE2_SPTR>(text.data() ? text.data() : "");
  size_t last_end = std::string_view::npos;
  for (size_t at = 0; at <= text.size();) {
    int result = pcre2_match(code, subject, text.size(), at, PCRE2_NO_UTF_CHECK, data.get(), context.get());
    if (result == PCRE2_ERROR_JIT_STACKLIMIT && !stack) {
      stack.reset(pcre2_jit_stack_create(64 << 10, 16 << 20, nullptr));
      pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
      continue;
    }
    if (result == PCRE2_ERROR_NOMATCH) return;
    if (result < 0) {
      throw Error(Error::unsupported, "the regular expression '{}' takes too long on a text of {} bytes: {}",
                  printable(pattern_), text.size(), message_of(result));
    }
    const PCRE2_SIZE* place = pcre2_get_ovector_pointer(data.get());
    const size_t begin = place[0], end = place[1];
    if (begin > end || end > text.size()) return;
    if (begin == end && begin == last_end) {  // nothing, where the match before ended
      if (begin == text.size()) return;
      at = begin + character_at(text, begin).size;
      continue;
    }
    found(begin, end);
    last_end = end;
    at = end;
  }
}

}  // namespace fovea
