#include "fovea/train/trainee.h"

namespace fovea {

void Trainee::save(const std::filesystem::path& folder) {
  write_safetensors(folder / "model.safetensors", fovea::save(*this), {{"format", "pt"}});
}

}  // namespace fovea
