// From a recipe to what can be trained: the data read, the vocabulary learned, the model made.
//
//   const std::unique_ptr<Trainee> trainee = prepare(recipe, {.say = [](const std::string& line) { … }});
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "fovea/train/recipe.h"
#include "fovea/train/trainee.h"

namespace fovea {

struct Preparation {
  std::filesystem::path resumed = {};  // a folder whose tokenizer is used instead of learning one again
  std::function<void(const std::string&)> say = [](const std::string&) {};  // what is being done, a line each
};

// The trainee refers to the recipe, whose trainer gets what only the data tells: when to end, if nothing was said.
std::unique_ptr<Trainee> prepare(Recipe&, const Preparation&);

}  // namespace fovea
