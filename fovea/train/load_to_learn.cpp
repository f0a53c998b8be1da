#include "fovea/train/load_to_learn.h"

#include <algorithm>

#include "fovea/base/file.h"
#include "fovea/data/text/bytes.h"
#include "fovea/models/stored_weights.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

bool covers(const Abilities& found, const Abilities& needs) {
  for (bool Abilities::*ability :
       {&Abilities::encodes, &Abilities::generates, &Abilities::labels_texts, &Abilities::labels_words,
        &Abilities::labels_tokens, &Abilities::fills_gaps, &Abilities::finds_answers, &Abilities::encodes_pictures,
        &Abilities::labels_pictures})
    if (needs.*ability && !(found.*ability)) return false;
  return true;
}

bool all_in(const std::vector<std::string>& labels, const std::vector<std::string>& known) {
  return std::all_of(labels.begin(), labels.end(), [&](const std::string& label) {
    return std::find(known.begin(), known.end(), label) != known.end();
  });
}

// Whether the model does what the data asks for: the ability, and of labels all, with the same meaning.
bool does(const Model& model, const DataFacts& facts) {
  if (!covers(Abilities::of(model), facts.needs)) return false;
  if (const auto* texts = can<TextLabeller>(model); texts && facts.needs.labels_texts) {
    const Labels& labels = texts->labels();
    if (labels.kind() == Labels::number || facts.labelling == "number")
      return labels.kind() == Labels::number && facts.labelling == "number";
    return (labels.kind() == Labels::several) == (facts.labelling == "several") && all_in(facts.labels, labels.names());
  }
  if (const auto* pictures = can<PictureLabeller>(model); pictures && facts.needs.labels_pictures)
    return pictures->labels().kind() == Labels::one && all_in(facts.labels, pictures->labels().names());
  if (const auto* tokens = can<TokenLabeller>(model); tokens && facts.needs.labels_tokens)
    return all_in(facts.labels, tokens->token_labels());
  return true;
}

}  // namespace

void check_fits(const Abilities& found, const Abilities& needs, std::string_view where, std::string_view what,
                std::string_view task) {
  require(covers(found, needs), "{}: found {} does not learn {}", where, what, task);
}

Pretrained load_to_learn(const fs::path& folder, const LearningPlan& plan) {
  require(!is_gguf(folder),
          "--from: found {}, expected a folder: what a GGUF file holds was rounded and does not learn",
          folder.string());
  LoadOptions options = {.learns = true, .note = plan.say};
  const std::unique_ptr<Model> stored = described_model(folder);
  const DataFacts facts = stored->vocabulary() > 0 ? plan.facts(*load_tokenizer(folder)) : plan.facts(Bytes());
  if (stored->foreign() && !does(*stored, facts)) options.refit = Refit{facts, plan.random};
  Pretrained p = load_pretrained(folder, options);
  check_fits(Abilities::of(*p.model), facts.needs, "--from",
             fmt::format("{}, a model of family {}, which", folder.string(), p.model->family()), plan.task);
  return p;
}

std::set<std::string> new_weights(Model& model, const fs::path& folder) {
  std::set<std::string> stored, found;
  for (const std::string& name : open_weights(folder)->names()) stored.insert(model.weight_path(name));
  const bool labels = can<TextLabeller>(model) || can<TokenLabeller>(model) || can<PictureLabeller>(model);
  for_each_weight(model, [&](const std::string& path, const Weight&, const Init&) {
    const Model::Part part = model.part_of(path);
    if ((part == Model::Part::head && labels) || (part != Model::Part::body && !stored.count(path))) found.insert(path);
  });
  return found;
}

void keep_files(const fs::path& from, const fs::path& to) {
  for (const char* name :
       {"added_tokens.json", "chat_template.jinja", "merges.txt", "sentencepiece.bpe.model", "special_tokens_map.json",
        "spiece.model", "tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json", "vocab.txt"})
    if (path_exists(from / name) && !path_exists(to / name)) fs::copy_file(from / name, to / name);
}

}  // namespace fovea
