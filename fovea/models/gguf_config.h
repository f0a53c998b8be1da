// A GGUF file in Hugging Face's terms: the config.json that its metadata stands for, and the names of its tensors.
//
//   const Gguf file("model.gguf");
//   gguf_config(file);                                                             // {"model_type": "llama", "hidden_size": …
//   hugging_face_names(file).at("model.layers.3.self_attn.q_proj.weight");         // "blk.3.attn_q.weight"
//
// Architectures llama (also Mistral), qwen2, qwen3, gemma2, gemma3, phi3, gpt2 and bert. Where a file differs from Hugging Face's
// own weights, the config says so:
//   "rope_interleaved": true     llama's queries and keys stand so that neighbours (2 i, 2 i + 1) are turned, not (i, i + width / 2)
//   "norm_plus_one": false       gemma's norms have their 1 added already
// gpt2's matrices are [outputs, inputs] in both what this gives and the file; Hugging Face's own safetensors have them transposed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/formats/gguf.h"

namespace fovea {

// An Error for an architecture, a mixture of experts or a scaling of positions that is not known here.
std::string gguf_config(const Gguf&);

// The file's name of each tensor, by Hugging Face's. Tensors that gguf_config has put into the config (factors of rotary positions)
// are left out; one without a name there is an Error.
std::map<std::string, std::string> hugging_face_names(const Gguf&);

// The other way, of one tensor of an architecture: "model.norm.weight" → "output_norm.weight"; none if it has no name there.
std::optional<std::string> gguf_name(std::string_view architecture, std::string_view hugging_face);

}  // namespace fovea
