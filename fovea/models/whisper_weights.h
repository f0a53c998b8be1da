// The weights of a Whisper that lies in one file (formats/whisper_file.h), under Hugging Face's names.
//
//   const auto stored = whisper_weights("ggml-tiny.bin");   stored->config();
#pragma once

#include "fovea/models/stored_weights.h"

namespace fovea {

std::unique_ptr<StoredWeights> whisper_weights(const std::filesystem::path& file);

}  // namespace fovea
