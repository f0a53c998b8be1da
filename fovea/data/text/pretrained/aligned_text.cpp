#include "fovea/data/text/pretrained/aligned_text.h"

#include <algorithm>

#include "fovea/data/text/pretrained/character_kinds.h"

namespace fovea {

void append_utf8(std::string& text, char32_t value) {
  const auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (value < 0x80) return add(value);
  if (value < 0x800) {
    add(0xC0 | value >> 6);
  } else {
    if (value < 0x10000) {
      add(0xE0 | value >> 12);
    } else {
      add(0xF0 | value >> 18);
      add(0x80 | (value >> 12 & 0x3F));
    }
    add(0x80 | (value >> 6 & 0x3F));
  }
  add(0x80 | (value & 0x3F));
}

void apply_changes(Characters& characters, const std::vector<Change>& changes) {
  Characters result;
  result.reserve(changes.size());
  const uint32_t base = characters.empty() ? 0 : characters.front().begin;
  size_t at = 0;
  for (const Change& change : changes) {
    Character origin = {change.value, base, base};
    if (!characters.empty() && (change.places <= 0 || at > 0)) {
      const size_t from = std::min(change.places > 0 ? at - 1 : at, characters.size() - 1);
      origin.begin = characters[from].begin;
      origin.end = characters[from].end;
    }
    if (change.places <= 0) at += 1 + static_cast<size_t>(-change.places);
    result.push_back(origin);
  }
  characters = std::move(result);
}

Character AlignedText::origin_of(size_t at) const {
  if (as_given()) {
    const auto place = base_ + static_cast<uint32_t>(std::min(at, view_.size()));
    return {0, place, place};
  }
  if (at < origins_.size()) return origins_[at];
  return {0, origins_.back().end, origins_.back().end};
}

Characters AlignedText::characters(size_t begin, size_t end) const {
  Characters result;
  result.reserve(end - begin);
  for (size_t at = begin; at < end;) {
    const auto [value, size] = character_at(view_, at);
    const auto place = base_ + static_cast<uint32_t>(at);
    if (as_given())
      result.push_back({value, place, place + size});
    else
      result.push_back({value, origins_[at].begin, origins_[at].end});
    at += size;
  }
  return result;
}

void AlignedText::append(std::string& text, std::vector<Character>& origins, size_t begin, size_t end) const {
  text += view_.substr(begin, end - begin);
  if (!as_given()) {
    origins.insert(origins.end(), origins_.begin() + static_cast<std::ptrdiff_t>(begin),
                   origins_.begin() + static_cast<std::ptrdiff_t>(end));
    return;
  }
  for (size_t at = begin; at < end;) {
    const uint32_t size = character_at(view_, at).size, place = base_ + static_cast<uint32_t>(at);
    origins.insert(origins.end(), size, {0, place, place + size});
    at += size;
  }
}

void AlignedText::replace(const Characters& characters) {
  std::string text;
  std::vector<Character> origins;
  text.reserve(characters.size());
  origins.reserve(characters.size());
  for (const Character& c : characters) {
    const size_t before = text.size();
    append_utf8(text, c.value);
    origins.insert(origins.end(), text.size() - before, {0, c.begin, c.end});
  }
  replace(std::move(text), std::move(origins));
}

void AlignedText::replace(std::string text, std::vector<Character> byte_origins) {
  own_ = std::move(text);
  view_ = own_;
  origins_ = std::move(byte_origins);
}

void AlignedText::change_bytes(std::string text) {
  own_ = std::move(text);
  view_ = own_;
}

}  // namespace fovea
