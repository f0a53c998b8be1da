// How Transformers says how output is searched for: generation_config.json, and older models' config.json.
//
//   if (written_by_transformers(text, where)) config = from_transformers(text, where);
#pragma once

#include <string_view>

#include "fovea/generate/config.h"

namespace fovea {

bool written_by_transformers(std::string_view json, std::string_view where);

// What it says of the search; other keys are none of its business. Lengths are counted there with the start, here without. An
// Error for a kind of search that is not known here.
GenerationConfig from_transformers(std::string_view json, std::string_view where);

}  // namespace fovea
