// A model's config as the metadata of a GGUF file: what gguf_config.h reads, the other way round.
//
//   GgufShape shape = gguf_shape(*model, "my-model");     // shape.architecture: "llama"; shape.metadata; shape.factors
//   check_same_config(*model, gguf_config(Gguf("my-model.gguf")), "my-model");
#pragma once

#include "fovea/formats/gguf.h"
#include "fovea/models/model.h"

namespace fovea {

struct GgufShape {
  std::string architecture;
  GgufMetadata metadata;
  NamedTensors factors;          // of rotary positions, which stand among the tensors
  bool neighbours_turn = false;  // queries and keys stand so that (2 i, 2 i + 1) are turned, not (i, i + width / 2)
  bool norms_plus_one = false;   // norms get their 1 added
  int64_t heads = 0, key_heads = 0;
};

// An Error for a family or a config that GGUF files have no words for.
GgufShape gguf_shape(const Model&, const std::string& where);

// An Error that names the first key by which the model that a file says is another one than the given.
void check_same_config(const Model& given, const std::string& written, const std::string& where);

}  // namespace fovea
