#include "fovea/explain/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/explain/survey.h"
#include "fovea/generate/config.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

constexpr double nothing = 1e-12;  // a weight of 0 in the second is taken as this

bool translates(const Pretrained& p) { return can<Generator>(*p.model) && can<Encoder>(*p.model); }

RecordOptions options_of(const Pretrained& p) {
  RecordOptions options;
  if (can<Generator>(*p.model)) options.generation = read_generation_config(p.folder);
  return options;
}

std::string answer_of(const Pretrained& p, const std::string& text) {
  const std::string answer = record(*p.model, *p.tokenizer, text, options_of(p)).answer;
  return answer.substr(0, answer.find('\t'));  // a label without its probability
}

bool same_tokens(const Recording& a, const Recording& b) {
  if (a.places.empty() || a.places.size() != b.places.size()) return false;
  for (const auto& [name, s] : a.sequences) {
    const auto other = b.sequences.find(name);
    if (other == b.sequences.end() || other->second.ids != s.ids) return false;
  }
  return true;
}

// What the heads of a place put out, [queries, heads, width]: of one call each, or of all calls if there is one place.
Tensor outputs_of(const std::vector<Tensor>& calls, size_t place, size_t places) {
  const auto of_first = [](const Tensor& call) { return call.select(0, 0); };
  if (calls.size() == places) return of_first(calls[place]);
  if (places != 1 || calls.empty()) return {};
  std::vector<Tensor> all;
  for (const Tensor& call : calls) all.push_back(of_first(call));
  return concat(all, 0);
}

}  // namespace

void ModelDifference::Sums::add(const std::vector<double>& a, const std::vector<double>& b, size_t width) {
  for (size_t i = 0; i < a.size(); ++i) {
    const double away = a[i] - b[i];
    squares += away * away, of_first += a[i] * a[i], largest = std::max(largest, std::abs(away));
  }
  for (size_t i = 0; width > 0 && i + width <= a.size(); i += width, ++tokens)
    cosines += cosine(a.data() + i, b.data() + i, width);
}

StateDifference ModelDifference::Sums::result() const {
  return {of_first > 0 ? std::sqrt(squares / of_first) : 0, largest, tokens > 0 ? cosines / tokens : 1};
}

ModelDifference::Seen ModelDifference::look(const Pretrained& p, const std::string& text,
                                            const std::string& translation) {
  LayerStates states(*p.model);
  Recording seen;
  {
    Watched watched(&states);
    seen = record_text_pair(p, {text, translation}, options_of(p));
  }
  return {std::move(seen), states.layers(), states.attention_outputs()};
}

void ModelDifference::add_layers(const Seen& a, const Seen& b) {
  for (const LayerState& s : a.layers) {
    const auto other =
        std::find_if(b.layers.begin(), b.layers.end(), [&](const LayerState& o) { return o.layer == s.layer; });
    if (other == b.layers.end() || other->width() != s.width()) continue;
    const std::vector<double> first = s.values(), second = other->values();
    if (first.size() != second.size()) continue;
    auto at = std::find_if(layers_.begin(), layers_.end(), [&](const Layer& l) { return l.name == s.layer; });
    if (at == layers_.end()) at = layers_.insert(at, {s.layer, {}});
    at->sums.add(first, second, static_cast<size_t>(s.width()));
  }
}

ModelDifference::Head& ModelDifference::head_of(const std::string& place, int64_t head) {
  for (Head& h : heads_)
    if (h.place == place && h.head == head) return h;
  return heads_.emplace_back(Head{place, head});
}

void ModelDifference::add_heads(const Seen& a, const Seen& b) {
  const size_t places = a.recording.places.size();
  for (size_t p = 0; p < places; ++p) {
    const RecordedPlace &first = a.recording.places[p], &second = b.recording.places[p];
    if (first.rows() != second.rows() || first.columns() != second.columns() || first.heads != second.heads) continue;
    const Tensor first_out = outputs_of(a.heads, p, places), second_out = outputs_of(b.heads, p, places);
    for (size_t n = 0; n < first.heads.size(); ++n) {
      Head& h = head_of(first.place.path, first.heads[n]);
      const std::vector<double> x = first.part(n, {}, {}).values<double>(), y = second.part(n, {}, {}).values<double>();
      for (size_t i = 0; i < x.size(); ++i) {
        h.largest = std::max(h.largest, std::abs(x[i] - y[i]));
        if (x[i] > 0) h.kl += x[i] * std::log(x[i] / std::max(y[i], nothing));
      }
      h.rows += static_cast<double>(first.rows());
      const auto head = static_cast<int64_t>(n);
      if (!first_out || !second_out || first_out.shape() != second_out.shape() || head >= first_out.size(1)) continue;
      h.output.add(first_out.select(1, head).values<double>(), second_out.select(1, head).values<double>(), 0);
    }
  }
}

void ModelDifference::add(const std::string& text, const std::string& translation) {
  ++texts_;
  const std::string first = answer_of(a_, text), second = answer_of(b_, text);
  if (first != second) changed_.push_back({text, first, second});
  const std::string told = translates(a_) && translation.empty() ? first : translation;
  const Seen a = look(a_, text, told), b = look(b_, text, told);
  if (!same_tokens(a.recording, b.recording)) return;
  ++compared_;
  add_layers(a, b);
  add_heads(a, b);
}

DifferenceReport ModelDifference::report(double tolerance) const {
  DifferenceReport r = {.texts = texts_, .compared = compared_, .layers = {}, .heads = {}, .changed = changed_};
  for (const Layer& l : layers_) {
    r.layers.push_back({l.name, l.sums.result()});
    if (r.first_layer.empty() && r.layers.back().state.relative > tolerance) r.first_layer = l.name;
  }
  for (const Head& h : heads_)
    r.heads.push_back({h.place, h.head, h.rows > 0 ? h.kl / h.rows : 0, h.largest, h.output.result()});
  return r;
}

std::string to_text(const DifferenceReport& r, double tolerance) {
  std::string text = fmt::format("{} text{}, {} of the same tokens; {} answer{}\n", r.texts, r.texts == 1 ? "" : "s",
                                 r.compared, r.changed.size(), r.changed.size() == 1 ? " differs" : "s differ");
  size_t width = 5;
  for (const LayerDifference& l : r.layers) width = std::max(width, l.layer.size());
  for (const HeadDifference& h : r.heads) width = std::max(width, h.place.size());
  if (!r.layers.empty()) text += fmt::format("\n{:<{}}  relative    largest   cosine\n", "what a layer reads", width);
  for (const LayerDifference& l : r.layers)
    text += fmt::format("{:<{}}  {:>8.5f}  {:>9.5f}  {:>7.5f}\n", l.layer, std::max<size_t>(width, 18),
                        l.state.relative, l.state.largest, l.state.cosine);
  if (!r.layers.empty())
    text += r.first_layer.empty() ? fmt::format("no layer reads a state that departs by more than {:g}\n", tolerance)
                                  : fmt::format("{} is the first to read a state that departs by more than {:g}\n",
                                                r.first_layer, tolerance);
  if (!r.heads.empty())
    text += fmt::format("\n{:<{}}  head   weights: KL   largest   output: relative   largest\n", "place", width);
  for (const HeadDifference& h : r.heads)
    text += fmt::format("{:<{}}  {:>4}  {:>12.6f}  {:>8.5f}  {:>17.5f}  {:>8.5f}\n", h.place, width, h.head, h.kl,
                        h.largest, h.output.relative, h.output.largest);
  for (const AnswerDifference& c : r.changed) text += fmt::format("\n{}\n  {}\n  {}\n", c.text, c.first, c.second);
  return text;
}

std::string to_json(const DifferenceReport& r) {
  using Json = nlohmann::ordered_json;
  Json json = {{"texts", r.texts},        {"compared", r.compared}, {"first_layer", r.first_layer},
               {"layers", Json::array()}, {"heads", Json::array()}, {"changed", Json::array()}};
  for (const LayerDifference& l : r.layers)
    json["layers"].push_back(
        {{"layer", l.layer}, {"relative", l.state.relative}, {"largest", l.state.largest}, {"cosine", l.state.cosine}});
  for (const HeadDifference& h : r.heads)
    json["heads"].push_back({{"place", h.place},
                             {"head", h.head},
                             {"kl", h.kl},
                             {"largest", h.largest},
                             {"output_relative", h.output.relative},
                             {"output_largest", h.output.largest}});
  for (const AnswerDifference& c : r.changed)
    json["changed"].push_back({{"text", c.text}, {"first", c.first}, {"second", c.second}});
  return json.dump();
}

}  // namespace fovea
