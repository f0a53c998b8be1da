#include "fovea/train/recipe.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/models/zoo.h"

namespace fovea {
namespace {

// Passes on the fields of a model that a person chooses; the others come from the data.
class ChosenFields final : public Fields {
 public:
  explicit ChosenFields(Fields& inner) : inner_(inner) {}
  void operator()(const char* name, bool& value, const char* help) override { inner_(name, value, help); }
  void operator()(const char* name, int64_t& value, const char* help) override { inner_(name, value, help); }
  void operator()(const char* name, double& value, const char* help) override { inner_(name, value, help); }
  void operator()(const char* name, std::string& value, const char* help) override { inner_(name, value, help); }
  void operator()(const char* name, std::vector<std::string>& value, const char* help) override {
    inner_(name, value, help);
  }
  bool reads() const override { return inner_.reads(); }

 protected:
  bool takes_data() const override { return false; }

 private:
  Fields& inner_;
};

// What is usual for models that know texts already (Devlin et al. 2019): small steps that end in none. How many passes, prepare() says.
constexpr std::string_view fine_tuning =
    R"({"learning_rate": 5e-5, "schedule": "linear", "warmup": -1, "weight_decay": 0.01, "average": 0,
        "patience": 0, "batch_tokens": 1536, "max_tokens": 512, "validate_every": -1, "checkpoint_every": -1})";

constexpr double lora_learning_rate = 3e-4;  // of additions, which begin at nothing

std::string chosen_family(const Task& task, std::string_view task_name, std::string_view wanted) {
  const std::vector<std::string> families = families_for(task);
  require(!families.empty(), "{}: found no family of models that can learn it", task_name);
  if (wanted.empty()) return families.front();
  if (std::ranges::find(families, wanted) == families.end())
    throw_unknown(fmt::format("family of models for {}", task_name), wanted, families);
  return std::string(wanted);
}

}  // namespace

std::string_view Task::tuning() const { return fine_tuning; }

double Predictions::unsure_below() const {
  if (confidences.empty()) return 0;
  std::vector<double> sorted = confidences;
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 20);
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

void Task::add_samples(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers, Samples& into) {
  for (int64_t i : numbers)
    for (const std::vector<Sequence>& part : parts(p, data[i])) into.add(part);
}

std::vector<std::string> families_for(const Task& task) {
  std::vector<std::string> names;
  for (const Family* family : catalogue<Family>())
    if (task.suits(family->abilities)) names.emplace_back(family->name);
  std::ranges::stable_partition(names, [&](const std::string& name) { return name == task.first_family(); });
  return names;
}

Recipe::Recipe(std::string_view task, std::string_view family, const RecipeBeginning& beginning)
    : task_name_(task), task_(find<TaskKind>(task).make()) {
  family_name_ = chosen_family(*task_, task, family);
  task_field_ = task_name_, family_field_ = family_name_;
  vocabulary = task_->vocabulary();
  model_ = find<Family>(family_name_).config();
  for (const std::string_view defaults :
       {task_->training(), beginning.tuned ? task_->tuning() : find<Family>(family_name_).training})
    from_json(defaults, *this, "defaults");
  if (beginning.lora) trainer.optimiser.learning_rate = lora_learning_rate;
}

void Recipe::fields(Fields& f) {
  f("task", task_field_, "what is trained");
  f("output", output, "the folder to write");
  examples.fields(f);
  task_->fields(f);
  f("from", from, "a trained model to go on from: its family, sizes and vocabulary are kept");
  f("freeze", freeze,
    "of that model: weights that stay as they are, as embeddings encoder.layer.0-5; or a number: the embeddings and so "
    "many layers");
  lora.fields(f);
  if (task_->reads_text()) vocabulary.fields(f);
  f("family", family_field_, fmt::format("family of models: {}", fmt::join(families_for(*task_), ", ")).c_str());
  ChosenFields chosen(f);
  model_->fields(chosen);
  trainer.fields(f);
  f("precision", precision,
    "what products multiply while it learns: f32, or bf16, faster where the CPU has AVX-512 BF16, several times with "
    "AMX; weights, sums "
    "and optimiser stay f32");
  f("storage", storage, "how the weights of the model are stored: f32, f16 or bf16");
  f("weights", weights, "as what they are used when nobody says it: f32, bf16 or int8; f32 if not given");
  card.fields(f);
}

void Recipe::check() const {
  require(task_field_ == task_name_, "--task: found {} in a recipe for {}", task_field_, task_name_);
  require(family_field_ == family_name_,
          "--family: found {} for a recipe of family {}; leave --family out, or the recipe", family_field_,
          family_name_);
  require(parse_precision(precision) != Precision::int8, "--precision: found int8, expected f32 or bf16");
  if (!weights.empty()) parse_precision(weights);
  require(weights.empty() || !lora.rank, "--weights: found {} for additions to a model, expected it without --lora",
          weights);
}

Examples Recipe::read() const { return read_examples(examples, task_->format()); }

bool is_tuned(const std::string& from) {
  if (from.empty()) return false;
  try {
    return described_model(find_model(from))->foreign();
  } catch (const Error&) {
    return false;  // a training that is resumed does not need it any more; any other says what is missing
  }
}

Recipe read_recipe(std::string_view yaml, const std::string& where) {
  std::string task, family, from;
  int64_t lora = 0;
  detail::Reader first(detail::Reader::yaml, yaml, where);
  first("task", task, "");
  first("family", family, "");
  first("from", from, "");
  first("lora", lora, "");
  require(!task.empty(), "{}: found no task, expected one, such as task: translation", where);
  Recipe recipe(task, family, {.tuned = is_tuned(from), .lora = lora > 0});
  from_yaml(yaml, recipe, where);
  recipe.check();
  return recipe;
}

}  // namespace fovea
