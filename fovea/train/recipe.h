// A recipe: everything that one training is made from, listed once, so that a YAML file and flags say the same. What is
// trained is a task, one file each in tasks/.
//
//   std::unique_ptr<Recipe> recipe = find<Task>("translation").recipe();
//   from_yaml(text, *recipe, "recipe.yaml");
//   std::unique_ptr<Trainee> trainee = recipe->prepare({});   train(*trainee, recipe->trainer, {.folder = recipe->output});
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/catalogue.h"
#include "fovea/models/family.h"
#include "fovea/train/examples.h"
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

struct Preparation {
  std::filesystem::path resumed = {};  // a folder whose tokenizer is used instead of learning one again
  std::function<void(const std::string&)> say = [](const std::string&) {};  // what is being done, a line each
};

// What a trained model says about examples, and what was expected, a line each; the tags of a sentence with spaces between.
struct Predictions {
  std::vector<std::string> hypotheses, references;
};

class Recipe {
 public:
  virtual ~Recipe() = default;

  void fields(Fields& f);
  void complete();  // a training without an end gets the task's
  virtual Examples read() const = 0;
  // Reads the data, learns the vocabulary, makes the model with its first weights. The trainee refers to this recipe.
  virtual std::unique_ptr<Trainee> prepare(const Preparation&) = 0;
  // Of a trained model's folder, on these examples of read(); `done` hears of each so many that are ready.
  virtual Predictions predict(const std::filesystem::path& folder, const Dataset&, const std::vector<int64_t>& numbers,
                              const std::function<void(size_t)>& done) const = 0;
  // The model of the recipe, with what only the data tells (as JSON), and its first weights.
  std::unique_ptr<Model> make_model(const std::string& known);
  void choose_family(
      const std::string& name);  // with the task's defaults for it; nothing happens if it is chosen already

  std::string task, output;
  std::string family;
  std::string storage = "f32";
  ExamplesConfig examples;
  VocabularyConfig vocabulary;
  TrainerConfig trainer;
  CardConfig card;

 protected:
  Recipe(std::string_view task_name, std::vector<std::string> families);

  virtual void task_fields(Fields&) = 0;
  virtual std::string model_defaults() const = 0;  // of the chosen family, as JSON
  virtual void trainer_defaults() = 0;             // for the chosen family
  virtual void default_end() = 0;                  // of a training without one

 private:
  std::vector<std::string> families_;
  std::string chosen_;
  std::unique_ptr<ModelConfig> model_;
};

struct Task {
  static constexpr std::string_view noun = "task";
  std::string_view name;
  std::string_view help;
  std::unique_ptr<Recipe> (*recipe)();
};

// Writes the model as its users load it: config.json, model.safetensors, tokenizer, recipe.yaml and the card, README.md.
void save_trained(const std::filesystem::path& folder, Recipe&, Model&, const Tokenizer&,
                  const std::vector<Score>& scores);

}  // namespace fovea
