// A model as a folder in Hugging Face's layout: config.json with its family as "model_type", and model.safetensors.
//
//   save_model("my-model", *model, {.storage = DType::bf16});
//   std::unique_ptr<Model> model = load_model("my-model");   auto translator = load_model_as<Seq2SeqModel>("my-model");
#pragma once

#include <filesystem>

#include "fovea/models/family.h"

namespace fovea {

struct SaveOptions {
  DType storage = DType::f32;  // or f16, bf16
};

// Makes the folder if need be. Each file is written beside its place and renamed, config.json last.
void save_model(const std::filesystem::path& folder, Model&, const SaveOptions& = {});

// Where a model stands that is called by this folder: there, or in its best/ as a training leaves it. An Error if neither has
// a config.json.
std::filesystem::path model_folder(const std::filesystem::path& folder);

// An Error if the folder, its config or its weights are missing, damaged, or not of a family that is known here.
std::unique_ptr<Model> load_model(const std::filesystem::path& folder);  // as model_folder() finds it

template <class M>
std::unique_ptr<M> load_model_as(const std::filesystem::path& folder) {
  return model_as<M>(load_model(folder), folder.string());
}

}  // namespace fovea
