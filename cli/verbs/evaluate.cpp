// `fovea evaluate`: the scores of any system's output, or of a trained model.
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/answers.h"
#include "cli/verb.h"
#include "fovea/formats/matrix_text.h"
#include "fovea/generate/translate.h"
#include "fovea/models/gguf_config.h"
#include "fovea/models/zoo.h"
#include "fovea/train/evaluation.h"
#include "fovea/train/recipe.h"

namespace fovea::verbs {
namespace {

std::vector<std::string> known_tasks() {
  std::vector<std::string> names;
  for (const EvaluationKind* kind : catalogue<EvaluationKind>()) names.emplace_back(kind->name);
  return names;
}

class FieldNames final : public Fields {
 public:
  std::vector<std::string> names;
  void operator()(const char* name, bool&, const char*) override { names.emplace_back(name); }
  void operator()(const char* name, int64_t&, const char*) override { names.emplace_back(name); }
  void operator()(const char* name, double&, const char*) override { names.emplace_back(name); }
  void operator()(const char* name, std::string&, const char*) override { names.emplace_back(name); }
  void operator()(const char* name, std::vector<std::string>&, const char*) override { names.emplace_back(name); }
};

struct EvaluateOptions {
  static constexpr const char* positional = "hypotheses";
  std::string task, references, hypotheses = "-", model, weights, part;
  std::vector<std::string> data;
  bool json = false;
  std::shared_ptr<Evaluation> evaluation;  // of the task, whose flags it adds

  explicit EvaluateOptions(const CommandLine& line) {
    const std::string model_name = line.peek("model").value_or(""), named = line.peek("task").value_or("");
    task_ = model_name.empty() || !named.empty() ? named : task_of(model_name);
    if (task_.empty()) return;
    evaluation = find<EvaluationKind>(task_).make();
    refuse_flags_of_others(line);
    FieldNames own;
    evaluation->fields(own);
    for (const std::string& name : own.names)
      if (line.typed_flag(name)) typed_.push_back(name);
  }

  void fields(Fields& f) {
    f("task", task, fmt::format("{}; each has flags of its own", fmt::join(known_tasks(), ", ")).c_str());
    f("references", references, "what is right, in the lines of a file, plain, .gz or .zip; several files with commas");
    f("hypotheses", hypotheses, "what the system said, in as many lines of a file; - is stdin");
    f("model", model, "instead of files: score this trained model on a part of the data of its recipe.yaml");
    f("weights", weights, fmt::format("with --model: {}", weights_help).c_str());
    f("data", data, "with --model: these files instead of those that the recipe names");
    f("part", part,
      "with --model: test, validation or all; if not given test, and where the recipe keeps nothing for testing all of "
      "--data, or the validation");
    if (evaluation) evaluation->fields(f);
    f("json", json, "print the numbers as JSON");
  }

  const std::string& chosen_task() const { return task_; }

  // What was typed for the evaluation and is the task's to know, when that runs the model.
  void tell_typed(Task& t) const {
    const auto all = nlohmann::json::parse(to_json(*evaluation));
    nlohmann::json some = nlohmann::json::object();
    for (const std::string& name : typed_) some[name] = all[name];
    detail::Reader reader(detail::Reader::json, some.dump(), "flags");  // which passes over what the task does not know
    t.fields(reader);
  }

  // And the other way: what the task was told, how labels are meant for one, is the evaluation's to know.
  void take_told(Task& t) const {
    detail::Reader reader(detail::Reader::json, to_json(t), "recipe");
    evaluation->fields(reader);
  }

 private:
  // A flag that the task has no use for is a mistake rather than something to pass over.
  void refuse_flags_of_others(const CommandLine& line) {
    FieldNames own;
    evaluation->fields(own);
    for (const EvaluationKind* kind : catalogue<EvaluationKind>()) {
      FieldNames theirs;
      kind->make()->fields(theirs);
      for (const std::string& name : theirs.names)
        require(std::ranges::find(own.names, name) != own.names.end() || !line.typed_flag(name),
                "{}: found it beside --task {}, expected --task {}", long_flag(name), task_, kind->name);
    }
  }

  // Of a model of others, which has no recipe: what it does, if that can be scored without one.
  static std::string task_of_others(const std::filesystem::path& model) {
    const bool gguf = model.extension() == ".gguf";
    std::string family;
    detail::Reader(detail::Reader::json, gguf ? gguf_config(Gguf(model)) : read_text(model / "config.json"),
                   model.string())("model_type", family, "");
    for (const Family* known : catalogue<Family>()) {
      if (known->name != family) continue;
      if (known->abilities.writes_on()) return "language";
      if (known->abilities.labels_pictures) return "images";
    }
    return {};
  }

  static std::string task_of(const std::string& model) {
    const std::filesystem::path folder = find_model(model), file = folder / "recipe.yaml";
    if (!path_exists(file))
      if (const std::string known = task_of_others(folder); !known.empty()) return known;
    std::string task;
    detail::Reader(detail::Reader::yaml, read_text(file), file.string())("task", task, "");
    return task;
  }

  std::string task_;
  std::vector<std::string> typed_;
};

// The tags of a sentence become lines in two columns, as the files of taggers have them.
LineFile file_of(const std::string& name, const std::vector<std::string>& lines, const std::string& task) {
  if (task != "tagging") return {name, lines};
  LineFile file = {name, {}};
  for (const std::string& line : lines) {
    for (const std::string& tag : split_text(line, ' ')) file.lines.push_back("_ " + tag);
    file.lines.emplace_back();
  }
  return file;
}

std::vector<int64_t> numbers_of(const Examples& examples, const std::string& part) {
  if (part == "test") return examples.test;
  if (part == "validation") return examples.validation;
  if (part != "all") throw_unknown("part of the data", part, {"test", "validation", "all"});
  std::vector<int64_t> numbers(static_cast<size_t>(examples.data.size()));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

// What was learned from is not always at hand where the model is used.
void require_data(const EvaluateOptions& o, const Recipe& recipe, const std::filesystem::path& file) {
  for (const std::string& path : recipe.examples.data) {
    std::error_code error;
    if (path == "-" || std::filesystem::exists(path.substr(0, path.find(".zip:") + 4), error) ||
        std::filesystem::exists(path, error))
      continue;
    if (!o.data.empty()) throw Error(Error::not_found, "--data: found no file {}", path);
    const std::string source =
        recipe.card.attribution.empty() ? "" : fmt::format(" (its source: {})", recipe.card.attribution);
    throw Error(Error::not_found,
                "{}: names the data {}, which is not here{}; get it and run this beside it, or give other files of the "
                "kind: fovea evaluate -m {} --data FILE --part all",
                file.string(), path, source, o.model);
  }
}

// What the model answers to an evaluation's own questions.
std::optional<Outputs> answers_of_model(const EvaluateOptions& o) {
  if (o.data.size() != 1 || o.task.empty()) return {};
  Outputs outputs = {{read_lines(o.data[0])}, {o.model, {}}};
  const auto questions = o.evaluation->questions(outputs.references[0]);
  if (!questions) return {};
  require(o.references.empty() && o.hypotheses == "-",
          "--model: found --references or hypotheses beside it, expected the file in --data");
  const std::filesystem::path folder = find_model(o.model);
  GenerationConfig config = read_generation_config(folder);
  config.n_best = 1;
  const Pretrained model = load_pretrained(folder, load_as(o.weights));
  ProgressLine progress({.unit = "sentences", .whole = static_cast<int64_t>(questions->size())});
  translate(model.as<Generator>(), *model.tokenizer, *questions, config,
            {.on_result = [&](size_t, const Translations& t) {
              outputs.hypotheses.lines.push_back(t.found[0].text);
              progress.add(1, 1);
            }});
  return outputs;
}

// The recipe that it was trained with; of a model of others one that says nothing.
Recipe recipe_of(const EvaluateOptions& o, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "recipe.yaml";
  const bool ours = path_exists(file);
  Recipe recipe = ours ? read_recipe(read_text(file), file.string()) : Recipe(o.chosen_task());
  require(ours || !o.data.empty(), "{}: found no recipe.yaml that names its data, expected --data", o.model);
  if (!o.data.empty()) recipe.examples.data = o.data, recipe.examples.validation.clear();
  recipe.examples.validate_on = 0;
  o.tell_typed(recipe.task());
  o.take_told(recipe.task());
  return recipe;
}

std::string part_of(const EvaluateOptions& o, const Recipe& recipe, const std::filesystem::path& folder) {
  const bool tests = recipe.examples.test > 0 || recipe.examples.test_every > 0;
  if (!o.part.empty()) return o.part;
  return tests ? "test" : o.data.empty() && path_exists(folder / "recipe.yaml") ? "validation" : "all";
}

// What the model says, and what was expected, of a part of its data.
Outputs outputs_of_model(const EvaluateOptions& o, double& unsure_below) {
  if (auto outputs = answers_of_model(o)) return std::move(*outputs);
  require(o.task.empty() && o.references.empty() && o.hypotheses == "-",
          "--model: found --task, --references or hypotheses beside it, which the model's recipe stands for");
  const std::filesystem::path folder = find_model(o.model), file = folder / "recipe.yaml";
  Recipe recipe = recipe_of(o, folder);
  require_data(o, recipe, file);
  const std::string part = part_of(o, recipe, folder);
  if (part == "all") recipe.examples.hold_out = recipe.examples.test = 0;  // nothing is cut off from a document
  const Examples examples = recipe.read();
  const std::vector<int64_t> numbers = numbers_of(examples, part);
  require(!numbers.empty(), "{}: found no examples for {}; --part all takes all of --data", o.model, part);
  const Pretrained model = load_pretrained(folder, load_as(o.weights));
  ProgressLine progress({.unit = "examples", .whole = static_cast<int64_t>(numbers.size())});
  auto done = [&](size_t ready) { progress.add(static_cast<int64_t>(ready), static_cast<int64_t>(ready)); };
  const Predictions p = recipe.task().predict(model, examples.data, numbers, {.done = done});
  unsure_below = p.unsure_below();
  return {{file_of("references", p.references, recipe.task_name())},
          file_of("hypotheses", p.hypotheses, recipe.task_name())};
}

Outputs outputs_of_files(const EvaluateOptions& o) {
  Outputs outputs;
  if (!o.references.empty())
    for (const std::string& path : split_text(o.references, ',')) outputs.references.push_back(read_lines(path));
  outputs.hypotheses = read_lines(o.hypotheses);
  return outputs;
}

void run(const EvaluateOptions& o) {
  require(!o.model.empty() || (o.data.empty() && o.part.empty()), "--data, --part: found without --model");
  require(o.evaluation != nullptr, "fovea evaluate: found no --task, expected one of {}",
          fmt::join(known_tasks(), ", "));
  require(!o.references.empty() || !o.model.empty() || !o.evaluation->needs_references(),
          "fovea evaluate: found no --references, expected a file, or several with commas");
  double unsure_below = 0;
  const Outputs outputs = o.model.empty() ? outputs_of_files(o) : outputs_of_model(o, unsure_below);
  const Outcome outcome = o.evaluation->run(outputs);
  if (!o.json) return fmt::print("{}", outcome.text);
  nlohmann::ordered_json json = {{"task", o.chosen_task()}, {"lines", outputs.hypotheses.lines.size()}};
  json.update(nlohmann::ordered_json::parse(outcome.json));
  if (unsure_below < 0) json["unsure_below"] = unsure_below;  // as generation_config.json has it from the validation
  fmt::print("{}\n", json.dump());
}

}  // namespace

extern const Verb evaluate = {
    .name = "evaluate",
    .group = "measure",
    .help = "scores of a system's output: BLEU, chrF, ROUGE, CIDEr, F1, accuracy, AER, perplexity",
    .examples =
        "fovea evaluate --task translation --references test.en output.en\n"
        "fovea evaluate -m my-model --data pairs.tsv --part all\n"
        "fovea evaluate --task translation --references a.en,b.en --lowercase --json - < output.en\n"
        "fovea evaluate --task summarization --references test.txt --stemmer output.txt\n"
        "fovea evaluate --task tagging --references test.conll output.conll\n"
        "fovea evaluate --task classification --references test.tsv output.tsv\n"
        "fovea evaluate --task alignment --references gold.pharaoh output.pharaoh\n"
        "fovea evaluate --task language --references text.txt log_probabilities.txt\n"
        "fovea evaluate -m my-language-model --data text.txt --stride 16\n"
        "fovea evaluate -m my-looker --data pictures\n"
        "fovea evaluate --task demands -m en-de --data demands.tsv --failures",
    .run = [](const EvaluateOptions& o) { run(o); }};

}  // namespace fovea::verbs
