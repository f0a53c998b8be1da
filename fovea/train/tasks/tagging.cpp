#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "fovea/formats/matrix_text.h"
#include "fovea/generate/tag.h"
#include "fovea/train/metrics/entities.h"
#include "fovea/train/task.h"

namespace fovea {
namespace {

class Tagging final : public Task {
 public:
  bool suits(const Abilities& a) const override { return a.labels_words || a.labels_tokens; }
  std::string_view first_family() const override { return "tagger"; }
  VocabularyConfig vocabulary() const override {
    return {.kind = "words", .size = 20000, .lower_case = true, .zero_digits = true};
  }
  std::string_view training() const override {
    return R"({"validate_every": -1, "checkpoint_every": -1, "patience": 10, "average": 0.999,
               "schedule": "constant", "warmup": 100})";
  }
  void fields(Fields& f) override {
    f("token_column", token_column_, "the word: a column's number from 1 (from the end if negative), or a key of JSON");
    f("tag_column", tag_column_, "its tag, likewise");
    f("names", names_, "other names for kinds of entities, as person=PER group=ORG; O: none at all");
    f("batch_tokens", batch_tokens_, "words of a batch, padding included");
    f("max_tokens", max_tokens_, "leave out sentences of more words; 0: none");
  }
  ExampleFormat format() const override {
    return {.kind = ExampleKind::tagged,
            .columns = {.tokens = token_column_, .tags = tag_column_},
            .names = names_,
            .learns_labels = true};
  }

  std::unique_ptr<Tokenizer> learn(const VocabularyConfig& v, const Examples& examples) const override {
    require((v.kind == "words" || v.kind == "wordpiece") && !v.byte_fallback,
            "--tokenizer: found {}, expected words, or wordpiece, which cuts them: words are what gets the tags",
            v.kind);
    if (v.kind == "wordpiece")
      return learn_vocabulary(v, [&, i = size_t{0}](std::string& text) mutable {
        if (i == examples.training.size()) return false;
        text = fmt::format("{}", fmt::join(examples.data[examples.training[i++]].tokens, " "));
        return true;
      });
    return std::make_unique<Words>(Words::train(
        [&, i = size_t{0}](std::vector<std::string>& sentence) mutable {
          if (i == examples.training.size()) return false;
          sentence = examples.data[examples.training[i++]].tokens;
          return true;
        },
        {.vocabulary = v.size, .at_least = v.at_least, .lower_case = v.lower_case, .zero_digits = v.zero_digits}));
  }

  DataFacts facts(const Examples& examples, const Tokenizer& tokenizer) override {
    std::set<std::string> labels;
    for (int64_t i : examples.training)
      for (const std::string& tag : examples.data[i].tags) labels.insert(tag);
    require(labels.size() > 1, "training: found the tag '{}' alone, expected at least two different ones",
            *labels.begin());
    require(labels.size() <= 1000, "training: found {} different tags, expected at most 1,000", labels.size());
    const auto* words = dynamic_cast<const Words*>(&tokenizer);
    if (!words)
      return {.needs = {.labels_tokens = true},
              .vocabulary = tokenizer.size(),
              .labels = {labels.begin(), labels.end()},
              .special = tokenizer.special()};
    return {.needs = {.labels_words = true},
            .vocabulary = words->size(),
            .characters = words->characters_size(),
            .labels = {labels.begin(), labels.end()},
            .special = words->special()};
  }

  // A row of words, one of their characters and one of their tags.
  std::vector<Sequence> columns(const Pretrained& p, const Example& e) const override {
    std::vector<Sequence> columns = tagger_columns(words_of(p), e.tokens);
    columns.push_back({.ids = tag_ids(p.as<WordLabeller>().labels(), e.tags)});
    return columns;
  }
  // Of a model that labels tokens: a row of tokens and one of tags, where the first token of a word has 1 + its tag, the others 0.
  std::vector<std::vector<Sequence>> parts(const Pretrained& p, const Example& e) const override {
    const auto* labeller = can<TokenLabeller>(*p.model);
    if (!labeller) return {columns(p, e)};
    const std::vector<int64_t> tags = tag_ids(labeller->token_labels(), e.tags);
    std::vector<std::vector<Sequence>> parts;
    for (TokenWindow& w : token_windows(*p.tokenizer, e.tokens, labeller->longest())) {
      Sequence wanted = {.ids = std::vector<int64_t>(w.read.tokens.ids.size(), 0)};
      for (size_t word = w.begin; word < w.end; ++word) wanted.ids[w.firsts[word - w.begin]] = 1 + tags[word];
      parts.push_back({{.ids = std::move(w.read.tokens.ids)}, std::move(wanted)});
    }
    return parts;
  }
  int64_t batch_tokens() const override { return 3 * batch_tokens_; }
  int64_t max_tokens() const override { return max_tokens_; }

  int64_t losses(const Batch& batch) const override {
    if (batch.columns.size() == 2) {
      const Tensor& tags = batch.columns[1].ids;
      return tags.elements() - std::count(tags.data<int64_t>(), tags.data<int64_t>() + tags.elements(), int64_t{0});
    }
    const Tensor& lengths = batch.columns[0].lengths;
    return std::accumulate(lengths.data<int64_t>(), lengths.data<int64_t>() + lengths.elements(), int64_t{0});
  }
  Tensor loss(const Pretrained& p, const Batch& batch, const Context& context) const override {
    if (const auto* labeller = can<TokenLabeller>(*p.model)) {
      Tensor tags = batch.columns[1].ids.clone();
      for (int64_t i = 0; i < tags.elements(); ++i) --tags.data<int64_t>()[i];
      return labeller->token_loss({batch.columns[0].ids, batch.columns[0].lengths}, tags, context);
    }
    return p.as<WordLabeller>().loss(spelled_words(batch.columns[0], batch.columns[1]), batch.columns[2].ids, context);
  }

  Predictions predict(const Pretrained& p, const Dataset& data, const std::vector<int64_t>& numbers,
                      const PredictOptions& options) const override {
    Predictions predictions;
    std::vector<Sentence> sentences;
    for (int64_t i : numbers) {
      Example e = data[i];
      sentences.push_back(std::move(e.tokens));
      predictions.references.push_back(fmt::format("{}", fmt::join(e.tags, " ")));
    }
    for (const Tagged& t : tag(p, sentences, {.on_batch = options.done}))
      predictions.hypotheses.push_back(fmt::format("{}", fmt::join(t.labels, " ")));
    return predictions;
  }
  std::vector<Score> score(const Predictions& p) const override {
    auto split = [](const std::vector<std::string>& lines) {
      std::vector<std::vector<std::string>> tags;
      for (const std::string& line : lines) tags.push_back(split_text(line, ' '));
      return tags;
    };
    const EntityScores scores = score_entities(split(p.references), split(p.hypotheses));
    return {{"f1", 100 * scores.micro.f1, Score::higher},
            {"precision", 100 * scores.micro.precision, Score::higher},
            {"recall", 100 * scores.micro.recall, Score::higher}};
  }

 private:
  static std::vector<int64_t> tag_ids(const std::vector<std::string>& labels, const std::vector<std::string>& tags) {
    std::vector<int64_t> ids;
    for (const std::string& tag : tags) {
      const auto found = std::find(labels.begin(), labels.end(), tag);
      if (found == labels.end()) throw_unknown("tag", tag, labels);
      ids.push_back(found - labels.begin());
    }
    return ids;
  }

  std::string token_column_, tag_column_;  // the first and the last, or by their usual names, if empty
  std::vector<std::string> names_;
  int64_t batch_tokens_ = 256, max_tokens_ = 200;
};

}  // namespace

extern const TaskKind tagging = {
    .name = "tagging",
    .help = "a tag for each word, learned from CoNLL columns",
    .make = []() -> std::unique_ptr<Task> { return std::make_unique<Tagging>(); },
};

}  // namespace fovea
