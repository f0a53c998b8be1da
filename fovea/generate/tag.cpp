#include "fovea/generate/tag.h"

#include "fovea/generate/batches_by_length.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

// Words [begin, end) of a sentence.
struct Piece {
  size_t sentence, begin, end;
};

void cut(const Sentence& sentence, size_t number, std::vector<Piece>& pieces) {
  for (size_t begin = 0; begin < sentence.size();) {
    size_t end = std::min(sentence.size(), begin + most_tagged_words);
    for (size_t i = end; end < sentence.size() && i > begin; --i) {
      const std::string& word = sentence[i - 1];
      if (word != "." && word != "!" && word != "?") continue;
      end = i;
      break;
    }
    pieces.push_back({number, begin, end});
    begin = end;
  }
}

class Tagging final {
 public:
  Tagging(const WordLabeller& tagger, const Words& vocabulary, const std::vector<Sentence>& sentences,
          const TagOptions& options)
      : tagger_(tagger),
        vocabulary_(vocabulary),
        sentences_(sentences),
        options_(options),
        place_(options.attention ? tagger.attention_place() : ""),
        results_(sentences.size()) {
    for (size_t i = 0; i < sentences.size(); ++i) {
      cut(sentences[i], i, pieces_);
      require(!options.trace || pieces_.size() == 1,
              "tag: found a trace for {} words, expected it for one sentence of at most {}", sentences[i].size(),
              most_tagged_words);
      results_[i].labels.resize(sentences[i].size());
      results_[i].probabilities.resize(sentences[i].size());
    }
  }

  std::vector<Tagged> run() {
    std::vector<size_t> sizes;
    for (const Piece& piece : pieces_) sizes.push_back(piece.end - piece.begin);
    for_each_batch_by_length(
        sizes, options_.batch_size, [&](const std::vector<size_t>& numbers) { tag_batch(numbers); }, options_.on_batch);
    return std::move(results_);
  }

 private:
  void tag_batch(const std::vector<size_t>& numbers) {
    std::vector<Sequence> words, characters;
    for (size_t n : numbers) {
      const Piece& p = pieces_[n];
      const auto first = sentences_[p.sentence].begin();
      std::vector<Sequence> columns = tagger_columns(
          vocabulary_, {first + static_cast<std::ptrdiff_t>(p.begin), first + static_cast<std::ptrdiff_t>(p.end)});
      words.push_back(std::move(columns[0]));
      characters.push_back(std::move(columns[1]));
    }
    const SpelledWords input = spelled_words(collate(words), collate(characters));
    Trace trace;
    trace.places = {place_};
    Trace* const seen = options_.trace ? options_.trace : place_.empty() ? nullptr : &trace;
    const Context context = {.trace = seen};
    const Tensor scores = tagger_.scores(input, context).detach();
    const Tensor best = tagger_.best(scores, input.lengths);
    const Tensor probabilities = tagger_.probabilities(scores, input.lengths).detach().contiguous();
    for (size_t i = 0; i < numbers.size(); ++i) {
      const Piece& p = pieces_[numbers[i]];
      Tagged& result = results_[p.sentence];
      const int64_t row = static_cast<int64_t>(i), length = static_cast<int64_t>(p.end - p.begin);
      for (int64_t j = 0; j < length; ++j) {
        const int64_t at = row * best.size(1) + j, label = best.data<int64_t>()[at];
        const size_t word = p.begin + static_cast<size_t>(j);
        result.labels[word] = tagger_.labels()[static_cast<size_t>(label)];
        result.probabilities[word] = probabilities.data<float>()[at * probabilities.size(2) + label];
      }
      if (!place_.empty() && p.end - p.begin == sentences_[p.sentence].size())
        result.attention = mean((*seen)[place_].weights.select(0, row), {0}).slice(0, 0, length).slice(1, 0, length);
    }
  }

  const WordLabeller& tagger_;
  const Words& vocabulary_;
  const std::vector<Sentence>& sentences_;
  const TagOptions& options_;
  std::string place_;
  std::vector<Piece> pieces_;
  std::vector<Tagged> results_;
};

}  // namespace

std::vector<Sequence> tagger_columns(const Words& vocabulary, const Sentence& sentence) {
  std::vector<Sequence> columns(2);
  for (const std::string& word : sentence) {
    columns[0].ids.push_back(vocabulary.id_of(word));
    std::vector<int64_t> letters = vocabulary.characters(word);
    if (letters.empty()) letters.push_back(vocabulary.special().unk);
    if (letters.size() > most_tagged_characters) letters.resize(most_tagged_characters);
    columns[1].groups.push_back(static_cast<int64_t>(letters.size()));
    columns[1].ids.insert(columns[1].ids.end(), letters.begin(), letters.end());
  }
  return columns;
}

SpelledWords spelled_words(const Column& words, const Column& characters) {
  return {words.ids, words.lengths, characters.ids, characters.group_lengths};
}

const Words& words_of(const Pretrained& p) {
  const auto* words = dynamic_cast<const Words*>(p.tokenizer.get());
  require(words, "{}: found a tokenizer of kind '{}', expected words", p.folder.string(), p.tokenizer->kind());
  if (words->characters_size() != p.as<WordLabeller>().characters())
    throw Error(Error::corrupt, "{}: found a vocabulary of {} characters beside a model for {}", p.folder.string(),
                words->characters_size(), p.as<WordLabeller>().characters());
  return *words;
}

std::vector<Tagged> tag(const WordLabeller& tagger, const Words& vocabulary, const std::vector<Sentence>& sentences,
                        const TagOptions& options) {
  return Tagging(tagger, vocabulary, sentences, options).run();
}

std::vector<TaggedText> tag_texts(const WordLabeller& tagger, const Words& vocabulary,
                                  const std::vector<std::string>& texts, const TagOptions& options) {
  return tag_words_of(
      texts, [&](const std::string& text) { return vocabulary.encode(text).spans; },
      [&](const std::vector<Sentence>& sentences) { return tag(tagger, vocabulary, sentences, options); });
}

}  // namespace fovea
