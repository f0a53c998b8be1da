// Heads of a decoder that look at what is being said: from them one learns when it was said.
//
//   usual_heads(model, false);                         // of Whisper tiny: layer 2, head 2; layer 3, heads 0, 2 …
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fovea/models/alignment_head.h"
#include "fovea/models/model.h"

namespace fovea {

// [[layer, head], …] as generation_config.json has them; an Error if the model has no such head.
std::vector<AlignmentHead> listed_heads(const nlohmann::json& list, const Model&, const std::string& where);

// Those that its makers found for the published model of this size; of any other all heads of the upper half of the layers.
std::vector<AlignmentHead> usual_heads(const Model&, bool english);

}  // namespace fovea
