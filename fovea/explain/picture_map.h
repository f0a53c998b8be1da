// A picture and where a model looked at it: the more it looked at a part, the brighter that is; in a dark picture, the warmer.
//
//   std::fputs(to_terminal(PictureMap{photo, 14, 14, weights, "cat 0.93"}, {.width = 80}).c_str(), stdout);
//   write_text("cat.svg", to_svg({map}));
#pragma once

#include <string>
#include <vector>

#include "fovea/data/image/image.h"
#include "fovea/explain/heat_map.h"

namespace fovea {

struct PictureMap {
  Image picture;
  int64_t down = 0, across = 0;      // parts of the picture
  std::vector<double> weights = {};  // of each part, row by row
  std::string title = {};

  double brightness(int64_t row, int64_t column) const;  // 0 to 1: the weight as a share of the largest
};

// Half blocks in 24-bit colours, at most 64 columns wide; without colours shades of the weights alone.
std::string to_terminal(const PictureMap&, const TerminalLook&);
std::string to_svg(const std::vector<PictureMap>& panels);  // side by side

// Small ones, as many beside each other as there is room for: where a model looked for each word.
std::string to_terminal(const std::vector<PictureMap>& panels, const TerminalLook&);
std::string to_small_svg(const std::vector<PictureMap>& panels, size_t in_a_row = 5);

}  // namespace fovea
