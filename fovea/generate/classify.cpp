#include "fovea/generate/classify.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "fovea/data/batches.h"
#include "fovea/generate/batches_by_length.h"

namespace fovea {
namespace {

std::vector<double> row_of(const Tensor& x, size_t row, size_t length) {
  const float* from = x.data<float>() + static_cast<int64_t>(row) * x.size(1);
  return {from, from + length};
}

}  // namespace

std::vector<size_t> Classified::chosen() const {
  std::vector<size_t> labels;
  for (size_t i = 0; i < probabilities.size(); ++i)
    if (probabilities[i] >= 0.5) labels.push_back(i);
  return labels;
}

std::string to_text(const Classified& c, const Labels& labels, bool all) {
  if (labels.kind() == Labels::number) return fmt::format("{:.4g}", c.probabilities[0]);
  std::vector<size_t> order(c.probabilities.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return c.probabilities[a] > c.probabilities[b]; });
  if (!all) order.resize(labels.kind() == Labels::one ? 1 : c.chosen().size());
  std::string line;
  for (size_t i : order)
    line += fmt::format("{}{}\t{:.4f}", line.empty() ? "" : "\t", labels.names()[i], c.probabilities[i]);
  return line;
}

bool is_unsure(const Classified& c, const Labels& labels) {
  constexpr double margin = 0.2;
  for (size_t i = 0; i < c.probabilities.size(); ++i) {
    const double p = c.probabilities[i];
    if (labels.kind() == Labels::several && std::abs(p - 0.5) < margin / 2) return true;
    if (labels.kind() == Labels::one && i != c.best && c.probabilities[c.best] - p < margin) return true;
  }
  return false;
}

Tokens labeller_tokens(const Tokenizer& tokenizer, const std::string& text, bool pairs) {
  const size_t tab = pairs ? text.find('\t') : std::string::npos;
  Tokens tokens = tokenizer.encode(std::string_view(text).substr(0, tab));
  if (tab != std::string::npos) {
    const auto offset = static_cast<int64_t>(tab) + 1;
    tokens.ids.push_back(tokenizer.special().eos), tokens.spans.push_back({offset - 1, offset - 1});
    const Tokens more = tokenizer.encode(std::string_view(text).substr(tab + 1));
    tokens.ids.insert(tokens.ids.end(), more.ids.begin(), more.ids.end());
    for (Span span : more.spans) tokens.spans.push_back({offset + span.begin, offset + span.end});
  }
  // Something has to be there to be looked at.
  if (tokens.ids.empty()) tokens.ids.push_back(tokenizer.special().unk), tokens.spans.push_back({0, 0});
  return tokens;
}

std::vector<Classified> classify(const TextLabeller& model, const Tokenizer& tokenizer,
                                 const std::vector<std::string>& texts, const ClassifyOptions& options) {
  std::vector<Classified> results(texts.size());
  std::vector<Sequence> sequences;
  std::vector<size_t> sizes;
  const auto longest = static_cast<size_t>(model.longest());
  for (size_t i = 0; i < texts.size(); ++i) {
    Tokens tokens = labeller_tokens(tokenizer, texts[i], model.pairs());
    if (longest > 0 && tokens.ids.size() > longest) {
      results[i].unread = tokens.ids.size() - longest;
      tokens.ids.resize(longest), tokens.spans.resize(longest);
    }
    results[i].tokens = std::move(tokens.spans);
    sizes.push_back(tokens.ids.size());
    sequences.push_back({.ids = std::move(tokens.ids)});
  }
  for_each_batch_by_length(sizes, options.batch_size, [&](const std::vector<size_t>& numbers) {
    std::vector<Sequence> batch;
    for (size_t n : numbers) batch.push_back(sequences[n]);
    const Column column = collate(batch, tokenizer.special().pad);
    const Source source = {column.ids, column.lengths};
    const Tensor probabilities = model.labels().answers(model.logits(source, {})).detach().contiguous();
    Tensor weights = options.weights ? model.token_weights(source, {}) : Tensor();
    if (weights) weights = weights.detach().contiguous();
    for (size_t i = 0; i < numbers.size(); ++i) {
      Classified& result = results[numbers[i]];
      result.probabilities = row_of(probabilities, i, static_cast<size_t>(model.labels().size()));
      const auto best = std::max_element(result.probabilities.begin(), result.probabilities.end());
      result.best = static_cast<size_t>(best - result.probabilities.begin());
      if (weights) result.weights = row_of(weights, i, result.tokens.size());
    }
    if (options.on_batch) options.on_batch(numbers.size());
  });
  return results;
}

}  // namespace fovea
