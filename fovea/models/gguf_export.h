// A model as one GGUF file, with its tokenizer and the template of its conversations inside, as llama.cpp reads it.
//
//   export_gguf("my-model", "my-model.gguf", {.weights = "q4_K"});          // of a folder, or of another GGUF file
//
// Weights become q8_0, q4_0, q4_K, q6_K, f16, bf16 or f32; norms and biases stay f32. What gives the logits is no less than q6_K;
// rows that are not whole blocks of 256 become q5_0 instead of q4_K and q8_0 instead of q6_K, those not of 32 become f16.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace fovea {

struct GgufExport {
  std::string weights = "q8_0";
  std::function<void(const std::string& line)> note = {};  // gets a line for whatever is left out
};

struct GgufWritten {
  int64_t bytes = 0, numbers = 0;        // of the file, and of its weights
  std::map<std::string, int64_t> types;  // how many tensors of each type
};

// The file gets its name when it is whole and says the same as the model: its config, and its tokenizer on several texts. An Error
// for a family, config or tokenizer that GGUF files have no words for.
GgufWritten export_gguf(const std::filesystem::path& model, const std::filesystem::path& output, const GgufExport&);

bool is_gguf_type(const std::string& weights);  // whether it is one of the types above

}  // namespace fovea
