// A sound as it was heard: how loud it was, its spectrogram, and below them a row for each word, dark where the word listened.
//
//   write_text("heard.svg", to_svg(*seen.sound, seen.answer));
#pragma once

#include <string>
#include <string_view>

#include "fovea/explain/recorded_media.h"

namespace fovea {

std::string to_svg(const RecordedSound&, std::string_view title);

}  // namespace fovea
