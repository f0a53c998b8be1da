// Pictures and sound through models of others, as `classify` and `transcribe` run them: ViT-S/16 at 224 × 224 pixels, and Whisper tiny's
// encoder over a window of 30 seconds, with random weights of each precision.
#include "bench/bench.h"
#include "fovea/base/random.h"
#include "fovea/models/family.h"
#include "fovea/nn/weights.h"
#include "fovea/tensor/tensor.h"

namespace fovea::benches {
namespace {

constexpr Precision precisions[] = {Precision::f32, Precision::bf16, Precision::int8};

std::unique_ptr<Model> packed_model(const char* family, const char* config, Precision precision) {
  const auto made = find<Family>(family).config();
  from_json(config, *made, family);
  std::unique_ptr<Model> model = made->make();
  initialise(*model, Random(1));
  for_each_weight(*model, [&](const std::string&, Weight& w, const Init&) { w.bind(w.stored(), precision); });
  return model;
}

void see(Bencher& b, Precision precision) {
  const auto model = packed_model("vit", R"({"architectures": "ViTForImageClassification", "hidden_size": 384,
      "num_attention_heads": 6, "intermediate_size": 1536, "id2label": {"0": "a", "1": "b"}})",
                                  precision);
  for (int64_t batch : {1, 8}) {
    const Tensor pixels = normal({batch, 3, 224, 224}, Random(2));
    b.rate("pictures", fmt::format("vit-s16 {} at_once={}", name(precision), batch), static_cast<double>(batch),
           "pictures/s", [&] { as<PictureLabeller>(*model).picture_logits(pixels, {}); });
  }
}

void hear(Bencher& b, Precision precision) {
  const auto model = packed_model("whisper", R"({"vocab_size": 51865, "d_model": 384, "encoder_layers": 4,
      "encoder_attention_heads": 6, "encoder_ffn_dim": 1536, "decoder_layers": 4, "decoder_attention_heads": 6,
      "decoder_ffn_dim": 1536})",
                                  precision);
  const Tensor frames = normal({1, 80, 3000}, Random(2));
  b.time("sound", fmt::format("whisper-tiny encoder {}", name(precision)),
         [&] { as<Listener>(*model).hear({.frames = frames}, {}); });
}

}  // namespace

extern const Bench media = {
    .name = "media", .help = "pictures through a ViT, sound through Whisper's encoder", .run = [](Bencher& b) {
      for (Precision precision : precisions) see(b, precision), hear(b, precision);
    }};

}  // namespace fovea::benches
