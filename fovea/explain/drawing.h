// A drawn sheet as other files than SVG: PNG for screens and documents, PDF for papers, with the letters as letters.
//
//   const std::string svg = to_svg(maps);
//   write_text("weights.png", to_png(svg));   write_text("weights.pdf", to_pdf(svg));
//   write_drawing("curves.pdf", svg);         // by the ending
//
// librsvg draws (Debian's librsvg2-2, with Cairo and Pango), with the fonts that the machine has; it is loaded at the first such
// picture, so that a program that draws none is not larger for it.
#pragma once

#include <filesystem>
#include <string>

namespace fovea {

// An Error of kind not_found that names the package, if librsvg is not there.
void require_renderer();

// Twice as many pixels a side as the sheet has, so that letters are sharp; as many as it has where those would be more than a picture
// may have (most_pixels in data/image/image.h, 32,767 a side), and an Error beyond that, or if it is no SVG.
std::string to_png(const std::string& svg);

// One page of the sheet's size, 96 pixels to the inch as in browsers. The same sheet gives the same bytes: there is no date in it.
std::string to_pdf(const std::string& svg);

// What .png, .pdf or any other ending, which is SVG, says.
void write_drawing(const std::filesystem::path&, const std::string& svg);

}  // namespace fovea
