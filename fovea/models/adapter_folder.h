// A folder as PEFT writes it: what LoRA learned beside a model that lies elsewhere (adapter_config.json, adapter_model.safetensors).
//
//   if (is_adapter(folder)) { const AdapterFolder mine(folder);  mine.base();  mine.adapters(*model); }
//   save_adapter("my-adapter", *model, {.base = "bert-base", .alpha = 16, .whole = {"classifier.weight", "classifier.bias"}});
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fovea/formats/safetensors.h"
#include "fovea/models/family.h"
#include "fovea/nn/adapter.h"

namespace fovea {

inline constexpr const char* model_config_name =
    "model_config.json";  // a config.json would hide from others that it is an adapter

bool is_adapter(const std::filesystem::path& folder);

class AdapterFolder final {
 public:
  // An Error if the files are missing, damaged, or ask for what is not done here (DoRA, biases that learned, embeddings …).
  explicit AdapterFolder(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  const std::filesystem::path& base() const {
    return base_;
  }  // the folder of the model that it belongs to, or its GGUF file
  const std::string& base_name() const { return base_name_; }  // as the config names it
  int64_t rank() const { return rank_; }
  double alpha() const { return alpha_; }
  int64_t matrices() const { return static_cast<int64_t>(adapters_.size()); }

  // What the model has to be fitted to, if the base's config does not say it: the labels of a head that is stored here.
  DataFacts facts() const;

  // By the paths of the model's weights: the additions, and weights that are stored here whole. An Error if one is no weight of it.
  std::map<std::string, Adapter> adapters(Model&) const;
  std::map<std::string, Tensor> whole(Model&) const;

 private:
  void read_config();
  void read_tensors();
  double scale_of(const std::string& module, int64_t rank) const;

  std::filesystem::path folder_, base_;
  std::string base_name_, task_type_;
  int64_t rank_ = 0;
  double alpha_ = 0;
  bool by_root_ = false;                     // the scale is α / √r (rsLoRA: Kalajdzievski 2023)
  std::map<std::string, double> alphas_;     // of modules with one of their own
  std::map<std::string, Adapter> adapters_;  // by module: "bert.encoder.layer.0.attention.self.query"
  std::map<std::string, Tensor> whole_;      // by the stored name: "classifier.weight"
};

struct AdapterStorage {
  std::string base;  // what base_model_name_or_path says
  int64_t rank = 0;
  double alpha = 0, dropout = 0;
  std::vector<std::string> targets;  // as target_modules lists them
  std::set<std::string> whole;       // paths of weights that learned as a whole
};
// Makes the folder if need be, with a model_config.json that says what head the model has: PEFT stores no labels.
void save_adapter(const std::filesystem::path& folder, Model&, const AdapterStorage&);

}  // namespace fovea
