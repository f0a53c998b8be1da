// Questions about the tag of a word.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "fovea/base/catalogue.h"
#include "fovea/explain/question.h"
#include "fovea/explain/shown_pieces.h"
#include "fovea/generate/tag.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/softmax.h"

namespace fovea {
namespace {

// What both kinds of taggers share: which word and which tag. Their words are those that the tagger tells apart.
class TagQuestion : public Question {
 public:
  bool stays(size_t word) const override { return word == word_; }

 protected:
  using Question::Question;

  void choose(const std::string& wanted, const TaggedText& t, const std::vector<std::string>& labels) {
    require(!t.words.empty(), "explain: found a text without words, expected some");
    const size_t colon = wanted.rfind(':');
    const bool with_tag = colon != std::string::npos && colon > 0;
    const std::string word = wanted.substr(0, with_tag ? colon : std::string::npos);
    std::string tag = with_tag ? wanted.substr(colon + 1) : "";
    for (size_t i = 0; i < t.words.size(); ++i)
      choices_.push_back({fmt::format("{}:{}", i, t.tagged.labels[i]),
                          fmt::format("{}: {}", piece_of(t.text, t.words[i]), t.tagged.labels[i])});
    word_ = word.empty() ? first_tagged(t) : found(word, t);
    if (tag.empty()) tag = t.tagged.labels[word_];
    const auto at = std::find(labels.begin(), labels.end(), tag);
    if (at == labels.end()) throw_unknown("tag", tag, labels);
    label_ = at - labels.begin();
    answer_ = fmt::format("{}: {}", piece_of(t.text, t.words[word_]), tag);
  }

  // Where the word stands among those that are left.
  int64_t place_of_word(const Erased& erased, Erasing erasing) const {
    if (erasing == Erasing::replace || erased.empty()) return static_cast<int64_t>(word_);
    return static_cast<int64_t>(word_) -
           std::count(erased.begin(), erased.begin() + static_cast<std::ptrdiff_t>(word_), true);
  }

  size_t word_ = 0;
  int64_t label_ = 0;

 private:
  static size_t first_tagged(const TaggedText& t) {
    const auto tagged =
        std::find_if(t.tagged.labels.begin(), t.tagged.labels.end(), [](const std::string& l) { return l != "O"; });
    return tagged == t.tagged.labels.end() ? 0 : static_cast<size_t>(tagged - t.tagged.labels.begin());
  }

  static size_t found(const std::string& word, const TaggedText& t) {
    std::vector<std::string> words;
    for (size_t i = 0; i < t.words.size(); ++i) {
      words.emplace_back(piece_of(t.text, t.words[i]));
      if (words.back() == word) return i;
    }
    size_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size() && number < words.size()) return number;
    throw_unknown("word", word, words);
  }
};

class WordQuestion final : public TagQuestion {
 public:
  WordQuestion(const Model& model, const Words& vocabulary, const std::string& text, const AskOptions& options)
      : TagQuestion(model, vocabulary), tagger_(as<WordLabeller>(model)), unknown_(vocabulary.special().unk) {
    const TaggedText t = tag_texts(tagger_, vocabulary, {text})[0];
    require(t.words.size() <= most_tagged_words, "explain: found a sentence of {} words, expected at most {}",
            t.words.size(), most_tagged_words);
    choose(options.answer, t, tagger_.labels());
    Sentence words;
    for (size_t i = 0; i < t.words.size(); ++i) {
      words.emplace_back(piece_of(text, t.words[i]));
      text_.word_of.push_back(static_cast<int64_t>(i));
    }
    columns_ = tagger_columns(vocabulary, words);
    text_.text = text, text_.ids = columns_[0].ids, text_.pieces = words, text_.spans = text_.words = t.words;
    if (!tagger_.attention_place().empty()) look_ = Look{tagger_.attention_place(), static_cast<int64_t>(word_)};
    probability_ = value_of(odds(std::vector<Erased>(1), Erasing::remove, {}).item());
  }

  using Question::odds;
  Tensor odds(const std::vector<Erased>& variants, Erasing erasing, const Context& c) const override {
    std::vector<Sequence> words, characters;
    std::vector<int64_t> places;
    for (const Erased& erased : variants) {
      Sequence& word = words.emplace_back();
      Sequence& spelled = characters.emplace_back();
      auto letters = columns_[1].ids.begin();
      for (size_t i = 0; i < text_.ids.size(); ++i) {
        const int64_t count = columns_[1].groups[i];
        const bool gone = !erased.empty() && erased[i];
        const bool leaves = gone && erasing == Erasing::remove && !stays(i);
        if (!leaves && gone && !stays_whole(i, erasing)) {
          word.ids.push_back(unknown_), spelled.ids.push_back(unknown_), spelled.groups.push_back(1);
        } else if (!leaves) {
          word.ids.push_back(text_.ids[i]), spelled.groups.push_back(count);
          spelled.ids.insert(spelled.ids.end(), letters, letters + count);
        }
        letters += count;
      }
      places.push_back(place_of_word(erased, erasing));
    }
    const SpelledWords input = spelled_words(collate(words), collate(characters));
    return tagger_.log_odds(tagger_.scores(input, c), input.lengths, places, label_);
  }

 private:
  // The word that is asked about is never left out, but it may be unknown.
  bool stays_whole(size_t word, Erasing erasing) const { return erasing == Erasing::remove && stays(word); }

  const WordLabeller& tagger_;
  int64_t unknown_;
  std::vector<Sequence> columns_;
};

class WordPieceQuestion final : public TagQuestion {
 public:
  WordPieceQuestion(const Model& model, const Tokenizer& tokenizer, const std::string& text, const AskOptions& options)
      : TagQuestion(model, tokenizer), tagger_(as<TokenLabeller>(model)), padding_(tokenizer.special().pad) {
    const TaggedText t = tag_texts(tagger_, tokenizer, {text})[0];
    choose(options.answer, t, tagger_.token_labels());
    Sentence words;
    for (Span span : t.words) words.emplace_back(piece_of(text, span));
    const std::vector<TokenWindow> windows = token_windows(tokenizer, words, tagger_.longest());
    require(windows.size() == 1, "explain: found a text that the model reads in {} parts, expected one",
            windows.size());
    const Tokens& read = windows[0].read.tokens;
    text_ = {.text = text, .ids = read.ids, .words = t.words, .types = read.types};
    int64_t word = -1;
    for (size_t i = 0; i < read.ids.size(); ++i) {
      const bool own = read.spans[i].size() == 0;
      if (word + 1 < static_cast<int64_t>(words.size()) && windows[0].firsts[static_cast<size_t>(word + 1)] == i)
        ++word;
      text_.word_of.push_back(own ? -1 : word);
      text_.spans.push_back(own ? Span{} : t.words[static_cast<size_t>(word)]);
      text_.pieces.push_back(shown_piece(tokenizer, read.ids[i]));
    }
    first_ = static_cast<int64_t>(windows[0].firsts[word_]);
    for (const Place& place : model.places())
      if (place.columns == "source") look_ = Look{place.path, first_};
    probability_ = value_of(odds(std::vector<Erased>(1), Erasing::remove, {}).item());
  }

  using Question::odds;
  Tensor odds(const std::vector<Erased>& variants, Erasing erasing, const Context& c) const override {
    std::vector<Framed> read;
    std::vector<int64_t> places;
    for (Erased erased : variants) {
      if (erasing == Erasing::remove && !erased.empty()) erased[word_] = false;
      int64_t before = first_;
      for (int64_t i = 0; i < first_ && erasing == Erasing::remove && !erased.empty(); ++i) {
        const int64_t word = text_.word_of[static_cast<size_t>(i)];
        before -= word >= 0 && erased[static_cast<size_t>(word)];
      }
      read.push_back({left(erased, erasing)});
      places.push_back(before);
    }
    const Tensor logits = tagger_.token_logits(source_of(read, padding_), c);
    for (size_t b = 0; b < places.size(); ++b) places[b] += static_cast<int64_t>(b) * logits.size(1);
    const Tensor flat = logits.reshape({logits.size(0) * logits.size(1), logits.size(2)});
    return log_odds(rows(flat, tensor({logits.size(0)}, places)), label_);
  }

 private:
  const TokenLabeller& tagger_;
  int64_t padding_, first_ = 0;
};

}  // namespace

std::unique_ptr<Question> ask_tag(const Model& model, const Tokenizer& tokenizer, const std::string& text,
                                  const AskOptions& options) {
  if (can<TokenLabeller>(model)) return std::make_unique<WordPieceQuestion>(model, tokenizer, text, options);
  const auto* vocabulary = dynamic_cast<const Words*>(&tokenizer);
  require(vocabulary, "explain: found a tagger with a tokenizer of kind '{}', expected words", tokenizer.kind());
  return std::make_unique<WordQuestion>(model, *vocabulary, text, options);
}

}  // namespace fovea
