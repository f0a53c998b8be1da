// The Vision Transformer whose patches are made by a few convolutions (Xiao et al. 2021): it learns from less.
#include "fovea/models/vit_heads.h"

namespace fovea {
namespace {

struct StemVit {
  static constexpr std::string_view name = "stem_vit", stored_name = "StemViT", prefix = "vit.";
  static constexpr int64_t extra = 1, convolutions = 2;
};

}  // namespace

extern const Family stem_vit = vit_family<StemVit>(
    "a Vision Transformer whose patches are made by convolutions (Xiao et al. 2021)",
    R"([{"architectures": "StemViTForImageClassification", "hidden_size": 24, "num_attention_heads": [2, 3], "num_hidden_layers": 2,
         "intermediate_size": 33, "image_size": 20, "patch_size": 4, "num_channels": [1, 3],
         "id2label": {"0": "a", "1": "b", "2": "c"}},
        {"architectures": "StemViTForImageClassification", "hidden_size": 24, "num_attention_heads": 2, "num_hidden_layers": 1,
         "intermediate_size": 33, "image_size": 16, "patch_size": 8, "convolutions": 3, "convolution_layers": 2, "id2label": {"0": "a", "1": "b"}}])");

}  // namespace fovea
