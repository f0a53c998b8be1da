// A text on its way through normalisation and cutting: each of its bytes knows which bytes of the user's text it came from.
//
//   AlignedText text("Été", 0);
//   Characters c = text.characters(0, 5);              // with their origins, to be changed one by one
//   text.replace(c);
//   Span span = text.origin(0, 2);                     // where bytes [0, 2) came from
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/text/utf8.h"

namespace fovea {

struct Character {
  char32_t value = 0;
  uint32_t begin = 0, end = 0;  // bytes of the user's text
};
using Characters = std::vector<Character>;

// A character that is to stand there, and how many places it differs by: 0 replaces one character, 1 is put in between, −n
// replaces one and takes out the n behind it. Origins follow: what is put in has the origin of what stands before it.
struct Change {
  char32_t value = 0;
  int64_t places = 0;
};
void apply_changes(Characters& characters, const std::vector<Change>& changes);

class AlignedText final {
 public:
  AlignedText(std::string_view text, uint32_t base) : view_(text), base_(base) {}
  AlignedText(const AlignedText&) = delete;
  AlignedText& operator=(const AlignedText&) = delete;

  std::string_view text() const { return view_; }
  uint32_t base() const { return base_; }
  bool as_given() const { return origins_.empty(); }  // byte i came from byte base() + i

  // Where bytes [begin, end) came from: whole characters of the user's text.
  Span origin(size_t begin, size_t end) const {
    if (begin >= end) return {origin_of(begin).begin, origin_of(begin).begin};
    if (!as_given()) return {origins_[begin].begin, origins_[end - 1].end};
    while (begin > 0 && (view_[begin] & 0xC0) == 0x80) --begin;
    while (end < view_.size() && (view_[end] & 0xC0) == 0x80) ++end;
    return {int64_t{base_} + static_cast<int64_t>(begin), int64_t{base_} + static_cast<int64_t>(end)};
  }

  Characters characters(size_t begin, size_t end) const;
  void append(std::string& text, std::vector<Character>& origins, size_t begin, size_t end) const;

  void replace(const Characters& characters);                           // of all of it
  void replace(std::string text, std::vector<Character> byte_origins);  // an origin for each byte; none: byte for byte
  void change_bytes(std::string text);                                  // as many as there are; the origins stay

 private:
  Character origin_of(size_t at) const;

  std::string_view view_;
  std::string own_;
  std::vector<Character> origins_;
  uint32_t base_ = 0;
};

void append_utf8(std::string& text, char32_t value);

}  // namespace fovea
