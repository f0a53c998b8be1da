// The colours of weights and of kinds, in terminals and pictures.
//
//   text += painted(0.8, " 0.80");   text += painted_kind("PER", "Angela Merkel");
#pragma once

#include <string>
#include <string_view>

namespace fovea {

struct Colour {
  int red, green, blue;
};

// On paper: from white over blue-green to deep blue, with evenly falling lightness, so that it reads in grey too.
Colour colour_of(double value);
bool needs_light_text(double value);

// In a terminal, whose own background is not known: from slate over violet to vermilion. All are as far from black as from
// white; what rises with the value is how vivid they are.
Colour terminal_colour_of(double value);

// A text by the codes of a terminal with 24-bit colours, for a value from 0 to 1: grey for next to nothing, then as it is,
// then white on colour. A NaN's text stays as it is.
std::string painted(double value, const std::string& text);

// Scores from −1 to 1, on paper: from blue for what counts against over white to orange for what counts for, which everybody tells
// apart (Okabe and Ito 2008); and in a terminal.
Colour signed_colour_of(double value);
std::string painted_signed(double value, const std::string& text);

// So many cells that are the fuller the larger the value: blank below 0.05, then ░, and from each further quarter ▒ ▓ █.
std::string shade(double value, int width, bool colour);

// A text on the colour of its kind; PER, LOC, ORG and MISC have their own.
std::string painted_kind(std::string_view kind, const std::string& text);
// A kind's name in its colour.
std::string coloured_kind(std::string_view kind);

}  // namespace fovea
