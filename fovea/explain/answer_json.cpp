#include "fovea/explain/answer_json.h"

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "fovea/explain/recording_json.h"

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;

double six_digits(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

Json rows_of(const Tensor& matrix) {
  Json rows = Json::array();
  for (int64_t i = 0; i < matrix.size(0); ++i) {
    Json row = Json::array();
    for (double value : matrix.select(0, i).values<double>()) row.push_back(six_digits(value));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json part_of(const std::string& text, Span span) {
  return {{"text", piece_of(text, span)}, {"span", {span.begin, span.end}}};
}

Json tokens_of(const std::string& text, const std::vector<Span>& spans) {
  Json tokens = Json::array();
  for (Span span : spans) tokens.push_back(part_of(text, span));
  return tokens;
}

void add(const Translation& t, Json& into) {
  into["text"] = t.text;
  into["score"] = six_digits(t.score);
  into["unsure"] = !t.unsure.empty();
  for (Span span : t.unsure) into["unsure_spans"].push_back({span.begin, span.end});
  if (t.copied) into["copied"] = tokens_of(t.text, *t.copied);
  into["tokens"] = tokens_of(t.text, t.tokens);
  for (size_t i = 0; i < t.log_probabilities.size() && i < t.tokens.size(); ++i)
    into["tokens"][i]["log_probability"] = six_digits(t.log_probabilities[i]);
  if (t.attention) into["weights"] = rows_of(t.attention);
}

// A token may be part of a character only; its text then has U+FFFD in its place.
std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string to_json(const std::string& source, const Translations& translations) {
  Json json = {{"source", source}, {"source_tokens", tokens_of(source, translations.source)}};
  for (size_t i = 0; i < translations.found.size(); ++i) {
    Json other;
    add(translations.found[i], i == 0 ? json : other);
    if (i > 0) json["others"].push_back(std::move(other));
  }
  return line_of(json);
}

std::string to_json(const TaggedText& t) {
  Json json = {{"text", t.text}, {"entities", Json::array()}, {"words", tokens_of(t.text, t.words)}};
  for (const TextEntity& entity : entities_in(t)) {
    Json part = {{"type", entity.type}};
    part.update(part_of(t.text, entity.span));
    part["probability"] = six_digits(entity.probability);
    json["entities"].push_back(std::move(part));
  }
  for (size_t i = 0; i < t.words.size(); ++i) {
    json["words"][i]["label"] = t.tagged.labels[i];
    json["words"][i]["probability"] = six_digits(t.tagged.probabilities[i]);
  }
  if (t.tagged.attention) json["weights"] = rows_of(t.tagged.attention);
  return line_of(json);
}

namespace {

void add_labels(Json& json, const Classified& c, const Labels& labels) {
  const std::vector<std::string>& names = labels.names();
  if (labels.kind() == Labels::one) json["label"] = names[c.best];
  if (labels.kind() == Labels::one) json["probability"] = six_digits(c.probabilities[c.best]);
  if (labels.kind() == Labels::number) json["value"] = six_digits(c.probabilities[0]);
  if (labels.kind() == Labels::several) json["labels"] = Json::array();
  if (labels.kind() == Labels::several)
    for (size_t i : c.chosen()) json["labels"].push_back(names[i]);
  if (labels.kind() != Labels::number) json["unsure"] = is_unsure(c, labels);
  for (size_t i = 0; labels.kind() != Labels::number && i < names.size(); ++i)
    json["probabilities"][names[i]] = six_digits(c.probabilities[i]);
}

}  // namespace

std::string to_json(const std::string& path, const SeenPicture& seen, const Labels& labels, const PictureShape& shape) {
  Json json = {{"picture", path}};
  add_labels(json, seen.label, labels);
  if (seen.looks.empty()) return line_of(json);
  json["patches"] = {shape.patches_down, shape.patches_across};
  for (const std::vector<double>& look : seen.looks) {
    Json weights = Json::array();
    for (double weight : look) weights.push_back(six_digits(weight));
    json["looked"].push_back(weights);
  }
  return line_of(json);
}

std::string to_json(const std::string& text, const Classified& c, const Labels& labels) {
  Json json = {{"text", text}};
  add_labels(json, c, labels);
  if (c.unread > 0) json["unread"] = c.unread;
  json["tokens"] = tokens_of(text, c.tokens);
  for (size_t i = 0; i < c.weights.size(); ++i) json["tokens"][i]["weight"] = six_digits(c.weights[i]);
  return line_of(json);
}

std::string to_json(const Report& report) {
  Json json = {{"text", report.text}, {"answer", report.answer}, {"heads", Json::array()}};
  for (const HeadReport& h : report.heads) {
    Json rows = Json::array();
    for (size_t row = 0; row < h.rows.size(); ++row) {
      rows.push_back(Json::array());
      for (size_t column = 0; column < h.columns.size(); ++column) rows.back().push_back(six_digits(h.at(row, column)));
    }
    json["heads"].push_back(
        {{"place", h.place}, {"head", h.head}, {"rows", h.rows}, {"columns", h.columns}, {"weights", std::move(rows)}});
  }
  for (const WrittenToken& w : report.written)
    json["written"].push_back({{"piece", w.piece},
                               {"probability", std::isnan(w.probability) ? Json() : Json(six_digits(w.probability))},
                               {"alternatives", alternatives_json(w.alternatives)}});
  return line_of(json);
}

}  // namespace fovea
