#include "fovea/generate/translate.h"

#include <algorithm>

namespace fovea {
namespace {

Span end_of(const std::string& text) {
  const auto size = static_cast<int64_t>(text.size());
  return {size, size};
}

// A token's bytes are those by which it makes the text longer.
std::vector<Span> spans_of(const Tokenizer& tokenizer, const std::vector<int64_t>& ids, const std::string& text) {
  std::vector<Span> spans;
  int64_t begin = 0;
  const int64_t size = static_cast<int64_t>(text.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto decoded = static_cast<int64_t>(tokenizer.decode(std::span(ids).first(i + 1)).size());
    const int64_t end = i + 1 == ids.size() ? size : std::clamp(decoded, begin, size);
    while (begin < end && text[static_cast<size_t>(begin)] == ' ') ++begin;
    spans.push_back({begin, end});
    begin = end;
  }
  return spans;
}

Translation translation_of(const Tokenizer& tokenizer, const Hypothesis& h) {
  Translation t = {.text = tokenizer.decode(h.ids), .score = h.score, .log_probabilities = h.log_probabilities};
  t.tokens = spans_of(tokenizer, h.ids, t.text);
  if (h.ended) t.tokens.push_back(end_of(t.text));
  t.attention = h.attention;
  return t;
}

}  // namespace

std::vector<int64_t> source_ids(const Tokenizer& tokenizer, const Tokens& tokens) {
  std::vector<int64_t> ids = tokens.ids;
  ids.push_back(tokenizer.special().eos);
  return ids;
}

std::vector<Translations> translate(const Seq2SeqModel& model, const Tokenizer& tokenizer,
                                    const std::vector<std::string>& texts, const GenerationConfig& config,
                                    const TranslateOptions& options) {
  require(tokenizer.size() <= model.vocabulary(), "translate: found a tokenizer of {} pieces for a model of {}",
          tokenizer.size(), model.vocabulary());
  std::vector<Translations> results(texts.size());
  std::vector<Request> requests;
  std::vector<size_t> numbers;  // of the texts behind the requests
  const std::vector<int64_t> prefix = tokenizer.encode(options.prefix).ids;
  for (size_t i = 0; i < texts.size(); ++i) {
    const Tokens tokens = tokenizer.encode(texts[i]);
    results[i].source = tokens.spans;
    results[i].source.push_back(end_of(texts[i]));
    results[i].found.emplace_back();
    if (tokens.ids.empty()) continue;
    requests.push_back({.source = source_ids(tokenizer, tokens), .prefix = prefix});
    numbers.push_back(i);
  }
  size_t handed_on = 0;
  auto hand_on = [&](size_t end) {
    for (; handed_on < end; ++handed_on)
      if (options.on_result) options.on_result(handed_on, results[handed_on]);
  };
  generate(model, requests, config,
           {.attention = options.attention, .on_result = [&](size_t request, const Hypotheses& found) {
              Translations& result = results[numbers[request]];
              result.found.clear();
              for (const Hypothesis& h : found) result.found.push_back(translation_of(tokenizer, h));
              hand_on(numbers[request] + 1);
            }});
  hand_on(texts.size());
  return results;
}

}  // namespace fovea
