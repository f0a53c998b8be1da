#include "fovea/train/recipe.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace fovea {
namespace {

// Passes on the fields of a model that a person chooses; the others come from the data.
class ChosenFields final : public Fields {
 public:
  explicit ChosenFields(Fields& inner) : inner_(inner) {}
  void operator()(const char* name, bool& value, const char* help) override { pass(name, value, help); }
  void operator()(const char* name, int64_t& value, const char* help) override { pass(name, value, help); }
  void operator()(const char* name, double& value, const char* help) override { pass(name, value, help); }
  void operator()(const char* name, std::string& value, const char* help) override { pass(name, value, help); }
  void operator()(const char* name, std::vector<std::string>& value, const char* help) override {
    pass(name, value, help);
  }

 private:
  template <class Value>
  void pass(const char* name, Value& value, const char* help) {
    constexpr std::string_view known[] = {
        "vocabulary", "source_vocabulary", "characters", "labels", "padding", "start", "end", "unknown"};
    if (std::ranges::find(known, std::string_view(name)) == std::end(known)) inner_(name, value, help);
  }

  Fields& inner_;
};

}  // namespace

Recipe::Recipe(std::string_view task_name, std::vector<std::string> families)
    : task(task_name), family(families.front()), families_(std::move(families)) {}

void Recipe::choose_family(const std::string& name) {
  if (std::ranges::find(families_, name) == families_.end())
    throw_unknown(fmt::format("family of models for {}", task), name, families_);
  family = name;
  if (chosen_ == name) return;
  chosen_ = name;
  model_ = find<Family>(name).config();
  from_json(model_defaults(), *model_, "defaults");
  trainer_defaults();
}

void Recipe::fields(Fields& f) {
  std::string found = task;
  f("task", found, "what is trained");
  require(found == task, "recipe: found the task '{}' in a recipe for {}", found, task);
  f("output", output, "the folder to write");
  examples.fields(f);
  task_fields(f);
  vocabulary.fields(f);
  f("family", family, fmt::format("family of models: {}", fmt::join(families_, ", ")).c_str());
  choose_family(family);
  ChosenFields chosen(f);
  model_->fields(chosen);
  trainer.fields(f);
  f("storage", storage, "how the weights of the model are stored: f32, f16 or bf16");
  card.fields(f);
}

void Recipe::complete() {
  if (trainer.steps == 0 && trainer.epochs == 0 && trainer.minutes == 0) default_end();
}

std::unique_ptr<Model> Recipe::make_model(const std::string& known) {
  require(family == chosen_, "--family: found {} for a recipe of family {}; leave --family out, or the recipe", family,
          chosen_);
  from_json(known, *model_, "recipe");
  std::unique_ptr<Model> model = model_->make();
  initialise(*model, Random(static_cast<uint64_t>(trainer.seed)).fork("weights"));
  return model;
}

}  // namespace fovea
