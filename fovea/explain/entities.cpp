#include "fovea/explain/entities.h"

#include <algorithm>

#include "fovea/train/metrics/entities.h"

namespace fovea {
namespace {

std::vector<std::string> words_in(const std::string& text, const std::vector<Span>& spans) {
  std::vector<std::string> words;
  for (Span span : spans) words.emplace_back(piece_of(text, span));
  return words;
}

bool is_chunk_label(const std::string& label) {
  return label == "O" || (label.size() > 2 && label[1] == '-' && std::string_view("BIES").find(label[0]) < 4);
}

std::vector<Entity> runs_of(const std::vector<std::string>& labels) {
  if (std::all_of(labels.begin(), labels.end(), is_chunk_label)) return find_entities(labels);
  std::vector<Entity> words;
  for (size_t i = 0; i < labels.size(); ++i) words.push_back({labels[i], i, i + 1});
  return words;
}

}  // namespace

std::vector<TextEntity> entities_in(const TaggedText& t) {
  std::vector<TextEntity> entities;
  for (const Entity& run : runs_of(t.tagged.labels)) {
    const auto first = t.tagged.probabilities.begin();
    const double least =
        *std::min_element(first + static_cast<std::ptrdiff_t>(run.begin), first + static_cast<std::ptrdiff_t>(run.end));
    entities.push_back({run.type, {t.words[run.begin].begin, t.words[run.end - 1].end}, least});
  }
  return entities;
}

std::string marked(const TaggedText& t) {
  std::string text;
  int64_t at = 0;
  for (const TextEntity& entity : entities_in(t)) {
    text += piece_of(t.text, {at, entity.span.begin});
    text += fmt::format("[{}]({})", piece_of(t.text, entity.span), entity.type);
    at = entity.span.end;
  }
  return text + t.text.substr(static_cast<size_t>(at));
}

HeatMap to_heat_map(const TaggedText& t, std::string title) {
  if (!t.tagged.attention) return {std::move(title), {}, {}, {}};
  const std::vector<std::string> words = words_in(t.text, t.words);
  return {std::move(title), words, words, t.tagged.attention.values<double>()};
}

}  // namespace fovea
