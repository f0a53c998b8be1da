#include "fovea/models/families/tagger.h"

#include <algorithm>
#include <map>

#include "fovea/models/padding.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/loss.h"
#include "fovea/tensor/reduce.h"
#include "fovea/tensor/softmax.h"

namespace fovea {
namespace {

using Config = WordTagger::Config;

Config checked(const Config& c) {
  check_labels("tagger", c.labels);
  check_choice("tagger", "cell", c.cell, {"lstm", "gru"});
  std::vector<std::string> forms = {"none"};
  for (const Form* form : catalogue<Form>()) forms.emplace_back(form->name);
  check_choice("tagger", "attention", c.attention, forms);
  check_size("tagger", "vocabulary", c.vocabulary);
  check_size("tagger", "characters", c.characters);
  check_size("tagger", "embedding", c.embedding);
  check_size("tagger", "width", c.width);
  check_size("tagger", "layers", c.layers);
  check_layers("tagger", "layers", c.layers);
  check_size("tagger", "character_embedding", c.character_embedding);
  check_size("tagger", "character_width", c.character_width);
  check_share("tagger", "dropout", c.dropout);
  check_share("tagger", "word_dropout", c.word_dropout);
  for (int64_t id : {c.padding, c.unknown})
    require(0 <= id && id < c.vocabulary, "tagger: found a special id {}, expected 0 to {}", id, c.vocabulary - 1);
  require(c.padding < c.characters, "tagger: found padding {} for {} characters, expected less", c.padding,
          c.characters);
  return c;
}

void check_ids(const char* what, const Tensor& ids, const Shape& expected) {
  require(ids && ids.dtype() == DType::i64 && ids.shape() == expected, "tagger: found {} {}, expected I64 {}", what,
          ids ? ids.shape().text() : "missing", expected);
}

void check(const SpelledWords& x) {
  require(x.words && x.words.rank() == 2 && x.words.dtype() == DType::i64,
          "tagger: found words {}, expected I64 [batch, words]", x.words ? x.words.shape().text() : "missing");
  const int64_t batch = x.words.size(0), words = x.words.size(1);
  check_ids("lengths", x.lengths, {batch});
  require(x.characters && x.characters.rank() == 3, "tagger: found characters {}, expected I64 [{}, {}, characters]",
          x.characters ? x.characters.shape().text() : "missing", batch, words);
  check_ids("characters", x.characters, {batch, words, x.characters.size(2)});
  check_ids("character lengths", x.character_lengths, {batch, words});
}

// The different words of a batch by their characters, padded, and for each word of the batch which of them it is, counted from
// 1 (0: padding).
struct Spellings {
  Tensor characters, lengths;  // i64 [different, characters], [different]
  Tensor which;                // i64 [batch, words]
};

Spellings spellings_of(const SpelledWords& x, int64_t padding) {
  const Tensor ids = x.characters.contiguous(), lengths = x.character_lengths.contiguous();
  const int64_t most = x.characters.size(2);
  std::map<std::vector<int64_t>, int64_t> numbers;
  std::vector<const std::vector<int64_t>*> different;
  Tensor which = zeros(x.words.shape(), DType::i64);
  size_t longest = 1;
  for_each_real(x.lengths, x.words.shape(), [&](int64_t i) {
    const int64_t n = lengths.data<int64_t>()[i], *begin = ids.data<int64_t>() + i * most;
    require(0 <= n && n <= most, "tagger: found a word of {} characters, expected 0 to {}", n, most);
    const auto [entry, fresh] = numbers.try_emplace({begin, begin + n}, static_cast<int64_t>(numbers.size()) + 1);
    if (fresh) different.push_back(&entry->first), longest = std::max(longest, entry->first.size());
    which.data<int64_t>()[i] = entry->second;
  });
  std::vector<int64_t> rows(different.size() * longest, padding), row_lengths;
  for (size_t row = 0; row < different.size(); ++row) {
    std::copy(different[row]->begin(), different[row]->end(), rows.begin() + static_cast<int64_t>(row * longest));
    row_lengths.push_back(static_cast<int64_t>(different[row]->size()));
  }
  const int64_t count = static_cast<int64_t>(different.size());
  return {tensor({count, static_cast<int64_t>(longest)}, rows), tensor({count}, row_lengths), which};
}

}  // namespace

void Config::fields(Fields& f) {
  f.from_data("vocabulary", vocabulary, "size of the vocabulary of words");
  f.from_data("characters", characters, "size of the vocabulary of characters");
  f.from_data("labels", labels, "what a word can be");
  f("cell", cell, "lstm or gru");
  f("embedding", embedding, "width of an embedded word");
  f("width", width, "width of the words' state in each direction");
  f("layers", layers, "layers over the words");
  f("character_embedding", character_embedding, "width of an embedded character");
  f("character_width", character_width, "width of the characters' state in each direction");
  f("attention", attention, "of the words to each other: scaled-dot, dot, general, additive, concat or none");
  f("crf", crf, "whether the labels of a sentence are chosen together (CRF), or each by its own softmax");
  f("dropout", dropout, "share of the words' vectors and of the states that is dropped in training");
  f("word_dropout", word_dropout, "share of the words that is read as unknown in training");
  f.from_data("padding", padding, "id of padding");
  f.from_data("unknown", unknown, "id of unknown words");
}

WordTagger::WordTagger(const Config& c)
    : config_(checked(c)),
      dropout_(c.dropout),
      words_({.entries = c.vocabulary, .width = c.embedding, .padding = c.padding}),
      characters_({.entries = c.characters, .width = c.character_embedding, .padding = c.padding}),
      character_cells_(c.cell, {.inputs = c.character_embedding, .width = c.character_width, .bidirectional = true}),
      cells_(c.cell, {.inputs = c.embedding + 2 * c.character_width,
                      .width = c.width,
                      .layers = c.layers,
                      .bidirectional = true,
                      .dropout = c.dropout}),
      output_({.inputs = (c.attention == "none" ? 2 : 4) * c.width, .outputs = static_cast<int64_t>(c.labels.size())}) {
  if (c.attention != "none")
    attention_.emplace(MultiHeadAttention::Config{.width = 2 * c.width, .heads = 1, .form = c.attention});
  if (c.crf) crf_.emplace(Crf::Config{static_cast<int64_t>(c.labels.size())});
}

void WordTagger::weights(Weights& w) {
  w("words", words_);
  w("characters", characters_);
  w("spelling", character_cells_);
  w("encoder", cells_);
  if (attention_) w("attention", *attention_);
  w("output", output_);
  if (crf_) w("crf", *crf_);
}

Tensor WordTagger::word_vectors(const SpelledWords& x, const Context& c) const {
  Tensor ids = only_real(x.words, x.lengths, config_.padding);
  if (c.training && config_.word_dropout > 0) {
    const Random random = c.random.fork("word dropout");
    for_each_real(x.lengths, ids.shape(), [&](int64_t i) {
      if (random.uniform(static_cast<uint64_t>(i)) < config_.word_dropout) ids.data<int64_t>()[i] = config_.unknown;
    });
  }
  return words_(ids);
}

// A word that stands in the batch several times is read once.
Tensor WordTagger::spelling(const SpelledWords& x, const Context& c) const {
  const Spellings s = spellings_of(x, config_.padding);
  const Tensor nothing = zeros({1, 2 * config_.character_width}, characters_.weight().dtype());
  if (s.lengths.elements() == 0) return rows(nothing, s.which);
  const RecurrentOutput read = character_cells_(characters_(s.characters), c, {.lengths = s.lengths});
  return rows(concat({nothing, top_states(read.last.hidden, 2)}, 0), s.which);
}

Tensor WordTagger::features(const SpelledWords& x, const Context& c) const {
  const Tensor read = concat({word_vectors(x, c.at("words")), spelling(x, c.at("spelling"))}, -1);
  return dropout_(c.entering("source", read), c.at("features"));
}

Tensor WordTagger::scores(const SpelledWords& x, const Context& context) const {
  check(x);
  Context c = context;
  c.cache = nullptr;  // all words are there at once
  Tensor h = cells_(features(x, c), c.at("encoder"), {.lengths = x.lengths}).outputs;
  h = dropout_(h, c.at("states"));
  if (!attention_) return output_(h);
  const Tensor a = (*attention_)(h, {.mask = {.key_lengths = x.lengths}}, c.at("attention"));
  return output_(concat({h, a}, -1));
}

Tensor WordTagger::loss(const SpelledWords& x, const Tensor& labels, const Context& c) const {
  const Tensor e = scores(x, c);
  if (crf_) return crf_->loss(e, labels, x.lengths);
  constexpr int64_t ignored = -100;
  check_ids("labels", labels, x.words.shape());
  return cross_entropy(e, only_real(labels, x.lengths, ignored), {.ignored = ignored, .reduction = Reduction::sum});
}

Tensor WordTagger::best(const Tensor& scores, const Tensor& lengths) const {
  return crf_ ? crf_->best(scores, lengths) : only_real(argmax(scores, -1), lengths, 0);
}

Tensor WordTagger::probabilities(const Tensor& scores, const Tensor& lengths) const {
  if (crf_) return crf_->probabilities(scores, lengths);
  Tensor real = zeros({scores.size(0), scores.size(1), 1}, DType::i8);
  for_each_real(lengths, scores.shape(), [&](int64_t i) { real.data<int8_t>()[i] = 1; });
  return where(real, softmax(scores.detach()), zeros({}, scores.dtype()));
}

Tensor WordTagger::log_odds(const Tensor& scores, const Tensor& lengths, std::span<const int64_t> words,
                            int64_t label) const {
  if (crf_) return crf_->log_odds(scores, lengths, words, label);
  std::vector<int64_t> rows;
  for (size_t b = 0; b < words.size(); ++b) rows.push_back(static_cast<int64_t>(b) * scores.size(1) + words[b]);
  const Tensor flat = scores.reshape({scores.size(0) * scores.size(1), scores.size(2)});
  return fovea::log_odds(fovea::rows(flat, tensor({scores.size(0)}, rows)), label);
}

extern const Family tagger = family_of<WordTagger>(
    "tagger", "a label for each word: characters and words, Bi-LSTM, self-attention, CRF (Ma and Hovy 2016)",
    R"([{"embedding": 8, "width": 6, "character_embedding": 5, "character_width": 4, "dropout": 0,
         "cell": ["lstm", "gru"], "attention": ["scaled-dot", "additive", "none"], "crf": [true, false]}])",
    R"({"learning_rate": 2e-3})");

}  // namespace fovea
