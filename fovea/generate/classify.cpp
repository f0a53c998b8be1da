#include "fovea/generate/classify.h"

#include "fovea/data/batches.h"
#include "fovea/generate/batches_by_length.h"
#include "fovea/tensor/softmax.h"

namespace fovea {
namespace {

std::vector<double> row_of(const Tensor& x, size_t row, size_t length) {
  const float* from = x.data<float>() + static_cast<int64_t>(row) * x.size(1);
  return {from, from + length};
}

}  // namespace

std::vector<Classified> classify(const ClassifierModel& model, const Tokenizer& tokenizer,
                                 const std::vector<std::string>& texts, const ClassifyOptions& options) {
  std::vector<Classified> results(texts.size());
  std::vector<Sequence> sequences;
  std::vector<size_t> sizes;
  for (size_t i = 0; i < texts.size(); ++i) {
    Tokens tokens = tokenizer.encode(texts[i]);
    // Something has to be there to be looked at.
    if (tokens.ids.empty()) tokens.ids.push_back(tokenizer.special().unk), tokens.spans.push_back({0, 0});
    results[i].tokens = std::move(tokens.spans);
    sizes.push_back(tokens.ids.size());
    sequences.push_back({.ids = std::move(tokens.ids)});
  }
  for_each_batch_by_length(sizes, options.batch_size, [&](const std::vector<size_t>& numbers) {
    std::vector<Sequence> batch;
    for (size_t n : numbers) batch.push_back(sequences[n]);
    const Column column = collate(batch, tokenizer.special().pad);
    const Source source = {column.ids, column.lengths};
    const Tensor probabilities = softmax(model.logits(source, {})).detach().contiguous();
    Tensor weights = options.weights ? model.token_weights(source, {}) : Tensor();
    if (weights) weights = weights.detach().contiguous();
    for (size_t i = 0; i < numbers.size(); ++i) {
      Classified& result = results[numbers[i]];
      result.probabilities = row_of(probabilities, i, model.labels().size());
      const auto best = std::max_element(result.probabilities.begin(), result.probabilities.end());
      result.best = static_cast<size_t>(best - result.probabilities.begin());
      if (weights) result.weights = row_of(weights, i, result.tokens.size());
    }
    if (options.on_batch) options.on_batch(numbers.size());
  });
  return results;
}

}  // namespace fovea
