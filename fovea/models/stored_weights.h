// The weights of a model as they are stored: in the safetensors of a folder, or in a GGUF file, under Hugging Face's names.
//
//   const auto stored = open_weights("my-model");       // or "model.gguf"
//   stored->config();   stored->bind(weight, "embeddings.word_embeddings.weight", Precision::f32);
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/nn/weight.h"

namespace fovea {

class StoredWeights {
 public:
  virtual ~StoredWeights() = default;

  virtual std::string config() const = 0;  // the text of config.json
  virtual std::string where() const = 0;   // that text's name in errors
  virtual std::vector<std::string> names() const = 0;
  virtual Shape shape(const std::string& name) const = 0;
  virtual Shape expected(const Weight&) const = 0;              // the shape that a weight has there
  virtual std::string type(const std::string& name) const = 0;  // "F32", "q4_1" …
  virtual int64_t bytes(const std::string& name) const = 0;
  virtual bool same(const std::string& a, const std::string& b) const = 0;  // whether their bytes are

  // The precision that all products are packed as, if they are: then no other one can be had.
  virtual std::optional<Precision> packing() const { return std::nullopt; }
  // Without a precision: as it is stored if that can be multiplied with, else in f32.
  virtual void bind(Weight&, const std::string& name, std::optional<Precision>) const = 0;
  virtual void learn(Weight&, const std::string& name) const = 0;
  // As they are stored, but for blocks, which are f32 then.
  virtual Tensor numbers(const std::string& name) const = 0;
  virtual void forget(const std::string& name) const = 0;  // the memory that they took
};

bool is_gguf(const std::filesystem::path& model);  // by its name
std::unique_ptr<StoredWeights> open_weights(const std::filesystem::path& model);

inline constexpr const char* packing_key = "fovea_packed";  // in the metadata of a file of packed weights

}  // namespace fovea
