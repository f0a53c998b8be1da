#include "fovea/generate/classify.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "fovea/generate/batches_by_length.h"
#include "fovea/generate/framed.h"

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

ReadText labeller_tokens(const Tokenizer& tokenizer, const std::string& text, const TextLabeller& model) {
  const size_t tab = model.pairs() ? text.find('\t') : std::string::npos;
  const bool two = tab != std::string::npos;
  const auto offset = static_cast<int64_t>(tab) + 1;
  Tokens first = tokenizer.encode(std::string_view(text).substr(0, tab)), second;
  if (two) second = tokenizer.encode(std::string_view(text).substr(tab + 1));
  for (Span& span : second.spans) span = {offset + span.begin, offset + span.end};
  if (tokenizer.frames()) {
    Framed f = framed(tokenizer, first, two ? std::optional(second) : std::nullopt, model.longest());
    return {std::move(f.tokens), f.unread};
  }
  if (two) {
    first.ids.push_back(tokenizer.special().eos), first.spans.push_back({offset - 1, offset - 1});
    first.ids.insert(first.ids.end(), second.ids.begin(), second.ids.end());
    first.spans.insert(first.spans.end(), second.spans.begin(), second.spans.end());
  }
  // Something has to be there to be looked at.
  if (first.ids.empty()) first.ids.push_back(tokenizer.special().unk), first.spans.push_back({0, 0});
  const auto longest = static_cast<size_t>(model.longest());
  if (longest == 0 || first.ids.size() <= longest) return {std::move(first), 0};
  const size_t unread = first.ids.size() - longest;
  first.ids.resize(longest), first.spans.resize(longest);
  return {std::move(first), unread};
}

std::vector<Classified> classify(const TextLabeller& model, const Tokenizer& tokenizer,
                                 const std::vector<std::string>& texts, const ClassifyOptions& options) {
  std::vector<Classified> results(texts.size());
  std::vector<Framed> read;
  std::vector<size_t> sizes;
  for (size_t i = 0; i < texts.size(); ++i) {
    ReadText one = labeller_tokens(tokenizer, texts[i], model);
    results[i].unread = one.unread, results[i].tokens = one.tokens.spans;
    sizes.push_back(one.tokens.ids.size());
    read.push_back({std::move(one.tokens)});
  }
  const auto label = [&](const std::vector<size_t>& numbers) {
    std::vector<Framed> batch;
    for (size_t n : numbers) batch.push_back(read[n]);
    const Source source = source_of(batch, tokenizer.special().pad);
    const Tensor probabilities =
        model.labels().answers(model.logits(source, {.trace = options.trace})).detach().contiguous();
    Tensor weights = options.weights ? model.token_weights(source, {}) : Tensor();
    if (weights) weights = weights.detach().contiguous();
    for (size_t i = 0; i < numbers.size(); ++i) {
      Classified& result = results[numbers[i]];
      result.probabilities = row_of(probabilities, i, static_cast<size_t>(model.labels().size()));
      const auto best = std::max_element(result.probabilities.begin(), result.probabilities.end());
      result.best = static_cast<size_t>(best - result.probabilities.begin());
      if (weights) result.weights = row_of(weights, i, result.tokens.size());
    }
  };
  for_each_batch_by_length(sizes, options.batch_size, label, options.on_batch);
  return results;
}

}  // namespace fovea
