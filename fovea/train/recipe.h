// A recipe: everything that one training is made from, listed once, so that a YAML file and flags say the same.
//
//   Recipe recipe("translation", "transformer");       // or read_recipe(text, "recipe.yaml")
//   const auto trainee = prepare(recipe, {});          // prepare.h
//   train(*trainee, recipe.trainer, {.folder = recipe.output});
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/models/family.h"
#include "fovea/train/examples.h"
#include "fovea/train/lora.h"
#include "fovea/train/task.h"
#include "fovea/train/trainer.h"
#include "fovea/train/vocabulary.h"

namespace fovea {

// What a model card says besides what is measured.
struct CardConfig {
  std::string name, about, license, attribution;
  std::vector<std::string> languages;

  void fields(Fields& f) {
    f("name", name, "model card: the model's name");
    f("about", about, "model card: what it is for");
    f("license", license, "model card: the licence of the weights, as SPDX names it");
    f("attribution", attribution, "model card: whose data it was trained on");
    f("languages", languages, "model card: its languages, the source's first");
  }
};

struct RecipeBeginning {
  bool tuned = false;  // from a model of others
  bool lora = false;   // by additions to its weights
};

class Recipe final {
 public:
  // With the defaults of the task and of the family; the task's first family if none is named. A training that goes on from a model
  // of others (`tuned`) begins with those of fine-tuning instead of the family's.
  explicit Recipe(std::string_view task, std::string_view family = {}, const RecipeBeginning& = {});

  void fields(Fields& f);
  void check() const;  // an Error if the fields say another task or family than the one it was made for
  Examples read() const;

  std::string output, storage = "f32", weights;
  std::string precision = "f32";    // of products while it learns
  std::string from;                 // a model to go on from
  std::vector<std::string> freeze;  // which of its weights stay as they are
  LoraConfig lora;                  // whether it learns by additions alone
  ExamplesConfig examples;
  VocabularyConfig vocabulary;
  TrainerConfig trainer;
  CardConfig card;

  Task& task() const { return *task_; }
  const std::string& task_name() const { return task_name_; }
  const std::string& family_name() const { return family_name_; }
  ModelConfig& model() const { return *model_; }

 private:
  std::string task_name_, family_name_;
  std::string task_field_, family_field_;  // as they were read
  std::unique_ptr<Task> task_;
  std::unique_ptr<ModelConfig> model_;
};

// Whether --from names a model that others trained.
bool is_tuned(const std::string& from);

Recipe read_recipe(std::string_view yaml, const std::string& where);

}  // namespace fovea
