// The languages that Whisper tells apart, in the order of their tokens.
//
//   language_code("German");                           // "de"; an Error with what is nearest for a language that is not known
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fovea {

struct SpokenLanguage {
  std::string_view code, name;
};

std::span<const SpokenLanguage> spoken_languages();
std::string language_code(const std::string& name_or_code);
bool writes_without_spaces(std::string_view code);

}  // namespace fovea
