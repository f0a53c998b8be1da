// Unicode's normal forms with origins. Decomposition, canonical order and composition stand in Unicode Standard Annex 15.
#include <utf8proc.h>

#include <algorithm>
#include <optional>

#include "fovea/data/text/pretrained/normalizer.h"

namespace fovea {
namespace {

int combining_class(char32_t value) {
  if (value < 0x300) return 0;
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(value))->combining_class;
}

std::vector<Change> decomposed(const Characters& characters, bool compatible) {
  std::vector<Change> changes;
  changes.reserve(characters.size());
  size_t marks = 0;  // the first of those that are not in their order yet
  const auto order = [&] {
    std::stable_sort(
        changes.begin() + static_cast<std::ptrdiff_t>(marks), changes.end(),
        [](const Change& a, const Change& b) { return combining_class(a.value) < combining_class(b.value); });
  };
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
  for (const Character& c : characters) {
    utf8proc_int32_t parts[32] = {static_cast<utf8proc_int32_t>(c.value)};
    utf8proc_ssize_t count = 1;
    if (c.value >= 0xA0) {
      int boundary = 0;
      count = utf8proc_decompose_char(parts[0], parts, 32, options, &boundary);
      if (count < 1 || count > 32) parts[0] = static_cast<utf8proc_int32_t>(c.value), count = 1;
    }
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      const auto value = static_cast<char32_t>(parts[i]);
      if (combining_class(value) == 0) {
        if (changes.size() > marks + 1) order();
        marks = changes.size() + 1;
      }
      changes.push_back({value, i > 0});
    }
  }
  order();
  return changes;
}

// The one character that two are canonically equal to.
std::optional<char32_t> composed(char32_t first, char32_t second) {
  if (second < 0x300) return std::nullopt;
  utf8proc_int32_t pair[3] = {static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(second), 0};
  const auto count =
      utf8proc_normalize_utf32(pair, 2, static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  if (count != 1) return std::nullopt;
  return static_cast<char32_t>(pair[0]);
}

// A base takes in each mark behind it that no mark of the same or a higher class separates from it.
std::vector<Change> composed(const std::vector<Change>& parts) {
  std::vector<Change> result, between;
  result.reserve(parts.size());
  std::optional<Change> base;
  int last_class = -1;  // of the marks between; −1: none
  const auto finish = [&] {
    if (base) result.push_back(*base);
    result.insert(result.end(), between.begin(), between.end());
    between.clear();
    last_class = -1;
  };
  for (const Change& part : parts) {
    const int kind = combining_class(part.value);
    if (!base) {
      if (kind == 0)
        base = part;
      else
        result.push_back(part);
      continue;
    }
    const bool blocked = last_class >= 0 && last_class >= kind;
    if (!blocked) {
      if (const auto whole = composed(base->value, part.value)) {
        base = Change{*whole, base->places + part.places - 1};
        continue;
      }
    }
    if (kind == 0) {
      finish();
      base = part;
    } else {
      between.push_back(part);
      last_class = kind;
    }
  }
  finish();
  return result;
}

}  // namespace

void to_normal_form(Characters& characters, NormalForm form) {
  const bool compose = form == NormalForm::nfc || form == NormalForm::nfkc;
  const bool compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  const char32_t first = compatible ? 0xA0 : compose ? 0x300 : 0xC0;  // below it nothing changes
  if (std::all_of(characters.begin(), characters.end(), [&](const Character& c) { return c.value < first; })) return;
  const std::vector<Change> parts = decomposed(characters, compatible);
  apply_changes(characters, compose ? composed(parts) : parts);
}

}  // namespace fovea
