// The Vision Transformer (Dosovitskiy et al. 2020), alone or with labels for pictures.
#include "fovea/models/vit_heads.h"

namespace fovea {
namespace {

struct Vit {
  static constexpr std::string_view name = "vit", stored_name = "ViT", prefix = "vit.";
  static constexpr int64_t extra = 1, convolutions = 0;
};

}  // namespace

extern const Family vit = vit_family<Vit>(
    "the Vision Transformer, with labels for pictures (Dosovitskiy et al. 2020)",
    R"([{"architectures": "ViTForImageClassification", "hidden_size": 24, "num_attention_heads": [2, 3], "num_hidden_layers": 2,
         "intermediate_size": 33, "image_size": 20, "patch_size": 5, "num_channels": [1, 3], "use_mean_pooling": [false, true],
         "id2label": {"0": "a", "1": "b", "2": "c"}},
        {"architectures": "ViTModel", "hidden_size": 24, "num_attention_heads": 2, "num_hidden_layers": 1,
         "intermediate_size": 33, "image_size": 12, "patch_size": 4, "qkv_bias": [false, true]}])");

}  // namespace fovea
