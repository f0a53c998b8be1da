#include "fovea/train/card.h"

#include <fmt/ranges.h>

#include "fovea/base/file.h"

namespace fovea {
namespace {

DType storage_of(const std::string& name) {
  if (name == "f32") return DType::f32;
  if (name == "f16") return DType::f16;
  if (name == "bf16") return DType::bf16;
  throw_unknown("storage of weights", name, {"f32", "f16", "bf16"});
}

// Hugging Face's form: YAML between lines of dashes, then Markdown.
std::string card(const Recipe& r, int64_t weights, const Tokenizer* tokenizer, const std::vector<Score>& scores) {
  const CardConfig& c = r.card;
  std::string text = fmt::format("---\nlibrary_name: fovea\ntask: {}\n", r.task_name());
  if (!c.license.empty()) text += fmt::format("license: {}\n", yaml_scalar(c.license));
  std::vector<std::string> languages;
  for (const std::string& language : c.languages) languages.push_back(yaml_scalar(language));
  if (!languages.empty()) text += fmt::format("language: [{}]\n", fmt::join(languages, ", "));
  if (!scores.empty()) text += "validation:\n";
  for (const Score& score : scores) text += fmt::format("  {}: {:.4g}\n", score.name, score.value);
  const std::string folder = std::filesystem::path(r.output).filename().string();
  text += fmt::format("---\n\n# {}\n\n", !c.name.empty() ? c.name : !folder.empty() ? folder : r.task_name());
  if (!c.about.empty()) text += c.about + "\n\n";
  text += fmt::format("- {} with {} weights, stored as {}{}\n", r.family_name(), weights, r.storage,
                      r.weights.empty() ? "" : ", used as " + r.weights);
  if (tokenizer) text += fmt::format("- tokenizer: {}, {} entries\n", tokenizer->kind(), tokenizer->size());
  text += fmt::format("- trained on {}\n", fmt::join(r.examples.data, ", "));
  if (!c.attribution.empty()) text += fmt::format("- data: {}\n", c.attribution);
  if (!c.license.empty()) text += fmt::format("- licence: {}\n", c.license);
  text += "\n## Validation\n\n| score | value |\n|---|---|\n";
  for (const Score& score : scores) text += fmt::format("| {} | {:.4g} |\n", score.name, score.value);
  text += "\n## Made by\n\n```sh\nfovea train recipe.yaml\n```\n\nwith the recipe.yaml beside this card.\n";
  return text;
}

}  // namespace

void save_trained(const std::filesystem::path& folder, Recipe& recipe, const TrainedModel& trained,
                  const std::vector<Score>& scores) {
  const auto& [model, tokenizer, lora, base] = trained;
  if (lora)
    lora->save(folder, model, base);
  else
    save_model(folder, model, {.storage = storage_of(recipe.storage), .used_as = recipe.weights});
  if (tokenizer) tokenizer->save(folder);
  write_text(folder / "recipe.yaml", to_yaml(recipe));
  write_text(folder / "README.md", card(recipe, count(model), tokenizer, scores));
}

}  // namespace fovea
