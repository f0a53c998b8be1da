// DeiT (Touvron et al. 2020): ViT with a second token that learned from a teacher.
#include "fovea/models/vit_heads.h"

namespace fovea {
namespace {

struct Deit {
  static constexpr std::string_view name = "deit", stored_name = "DeiT", prefix = "deit.";
  static constexpr int64_t extra = 2, convolutions = 0;
};

}  // namespace

extern const Family deit = vit_family<Deit>(
    "DeiT, a Vision Transformer with a token that learned from a teacher (Touvron et al. 2020)",
    R"([{"architectures": ["DeiTForImageClassification", "DeiTForImageClassificationWithTeacher"], "hidden_size": 24,
         "num_attention_heads": 2, "num_hidden_layers": 2, "intermediate_size": 33, "image_size": 20, "patch_size": 5,
         "id2label": {"0": "a", "1": "b", "2": "c"}}])");

}  // namespace fovea
