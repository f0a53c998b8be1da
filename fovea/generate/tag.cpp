#include "fovea/generate/tag.h"

#include "fovea/generate/batches_by_length.h"
#include "fovea/tensor/reduce.h"

namespace fovea {

std::vector<Sequence> tagger_columns(const Words& vocabulary, const Sentence& sentence) {
  std::vector<Sequence> columns(2);
  for (const std::string& word : sentence) {
    columns[0].ids.push_back(vocabulary.id_of(word));
    std::vector<int64_t> letters = vocabulary.characters(word);
    if (letters.empty()) letters.push_back(vocabulary.special().unk);
    columns[1].groups.push_back(static_cast<int64_t>(letters.size()));
    columns[1].ids.insert(columns[1].ids.end(), letters.begin(), letters.end());
  }
  return columns;
}

TaggerInput tagger_input(const Column& words, const Column& characters) {
  return {words.ids, words.lengths, characters.ids, characters.group_lengths};
}

std::vector<Tagged> tag(const Tagger& tagger, const Words& vocabulary, const std::vector<Sentence>& sentences,
                        const TagOptions& options) {
  std::vector<Tagged> results(sentences.size());
  std::vector<size_t> sizes, numbers_of;  // of the sentences that have words
  for (size_t i = 0; i < sentences.size(); ++i) {
    if (sentences[i].empty()) continue;
    sizes.push_back(sentences[i].size());
    numbers_of.push_back(i);
  }
  const std::string place = options.attention ? tagger.attention_place() : "";
  for_each_batch_by_length(sizes, options.batch_size, [&](const std::vector<size_t>& numbers) {
    std::vector<Sequence> words, characters;
    for (size_t n : numbers) {
      std::vector<Sequence> columns = tagger_columns(vocabulary, sentences[numbers_of[n]]);
      words.push_back(std::move(columns[0]));
      characters.push_back(std::move(columns[1]));
    }
    const TaggerInput input = tagger_input(collate(words), collate(characters));
    Trace trace;
    trace.places = {place};
    const Tensor scores = tagger.scores(input, {.trace = place.empty() ? nullptr : &trace}).detach();
    const Tensor best = tagger.best(scores, input.lengths);
    const Tensor probabilities = tagger.probabilities(scores, input.lengths).detach().contiguous();
    const int64_t labels = probabilities.size(2);
    for (size_t i = 0; i < numbers.size(); ++i) {
      Tagged& result = results[numbers_of[numbers[i]]];
      const int64_t row = static_cast<int64_t>(i), length = static_cast<int64_t>(words[i].ids.size());
      for (int64_t j = 0; j < length; ++j) {
        const int64_t at = row * best.size(1) + j, label = best.data<int64_t>()[at];
        result.labels.push_back(tagger.labels()[static_cast<size_t>(label)]);
        result.probabilities.push_back(probabilities.data<float>()[at * labels + label]);
      }
      if (!place.empty())
        result.attention = mean(trace[place].weights.select(0, row), {0}).slice(0, 0, length).slice(1, 0, length);
    }
    if (options.on_batch) options.on_batch(numbers.size());
  });
  return results;
}

}  // namespace fovea
