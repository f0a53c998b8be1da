// Words labelled by a model that labels tokens.
#include <algorithm>

#include "fovea/generate/batches_by_length.h"
#include "fovea/generate/framed.h"
#include "fovea/generate/tag.h"
#include "fovea/tensor/softmax.h"

namespace fovea {
namespace {

// Each word by itself, so that it is known which tokens are its own.
class Windows final {
 public:
  Windows(const Tokenizer& tokenizer, int64_t longest) : tokenizer_(tokenizer), longest_(longest) {
    const size_t frame = tokenizer.frame({}).ids.size();
    most_ = longest == 0 ? SIZE_MAX : static_cast<size_t>(longest) - frame;
  }

  std::vector<TokenWindow> of(const Sentence& sentence) const {
    std::vector<TokenWindow> windows;
    Tokens tokens;
    std::vector<size_t> firsts;
    size_t begin = 0;
    int64_t offset = 0;
    auto finish = [&](size_t end) {
      if (end == begin) return;
      TokenWindow w = {begin, end, framed(tokenizer_, std::move(tokens), std::nullopt, longest_), {}};
      size_t token = 0;
      std::vector<size_t> real;
      for (; token < w.read.tokens.ids.size(); ++token)
        if (w.read.tokens.spans[token].size() > 0) real.push_back(token);
      for (size_t first : firsts) w.firsts.push_back(real[first]);
      windows.push_back(std::move(w));
      tokens = {}, firsts.clear(), begin = end;
    };
    for (size_t i = 0; i < sentence.size(); ++i) {
      Tokens word = tokens_of(sentence[i], i == begin);
      if (tokens.ids.size() + word.ids.size() > most_ || i - begin == most_tagged_words) {
        finish(i);
        word = tokens_of(sentence[i], true);
      }
      firsts.push_back(tokens.ids.size());
      for (size_t t = 0; t < word.ids.size(); ++t, ++offset)
        tokens.ids.push_back(word.ids[t]), tokens.spans.push_back({offset, offset + 1});
    }
    finish(sentence.size());
    return windows;
  }

 private:
  // Tokenizers that mark spaces see one before every word but the first.
  Tokens tokens_of(const std::string& word, bool first) const {
    Tokens t = tokenizer_.encode(first ? word : " " + word);
    if (t.ids.empty()) t = {{std::max<int64_t>(0, tokenizer_.special().unk)}, {{0, 1}}, {}};
    if (t.ids.size() > std::min(most_, most_tagged_characters)) t.ids.resize(std::min(most_, most_tagged_characters));
    return t;
  }

  const Tokenizer& tokenizer_;
  int64_t longest_;
  size_t most_;
};

}  // namespace

std::vector<TokenWindow> token_windows(const Tokenizer& tokenizer, const Sentence& sentence, int64_t longest) {
  return Windows(tokenizer, longest).of(sentence);
}

std::vector<Tagged> tag(const TokenLabeller& model, const Tokenizer& tokenizer, const std::vector<Sentence>& sentences,
                        const TagOptions& options) {
  std::vector<Tagged> results(sentences.size());
  std::vector<TokenWindow> windows;
  std::vector<size_t> sentence_of;
  const Windows cut(tokenizer, model.longest());
  for (size_t i = 0; i < sentences.size(); ++i) {
    for (TokenWindow& w : cut.of(sentences[i])) windows.push_back(std::move(w)), sentence_of.push_back(i);
    results[i].labels.resize(sentences[i].size());
    results[i].probabilities.resize(sentences[i].size());
  }
  const auto label = [&](const std::vector<size_t>& numbers, const Context& context) {
    std::vector<Framed> batch;
    for (size_t n : numbers) batch.push_back(windows[n].read);
    const Source source = source_of(batch, tokenizer.special().pad);
    const Tensor p = softmax(model.token_logits(source, context).detach(), -1).contiguous();
    const int64_t tokens = p.size(1), labels = p.size(2);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const TokenWindow& w = windows[numbers[i]];
      Tagged& result = results[sentence_of[numbers[i]]];
      for (size_t word = w.begin; word < w.end; ++word) {
        const auto token = static_cast<int64_t>(w.firsts[word - w.begin]);
        const float* row = p.data<float>() + (static_cast<int64_t>(i) * tokens + token) * labels;
        const float* best = std::max_element(row, row + labels);
        result.labels[word] = model.token_labels()[static_cast<size_t>(best - row)];
        result.probabilities[word] = *best;
      }
    }
  };
  const size_t looked_at = options.trace && !windows.empty() ? 1 : 0;
  if (looked_at == 1) label({0}, {.trace = options.trace});
  if (looked_at == 1 && options.on_batch) options.on_batch(1);
  std::vector<size_t> sizes;
  for (size_t n = looked_at; n < windows.size(); ++n) sizes.push_back(windows[n].read.tokens.ids.size());
  const auto label_some = [&](std::vector<size_t> numbers) {
    for (size_t& n : numbers) n += looked_at;
    label(numbers, {});
  };
  for_each_batch_by_length(sizes, options.batch_size, label_some, options.on_batch);
  return results;
}

std::vector<TaggedText> tag_texts(const TokenLabeller& model, const Tokenizer& tokenizer,
                                  const std::vector<std::string>& texts, const TagOptions& options) {
  return tag_words_of(texts, split_words, [&](const std::vector<Sentence>& sentences) {
    return tag(model, tokenizer, sentences, options);
  });
}

std::vector<Tagged> tag(const Pretrained& p, const std::vector<Sentence>& sentences, const TagOptions& options) {
  if (const auto* tokens = can<TokenLabeller>(*p.model)) return tag(*tokens, *p.tokenizer, sentences, options);
  const WordLabeller& labeller = p.as<WordLabeller>();
  return tag(labeller, words_of(p), sentences, options);
}

std::vector<TaggedText> tag_texts(const Pretrained& p, const std::vector<std::string>& texts,
                                  const TagOptions& options) {
  if (const auto* tokens = can<TokenLabeller>(*p.model)) return tag_texts(*tokens, *p.tokenizer, texts, options);
  const WordLabeller& labeller = p.as<WordLabeller>();
  return tag_texts(labeller, words_of(p), texts, options);
}

}  // namespace fovea
