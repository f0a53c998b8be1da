// A model as a folder in Hugging Face's layout: config.json with its family as "model_type", model.safetensors, its tokenizer. Or
// all of it in one GGUF file.
//
//   save_model("my-model", *model, {.storage = DType::bf16});
//   const Pretrained mine = load_pretrained(find_model("my-model"));   mine.as<Generator>();   *mine.tokenizer;
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "fovea/data/text/tokenizer.h"
#include "fovea/models/family.h"

namespace fovea {

struct SaveOptions {
  DType storage = DType::f32;  // or f16, bf16
  bool packed = false;         // the weights of a model that was loaded for inference as they lie in memory
  std::string used_as = {};  // if given, what config.json says: f32, bf16 or int8, where whoever loads it says nothing
};

// Makes the folder if need be. Each file is written beside its place and renamed, config.json last.
void save_model(const std::filesystem::path& folder, Model&, const SaveOptions& = {});

// What a model is to learn next.
struct Refit {
  DataFacts facts;
  Random random = Random(0);  // of the weights that are drawn
};

struct LoadOptions {
  std::optional<Precision> precision =
      {};               // of the weights; by default what the folder says, else f32; GGUF's blocks as they are
  bool learns = false;  // numbers that training goes on from; else packed, as the products read them
  // Gets a line for whatever a folder of others holds that is passed over: keys that are not known here, tensors without a use.
  std::function<void(const std::string& line)> note = {};
  // Of a model that learns: the one that does what these facts need (ModelConfig::fit), with the folder's body and a head that is drawn.
  std::optional<Refit> refit = {};
};

// The folder of an adapter (adapter_folder.h) is its base with what was learned beside it, as one model.
// An Error if the folder, its config or its weights are missing, damaged, not of a family that is known here, or not numbers.
// No memory is taken because config.json asks for it: the weights' shapes are compared first.
std::unique_ptr<Model> load_model(const std::filesystem::path& folder, const LoadOptions& = {});

// Where a model's own files lie: its folder; of an adapter's, the one of its base.
std::filesystem::path base_of(const std::filesystem::path& folder);

// The model that the folder describes: its weights are shapes alone.
std::unique_ptr<Model> described_model(const std::filesystem::path& folder);

// Bytes of memory that the weights take once they are loaded for inference.
int64_t memory_of(Model&, Precision);

// As what the products of a loaded model read its weights: "f32", "bf16", "int8", or "blocks", those of a GGUF file.
std::string_view used_as(Model&);

// What a model does, with the verbs of the program for it: "labels words (tag)".
std::string uses_of(const Model&);

// What answers texts: a model and the tokenizer that it was trained with.
struct Pretrained {
  std::filesystem::path folder;
  std::unique_ptr<Model> model;
  std::unique_ptr<Tokenizer> tokenizer;  // none if the model reads no text

  template <class Ability>
  const Ability& as() const {
    if (const auto* found = can<Ability>(*model)) return *found;
    throw Error(Error::invalid, "{}: found a model of family '{}', which does not do this: it {}", folder.string(),
                model->family(), uses_of(*model));
  }
};

// An Error as well if the tokenizer is not of the model's size (of a foreign model: larger).
Pretrained load_pretrained(const std::filesystem::path& folder, const LoadOptions& = {});

}  // namespace fovea
