#include "fovea/explain/word_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "fovea/explain/alignment.h"
#include "fovea/explain/recording.h"
#include "fovea/explain/states.h"
#include "fovea/generate/framed.h"

namespace fovea {
namespace {

// A word of the text, without the marks around it, and in any case.
bool is_word(std::string_view found, const std::string& wanted) {
  const std::string lower = lower_case(found), other = lower_case(wanted);
  const size_t at = lower.find(other);
  if (at == std::string::npos) return false;
  const std::string rest = lower.substr(0, at) + lower.substr(at + other.size());
  const std::vector<CodePoint> around = code_points(rest);
  return std::none_of(around.begin(), around.end(), [](const CodePoint& c) { return is_word_character(c.value); });
}

bool has_letters(std::string_view piece) {
  const std::vector<CodePoint> points = code_points(piece);
  return std::any_of(points.begin(), points.end(), [](const CodePoint& c) { return is_word_character(c.value); });
}

// The mean of the rows of [1, tokens, width] that belong to the word.
std::vector<double> mean_of(const Tensor& state, const std::vector<size_t>& tokens) {
  const auto width = static_cast<size_t>(state.size(-1));
  const std::vector<double> all = state.values<double>();
  std::vector<double> mean(width);
  for (size_t token : tokens)
    for (size_t d = 0; d < width; ++d) mean[d] += all[token * width + d] / static_cast<double>(tokens.size());
  return mean;
}

bool is_of_tokens(const Tensor& state, size_t tokens) {
  return state.rank() >= 2 && state.size(-1) > 0 && state.elements() / state.size(-1) == static_cast<int64_t>(tokens);
}

}  // namespace

WordInText look_at_word(const Pretrained& p, const std::string& text, const std::string& word) {
  const auto& encoder = p.as<Encoder>();
  Recorder recorder(*p.model, *p.tokenizer, {}, text);
  const bool writes = can<Generator>(*p.model) != nullptr;
  const Tokens read = writes ? source_tokens(*p.tokenizer, p.tokenizer->encode(text))
                             : framed(*p.tokenizer, text, std::nullopt, encoder.longest()).tokens;
  const std::vector<int64_t> words = words_of_tokens({text, read.spans});
  const std::vector<Span> spans = words_of(text);
  const auto found = std::find_if(spans.begin(), spans.end(), [&](Span s) { return is_word(piece_of(text, s), word); });
  require(found != spans.end(), "--word: found no '{}' in '{}', expected it there", word, text);
  const int64_t number = found - spans.begin();
  std::vector<size_t> tokens;
  for (size_t i = 0; i < words.size(); ++i)
    if (words[i] == number && has_letters(piece_of(text, read.spans[i]))) tokens.push_back(i);
  require(!tokens.empty(), "--word: found '{}' beyond what the model reads of '{}'", word, text);
  const auto count = static_cast<int64_t>(read.ids.size());
  LayerStates states(*p.model);
  Tensor output;
  {
    Watched watched(&states);
    output = encoder.encode({tensor({1, count}, read.ids), tensor({1}, std::vector<int64_t>{count})},
                            {.trace = recorder.trace()});
  }
  recorder.read(read, text);
  const Recording seen = recorder.finish("");
  WordInText looked;
  looked.text = text, looked.word = word;
  for (const LayerState& s : states.layers())
    if (s.calls.size() == 1 && is_of_tokens(s.calls[0], read.ids.size()))
      looked.layers.push_back(s.layer), looked.states.push_back(mean_of(s.calls[0], tokens));
  looked.layers.push_back("output"), looked.states.push_back(mean_of(output, tokens));
  for (const RecordedPlace& place : seen.places) {
    if (place.place.kind != Place::Kind::self || place.rows() != count) continue;
    std::vector<double> row;
    for (size_t h = 0; h < place.heads.size(); ++h) {
      const WordWeights w = by_words({text, read.spans}, {text, read.spans}, place.part(h, {}, {}));
      looked.attention.columns = w.columns, row.resize(w.columns.size());
      for (size_t j = 0; j < row.size(); ++j)
        row[j] += w.at(static_cast<size_t>(number), j) / static_cast<double>(place.heads.size());
    }
    looked.places.push_back(place.place.path);
    looked.attention.weights.insert(looked.attention.weights.end(), row.begin(), row.end());
  }
  looked.attention.rows = looked.places;
  return looked;
}

HeatMap WordInText::map() const {
  return {fmt::format("{}: “{}”", text, word), attention.rows, attention.columns, attention.weights};
}

std::vector<double> cosines(const WordInText& a, const WordInText& b) {
  std::vector<double> all;
  for (size_t i = 0; i < std::min(a.states.size(), b.states.size()); ++i)
    all.push_back(cosine(a.states[i].data(), b.states[i].data(), std::min(a.states[i].size(), b.states[i].size())));
  return all;
}

std::string to_text(const std::vector<WordInText>& texts) {
  std::string text;
  size_t width = 6;
  for (const std::string& layer : texts[0].layers) width = std::max(width, layer.size());
  for (const std::string& place : texts[0].places) width = std::max(width, place.size());
  for (size_t t = 0; t < texts.size(); ++t) text += fmt::format("{}  {}\n", t, texts[t].text);
  text += fmt::format("\n{:<{}}", "state", width);
  for (size_t t = 1; t < texts.size(); ++t) text += fmt::format("  cos 0,{}", t);
  text += "\n";
  for (size_t layer = 0; layer < texts[0].layers.size(); ++layer) {
    text += fmt::format("{:<{}}", texts[0].layers[layer], width);
    for (size_t t = 1; t < texts.size(); ++t) text += fmt::format("  {:>7.4f}", cosines(texts[0], texts[t])[layer]);
    text += "\n";
  }
  for (size_t t = 0; t < texts.size(); ++t) {
    text += fmt::format("\n{:<{}}  {} looks at, in {}\n", "place", width, texts[t].word, texts[t].text);
    const WordWeights& w = texts[t].attention;
    for (size_t p = 0; p < w.rows.size(); ++p) {
      std::vector<size_t> order(w.columns.size());
      std::iota(order.begin(), order.end(), size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return w.at(p, a) > w.at(p, b); });
      text += fmt::format("{:<{}}", w.rows[p], width);
      for (size_t i = 0; i < std::min<size_t>(4, order.size()); ++i)
        text += fmt::format("  {} {:.2f}", w.columns[order[i]], w.at(p, order[i]));
      text += "\n";
    }
  }
  return text;
}

std::string to_tsv(const std::vector<WordInText>& texts) {
  std::string tsv = "layer";
  for (size_t t = 1; t < texts.size(); ++t) tsv += "\t" + texts[t].text;
  for (size_t layer = 0; layer < texts[0].layers.size(); ++layer) {
    tsv += fmt::format("\n{}", layer);
    for (size_t t = 1; t < texts.size(); ++t) tsv += fmt::format("\t{:.4f}", cosines(texts[0], texts[t])[layer]);
  }
  return tsv + "\n";
}

std::string to_json(const std::vector<WordInText>& texts) {
  using Json = nlohmann::ordered_json;
  Json json = {{"word", texts[0].word}, {"layers", texts[0].layers}, {"texts", Json::array()}};
  for (const WordInText& t : texts) {
    Json places = Json::array();
    for (size_t p = 0; p < t.attention.rows.size(); ++p) {
      const auto begin = t.attention.weights.begin() + static_cast<std::ptrdiff_t>(p * t.attention.columns.size());
      const std::vector<double> row(begin, begin + static_cast<std::ptrdiff_t>(t.attention.columns.size()));
      places.push_back({{"place", t.attention.rows[p]}, {"weights", row}});
    }
    json["texts"].push_back(
        {{"text", t.text}, {"words", t.attention.columns}, {"cosines", cosines(texts[0], t)}, {"attention", places}});
  }
  return json.dump();
}

}  // namespace fovea
