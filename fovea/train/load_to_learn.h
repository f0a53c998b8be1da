// A model that was trained before, to learn a task: as it is if it does that already, or its body with a head that begins anew.
//
//   Pretrained p = load_to_learn(folder, {.task = "tagging", .facts = …, .random = Random(seed)});
//   keep_files(p.folder, output);                      // those beside the weights and the tokenizer that others read
#pragma once

#include <functional>
#include <set>

#include "fovea/models/pretrained.h"

namespace fovea {

struct LearningPlan {
  std::string task;  // its name in errors
  std::function<DataFacts(const Tokenizer&)>
      facts;                  // what the data says, read with the model's own tokenizer, if it reads texts
  Random random = Random(0);  // of a new head
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

// An Error if the model cannot learn the task whatever its head, or if its numbers cannot learn (quantised files).
Pretrained load_to_learn(const std::filesystem::path& folder, const LearningPlan&);

// Paths of a model's weights that its folder does not hold, or holds for another task: those that learn from the beginning. Heads of labels
// are among them in any case.
std::set<std::string> new_weights(Model&, const std::filesystem::path& folder);

// An Error that begins with `where: found WHAT does not learn TASK` if something that is needed is not there.
void check_fits(const Abilities& found, const Abilities& needs, std::string_view where, std::string_view what,
                std::string_view task);

// Whatever programs of others expect in the folder of a model and nobody here writes: templates of chats, older vocabularies.
void keep_files(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace fovea
