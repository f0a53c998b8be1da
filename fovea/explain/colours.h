// The colours of weights, in terminals and pictures.
//
//   text += painted(0.8, " 0.80");
#pragma once

#include <string>

namespace fovea {

struct Colour {
  int red, green, blue;
};

// From paper white over blue-green to deep blue, with evenly falling lightness, so that it reads in grey too.
Colour colour_of(double value);
bool needs_light_text(double value);

// A text on the colour of a value from 0 to 1, by the codes of a terminal with 24-bit colours.
std::string painted(double value, const std::string& text);

}  // namespace fovea
