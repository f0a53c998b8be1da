// Where a model looked at a picture, out of a recording: for each word that it wrote, or in each head of each layer.
//
//   const PictureLooks looks = looks_at_picture(seen);   write_text("looked.svg", to_small_svg(looks.maps, looks.in_a_row));
#pragma once

#include "fovea/explain/picture_map.h"
#include "fovea/explain/recording.h"

namespace fovea {

struct PictureLooks {
  std::vector<PictureMap> maps = {};  // titled by the word, or by place and head
  size_t in_a_row = 5;                // as many as belong together
};

// Of a captioner each word, the mean over heads and over its tokens. Of a model that labels what its class token looked at (of one
// without, the mean of all parts), head by head, and through all layers (rollout) last. An Error if the recording has no picture.
PictureLooks looks_at_picture(const Recording&);

}  // namespace fovea
