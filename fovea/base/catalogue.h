// A folder is a catalogue: each of its files defines one constant, and the build lists them (cmake/catalogue.cmake).
//
//   for (const Form* form : catalogue<Form>()) fmt::print("{}\n", form->name);
//   const Form& form = find<Form>("additive");         // or an Error that suggests the nearest name
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {

template <class Entry>
std::span<const Entry* const> catalogue();

// `name` was not found among `known`: an Error of kind not_found that names the nearest.
[[noreturn]] void throw_unknown(std::string_view what, std::string_view name, const std::vector<std::string>& known);

template <class Entry>
const Entry& find(std::string_view name) {
  std::vector<std::string> known;
  for (const Entry* entry : catalogue<Entry>()) {
    if (entry->name == name) return *entry;
    known.emplace_back(entry->name);
  }
  throw_unknown(Entry::noun, name, known);
}

}  // namespace fovea
