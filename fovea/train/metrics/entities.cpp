#include "fovea/train/metrics/entities.h"

#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/train/metrics/python_text.h"

namespace fovea {
namespace {

struct Tag {
  std::string mark = "O";  // the first character: B, I, E, S or O
  std::string type = "_";
};

Tag parse(const std::string& text) {
  require(!text.empty(), "tags: found an empty one, expected O or B-, I-, E- or S- with a type");
  const size_t mark = python::characters(text).front().size();
  const std::string rest = text.substr(mark);
  const size_t dash = rest.find('-');
  std::string type = dash == std::string::npos ? rest : rest.substr(dash + 1);
  return {text.substr(0, mark), type.empty() ? "_" : type};
}

bool outside(const Tag& tag) { return tag.mark == "O" || tag.mark == "."; }
bool one_of(const Tag& tag, std::string_view marks) {
  return tag.mark.size() == 1 && marks.find(tag.mark[0]) != std::string_view::npos;
}

bool ends(const Tag& before, const Tag& tag) {
  return one_of(before, "ES") || (one_of(before, "BI") && one_of(tag, "BSO")) ||
         (!outside(before) && before.type != tag.type);
}

bool begins(const Tag& before, const Tag& tag) {
  return one_of(tag, "BS") || (one_of(before, "ESO") && one_of(tag, "EI")) ||
         (!outside(tag) && before.type != tag.type);
}

}  // namespace

std::vector<Entity> find_entities(const std::vector<std::string>& tags) {
  std::vector<Entity> entities;
  Tag before = {"O", ""};
  size_t begin = 0;
  for (size_t i = 0; i <= tags.size(); ++i) {
    const Tag tag = i < tags.size() ? parse(tags[i]) : Tag();
    if (ends(before, tag)) entities.push_back({before.type, begin, i});
    if (begins(before, tag)) begin = i;
    before = tag;
  }
  return entities;
}

namespace {

// Every token's part in its entity: equal for tags of all schemes that mean the same.
std::vector<std::string> meanings(const std::vector<Entity>& entities, size_t tokens) {
  std::vector<std::string> tags(tokens, "O");
  for (const Entity& entity : entities) {
    for (size_t i = entity.begin; i < entity.end; ++i) tags[i] = (i == entity.begin ? "B-" : "I-") + entity.type;
  }
  return tags;
}

}  // namespace

EntityScores score_entities(const std::vector<std::vector<std::string>>& references,
                            const std::vector<std::vector<std::string>>& hypotheses) {
  require(references.size() == hypotheses.size(), "tags: found {} sentences, expected {} as in the references",
          hypotheses.size(), references.size());
  // As seqeval does it: one sequence with an O behind each sentence.
  std::vector<std::string> actual, predicted;
  size_t tokens = 0;
  for (size_t s = 0; s < references.size(); ++s) {
    require(references[s].size() == hypotheses[s].size(),
            "tags: found {} in sentence {}, expected {} as in the references", hypotheses[s].size(), s + 1,
            references[s].size());
    tokens += references[s].size();
    for (size_t i = 0; i < references[s].size(); ++i) {
      actual.push_back(references[s][i]);
      predicted.push_back(hypotheses[s][i]);
    }
    actual.push_back("O");
    predicted.push_back("O");
  }
  const std::vector<Entity> in_references = find_entities(actual), in_hypotheses = find_entities(predicted);
  const std::vector<std::string> wanted = meanings(in_references, actual.size()),
                                 said = meanings(in_hypotheses, predicted.size());
  size_t right = 0, at = 0;
  for (const std::vector<std::string>& sentence : references) {
    for (size_t i = 0; i < sentence.size(); ++i, ++at) right += wanted[at] == said[at] ? 1 : 0;
    ++at;  // the O behind it
  }
  const std::set<Entity> sought(in_references.begin(), in_references.end()),
      found(in_hypotheses.begin(), in_hypotheses.end());
  std::map<std::string, ClassCounts> types;
  for (const Entity& entity : sought) ++types[entity.type].actual;
  for (const Entity& entity : found) {
    ++types[entity.type].predicted;
    types[entity.type].correct += sought.count(entity) ? 1 : 0;
  }
  std::vector<ClassCounts> counts;
  for (auto& [type, count] : types) counts.push_back({type, count.correct, count.predicted, count.actual});
  return {score_classes(counts, F1::of_precision_and_recall),
          tokens > 0 ? static_cast<double>(right) / static_cast<double>(tokens) : 0};
}

std::string EntityScores::report(int digits) const {
  return classification_report(*this, {{"micro avg", micro}, {"macro avg", macro}, {"weighted avg", weighted}}, digits);
}

}  // namespace fovea
