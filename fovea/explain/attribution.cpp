#include "fovea/explain/attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/explain/colours.h"
#include "fovea/explain/measure.h"

namespace fovea {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view order[] = {
    "attention", "rollout", "value", "gradient-attention", "gradient-input", "integrated-gradients", "leave-one-out"};

size_t place_in_order(const Method& m) {
  return static_cast<size_t>(std::find(std::begin(order), std::end(order), m.name) - std::begin(order));
}

double largest(const std::vector<double>& scores) {
  double most = 0;
  for (double s : scores) most = std::max(most, std::abs(s));
  return most > 0 ? most : 1;
}

std::string line_of_answer(const Attributions& a) {
  return fmt::format("{}\t{:.4f}\n", visible(a.answer), a.probability);
}

std::string notes(const Attributions& a) {
  std::string text;
  for (const Attribution& m : a.methods) {
    if (!m.unfit.empty()) text += fmt::format("{}: does not fit: {}\n", m.method->name, m.unfit);
    if (!m.note.empty()) text += fmt::format("{}: {}\n", m.method->name, m.note);
  }
  return text;
}

double rounded(double x) { return std::round(x * 1e6) / 1e6; }

Json rounded(const std::vector<double>& numbers) {
  Json list = Json::array();
  for (double x : numbers) list.push_back(rounded(x));
  return list;
}

}  // namespace

std::vector<const Method*> methods_named(const std::vector<std::string>& names) {
  std::vector<const Method*> found;
  for (const std::string& name : names) {
    if (name == "all") {
      found.assign(catalogue<Method>().begin(), catalogue<Method>().end());
      std::stable_sort(found.begin(), found.end(),
                       [](const Method* a, const Method* b) { return place_in_order(*a) < place_in_order(*b); });
      return found;
    }
    found.push_back(&find<Method>(name));
  }
  require(!found.empty(), "--method: found none, expected names of methods, or all");
  return found;
}

Attribution attributed_by(const Question& question, const Method& method, const MethodOptions& options) {
  Attribution a = {.method = &method};
  try {
    Scores s = method.scores(question, options);
    a.tokens = std::move(s.tokens), a.note = std::move(s.note);
  } catch (const Error& error) {
    if (error.kind() != Error::unsupported) throw;
    a.unfit = error.what();
    return a;
  }
  const AskedText& text = question.text();
  a.words.resize(text.words.size());
  for (size_t i = 0; i < text.word_of.size(); ++i)
    if (text.word_of[i] >= 0) a.words[static_cast<size_t>(text.word_of[i])] += a.tokens.at(i);
  return a;
}

Attributions attribute(const Question& question, const std::vector<std::string>& methods,
                       const MethodOptions& options) {
  Attributions all = {question.text(), question.answer(), question.probability(), {}, question.choices()};
  for (const Method* m : methods_named(methods)) all.methods.push_back(attributed_by(question, *m, options));
  return all;
}

std::string shown_score(double score) { return fmt::format("{:.4f}", std::abs(score) < 5e-5 ? 0.0 : score); }

std::string to_text(const Attributions& a) {
  std::vector<std::string> words;
  for (Span span : a.text.words) words.push_back(visible(piece_of(a.text.text, span)));
  const int first = std::clamp(static_cast<int>(Measure::cells().widest(words)), 1, 30);
  std::string text = line_of_answer(a), head = padded("", first);
  std::vector<const Attribution*> shown;
  for (const Attribution& m : a.methods) {
    if (!m.unfit.empty()) continue;
    shown.push_back(&m);
    head += "  " + padded(std::string(m.method->name), 8, true);
  }
  if (!shown.empty()) text += head + "\n";
  for (size_t i = 0; i < words.size() && !shown.empty(); ++i) {
    text += padded(Measure::cells().shortened(words[i], first), first);
    for (const Attribution* m : shown)
      text += "  " + padded(shown_score(m->words[i]), std::max(8, cells(m->method->name)), true);
    text += "\n";
  }
  return text + notes(a);
}

std::string to_terminal(const Attributions& a, const TerminalLook& look) {
  if (!look.colour) return to_text(a);
  std::string text = line_of_answer(a);
  for (const Attribution& m : a.methods) {
    if (!m.unfit.empty()) continue;
    const double most = largest(m.words);
    text += fmt::format("{}\n  ", m.method->name);
    for (size_t i = 0; i < m.words.size(); ++i)
      text += painted_signed(m.words[i] / most, visible(piece_of(a.text.text, a.text.words[i]))) + " ";
    text += "\n";
  }
  return text + notes(a);
}

std::string to_json(const Attributions& a) {
  Json json = {{"text", a.text.text}, {"answer", a.answer}, {"probability", rounded(a.probability)}};
  json["choices"] = Json::array();
  for (const auto& [answer, shown] : a.choices) json["choices"].push_back(Json::array({answer, shown}));
  Json tokens = Json::array(), words = Json::array(), methods = Json::array();
  for (size_t i = 0; i < a.text.ids.size(); ++i)
    tokens.push_back({{"text", a.text.pieces[i]},
                      {"span", {a.text.spans[i].begin, a.text.spans[i].end}},
                      {"word", a.text.word_of[i]}});
  for (Span span : a.text.words)
    words.push_back({{"text", piece_of(a.text.text, span)}, {"span", {span.begin, span.end}}});
  for (const Attribution& m : a.methods) {
    Json one = {{"name", m.method->name}, {"formula", m.method->formula}, {"paper", m.method->paper}};
    if (m.unfit.empty())
      one.update({{"tokens", rounded(m.tokens)}, {"words", rounded(m.words)}});
    else
      one["unfit"] = m.unfit;
    if (!m.note.empty()) one["note"] = m.note;
    methods.push_back(std::move(one));
  }
  json["tokens"] = std::move(tokens), json["words"] = std::move(words), json["methods"] = std::move(methods);
  return json.dump();
}

}  // namespace fovea
