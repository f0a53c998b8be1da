#include "fovea/generate/translate.h"

#include <numeric>

#include "fovea/generate/by_sentences.h"
#include "fovea/generate/piece_by_piece.h"

namespace fovea {

double confidence(const Translation& t) {
  if (t.log_probabilities.empty()) return 0;
  const double sum = std::accumulate(t.log_probabilities.begin(), t.log_probabilities.end(), 0.0);
  return sum / static_cast<double>(t.log_probabilities.size());
}

Tokens source_tokens(const Tokenizer& tokenizer, const Tokens& text, const std::vector<int64_t>& task) {
  const int64_t begin = text.spans.empty() ? 0 : text.spans.front().begin;
  const int64_t end = text.spans.empty() ? 0 : text.spans.back().end;
  Tokens all = {task, std::vector<Span>(task.size(), {begin, begin})};
  all.ids.insert(all.ids.end(), text.ids.begin(), text.ids.end());
  all.spans.insert(all.spans.end(), text.spans.begin(), text.spans.end());
  if (tokenizer.frames()) return tokenizer.frame(all);
  all.ids.push_back(tokenizer.special().eos);
  all.spans.push_back({end, end});
  return all;
}

std::vector<int64_t> source_ids(const Tokenizer& tokenizer, const Tokens& text) {
  return source_tokens(tokenizer, text).ids;
}

std::vector<Translations> translate(const Generator& model, const Tokenizer& tokenizer,
                                    const std::vector<std::string>& texts, const GenerationConfig& config,
                                    const TranslateOptions& options) {
  check(config);
  if (config.protects() && !options.trace && options.prefix.empty() && options.task.empty())
    return translate_by_sentences(model, tokenizer, texts, config, options);
  return translate_pieces(model, tokenizer, texts, config, options);
}

}  // namespace fovea
