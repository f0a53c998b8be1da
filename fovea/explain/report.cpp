#include "fovea/explain/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "fovea/data/text/unknown_words.h"
#include "fovea/explain/entities.h"
#include "fovea/generate/classify.h"
#include "fovea/generate/framed.h"
#include "fovea/generate/translate.h"
#include "fovea/models/copying.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

using Labels = std::vector<std::string>;

// The tokens that the rows and columns of a place stand for.
struct Sides {
  Labels rows, columns;
};

Labels labels_of(std::string_view text, const std::vector<Span>& spans) {
  Labels labels;
  for (Span span : spans) labels.emplace_back(piece_of(text, span));
  return labels;
}

// Special tokens, which have no bytes, by their names.
Labels labels_of(const Tokenizer& tokenizer, std::string_view text, const Tokens& tokens) {
  Labels labels = labels_of(text, tokens.spans);
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels[i].empty()) labels[i] = tokenizer.piece(tokens.ids[i]);
  return labels;
}

// A piece without the mark that SentencePiece puts in the place of a space.
std::string written(const Tokenizer& tokenizer, int64_t id) {
  static constexpr std::string_view space = "▁";
  std::string piece = tokenizer.piece(id);
  if (piece.size() > space.size() && piece.starts_with(space)) piece.erase(0, space.size());
  return piece;
}

Source alone(const std::vector<int64_t>& ids) { return {tensor({1, static_cast<int64_t>(ids.size())}, ids), {}}; }

void require_readable(size_t tokens) {
  require(tokens <= most_explained_tokens, "explain: found a text of {} tokens, expected at most {}", tokens,
          most_explained_tokens);
}

// What a place saw in all its runs (the steps of a recurrent decoder), [heads, rows, columns].
Tensor weights_at(const std::vector<ProbeResult>& runs) {
  std::vector<Tensor> rows;
  for (const ProbeResult& run : runs) rows.push_back(run.weights.select(0, 0));
  return concat(rows, 1).contiguous();
}

// Collects the places of one pass: first those of the encoder, which runs first.
class Reporter final {
 public:
  explicit Reporter(const ExplainOptions& options)
      : trace_({.heads = options.heads, .weights = true}), heads_(options.heads) {
    trace_.places = options.places;
  }

  Trace* trace() { return &trace_; }

  template <class SidesOfPlace>
  std::vector<HeadReport> heads(const SidesOfPlace& sides_of) const {
    for (const std::string& place : trace_.places)
      require(std::any_of(trace_.results().begin(), trace_.results().end(),
                          [&](const auto& seen) { return seen.first == place || seen.first.starts_with(place + "."); }),
              "explain: found the place '{}', which the model has not; without places all of them are shown", place);
    std::vector<HeadReport> reports;
    for (const bool encoder : {true, false})
      for (const auto& [place, runs] : trace_.results())
        if (place.starts_with("encoder") == encoder) add(place, weights_at(runs), sides_of(place), reports);
    return reports;
  }

 private:
  void add(const std::string& place, const Tensor& weights, Sides sides, std::vector<HeadReport>& reports) const {
    // A model reads the first so many tokens of a text.
    sides.rows.resize(static_cast<size_t>(weights.size(1)));
    sides.columns.resize(static_cast<size_t>(weights.size(2)));
    for (int64_t i = 0; i < weights.size(0); ++i) {
      const int64_t head = heads_.empty() ? i : heads_[static_cast<size_t>(i)];
      reports.push_back({place, head, sides.rows, sides.columns, weights.select(0, i).values<double>()});
    }
  }

  Trace trace_;
  std::vector<int64_t> heads_;
};

Report explain_generator(const Generator& model, const Tokenizer& tokenizer, const std::string& text,
                         const ExplainOptions& options) {
  Tokens tokens = tokenizer.encode(text);
  require_readable(tokens.ids.size());
  Report report = {text, {}, {}};
  if (tokens.ids.empty()) return report;
  UnknownWords words(tokenizer);
  if (copies(model)) tokens.ids = words.add(text, tokens);
  const SpecialIds special = model.special_ids();
  const Tokens framed = source_tokens(tokenizer, tokens);
  const Request request = {.source = framed.ids};
  const Hypothesis best = generate(model, {request}, options.generation, {.unknown = tokenizer.special().unk})[0].at(0);
  report.answer = words.decode(best.ids).text;

  const std::string start = written(tokenizer, special.bos), end = written(tokenizer, special.eos);
  std::vector<int64_t> read = {special.bos};
  Labels source = labels_of(text, framed.spans), inputs = {start}, outputs;
  const auto first = std::search(framed.ids.begin(), framed.ids.end(), tokens.ids.begin(), tokens.ids.end());
  const auto before = static_cast<size_t>(first - framed.ids.begin());
  for (size_t i = 0; i < source.size(); ++i)
    if (i < before || i >= before + tokens.ids.size()) source[i] = written(tokenizer, framed.ids[i]);
  for (int64_t id : best.ids) {
    read.push_back(id);
    inputs.push_back(id < tokenizer.size() ? written(tokenizer, id) : words.decode({id}).text);
    outputs.push_back(inputs.back());
  }
  outputs.push_back(end);
  Reporter reporter(options);
  model.logits(alone(request.source), alone(read).ids, {.trace = reporter.trace()});
  report.heads = reporter.heads([&](const std::string& place) -> Sides {
    if (place.starts_with("encoder")) return {source, source};
    return place.ends_with(".self") ? Sides{outputs, inputs} : Sides{outputs, source};
  });
  return report;
}

Report explain_text_labels(const TextLabeller& model, const Tokenizer& tokenizer, const std::string& text,
                           const ExplainOptions& options) {
  const Classified found = classify(model, tokenizer, {text})[0];
  require_readable(found.tokens.size());
  const std::string& label = model.labels().names()[found.best];
  Report report = {text, to_text(found, model.labels()), {}};
  const Framed read = {labeller_tokens(tokenizer, text, model).tokens};
  Reporter reporter(options);
  model.logits(source_of({read}, tokenizer.special().pad), {.trace = reporter.trace()});
  const Labels words = labels_of(tokenizer, text, read.tokens);
  report.heads = reporter.heads([&](const std::string& place) -> Sides {
    return {place == "pooling" ? Labels{label} : words, words};
  });
  return report;
}

Report explain_token_labels(const TokenLabeller& model, const Tokenizer& tokenizer, const std::string& text,
                            const ExplainOptions& options) {
  const Framed read = framed(tokenizer, text, std::nullopt, model.longest());
  require_readable(read.tokens.ids.size());
  Report report = {text, marked(tag_texts(model, tokenizer, {text})[0]), {}};
  Reporter reporter(options);
  model.token_logits(source_of({read}, tokenizer.special().pad), {.trace = reporter.trace()});
  const Labels words = labels_of(tokenizer, text, read.tokens);
  report.heads = reporter.heads([&](const std::string&) -> Sides { return {words, words}; });
  return report;
}

// A model that answers otherwise, or not at all: what it looks at while it reads.
Report explain_reading(const Encoder& model, const Tokenizer& tokenizer, const std::string& text,
                       const ExplainOptions& options) {
  const Framed read = framed(tokenizer, text, std::nullopt, model.longest());
  require_readable(read.tokens.ids.size());
  Report report = {text, {}, {}};
  if (read.tokens.ids.empty()) return report;
  Reporter reporter(options);
  model.encode(source_of({read}, tokenizer.special().pad), {.trace = reporter.trace()});
  const Labels words = labels_of(tokenizer, text, read.tokens);
  report.heads = reporter.heads([&](const std::string&) -> Sides { return {words, words}; });
  return report;
}

Report explain_word_labels(const WordLabeller& tagger, const Tokenizer& tokenizer, const std::string& text,
                           const ExplainOptions& options) {
  const auto* vocabulary = dynamic_cast<const Words*>(&tokenizer);
  require(vocabulary, "explain: found a tagger with a tokenizer of kind '{}', expected words", tokenizer.kind());
  const TaggedText found = tag_texts(tagger, *vocabulary, {text})[0];
  require_readable(found.words.size());
  Report report = {text, marked(found), {}};
  if (found.words.empty()) return report;
  const Labels words = labels_of(text, found.words);
  const std::vector<Sequence> columns = tagger_columns(*vocabulary, words);
  Reporter reporter(options);
  tagger.scores(spelled_words(collate(std::span(columns).first(1)), collate(std::span(columns).last(1))),
                {.trace = reporter.trace()});
  report.heads = reporter.heads([&](const std::string&) -> Sides { return {words, words}; });
  return report;
}

size_t largest_in(const HeadReport& h, size_t row) {
  const auto first = h.weights.begin() + static_cast<std::ptrdiff_t>(row * h.columns.size());
  return static_cast<size_t>(std::max_element(first, first + static_cast<std::ptrdiff_t>(h.columns.size())) - first);
}

double focus_of(const HeadReport& h) {
  double sum = 0;
  for (size_t row = 0; row < h.rows.size(); ++row) sum += h.at(row, largest_in(h, row));
  return sum / static_cast<double>(h.rows.size());
}

// "-1 in 5 of 8": the most frequent distance from a row's own place to its largest weight; the nearest of equals.
std::string offset_of(const HeadReport& h) {
  if (!h.place.ends_with(".self") && h.place != "attention") return "";
  std::map<int64_t, int> counts;
  for (size_t row = 0; row < h.rows.size(); ++row)
    ++counts[static_cast<int64_t>(largest_in(h, row)) - static_cast<int64_t>(row)];
  const auto best = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second, -std::abs(a.first)) < std::pair(b.second, -std::abs(b.first));
  });
  return fmt::format("{:+} in {} of {}", best->first, best->second, h.rows.size());
}

// The largest weights of all.
std::string links_of(const HeadReport& h, size_t most) {
  std::vector<size_t> cells(h.weights.size());
  std::iota(cells.begin(), cells.end(), size_t{0});
  std::stable_sort(cells.begin(), cells.end(), [&](size_t a, size_t b) { return h.weights[a] > h.weights[b]; });
  cells.resize(std::min(most, cells.size()));
  std::string text;
  for (size_t i : cells)
    text += fmt::format("{}{} → {} {:.2f}", text.empty() ? "" : "   ", h.rows[i / h.columns.size()],
                        h.columns[i % h.columns.size()], h.weights[i]);
  return text;
}

}  // namespace

std::vector<HeatMap> Report::maps() const {
  std::vector<HeatMap> maps;
  for (const HeadReport& h : heads) {
    maps.push_back({fmt::format("{}, head {}", h.place, h.head), h.rows, h.columns, h.weights});
    maps.back().layer = h.place, maps.back().head = h.head;
    if (h.place.starts_with("decoder") && h.place.ends_with(".self")) maps.back().mask_future();
  }
  return maps;
}

Report explain(const Model& model, const Tokenizer& tokenizer, const std::string& text, const ExplainOptions& options) {
  if (const auto* generator = can<Generator>(model)) return explain_generator(*generator, tokenizer, text, options);
  if (const auto* labeller = can<TextLabeller>(model)) return explain_text_labels(*labeller, tokenizer, text, options);
  if (const auto* labeller = can<WordLabeller>(model)) return explain_word_labels(*labeller, tokenizer, text, options);
  if (const auto* labeller = can<TokenLabeller>(model))
    return explain_token_labels(*labeller, tokenizer, text, options);
  if (const auto* encoder = can<Encoder>(model)) return explain_reading(*encoder, tokenizer, text, options);
  throw Error(Error::unsupported, "explain: found a model of family '{}', expected one that answers texts",
              model.family());
}

std::string to_text(const Report& report) {
  std::string text = report.answer + "\n";
  if (report.heads.empty()) return text;
  size_t width = 5;
  for (const HeadReport& h : report.heads) width = std::max(width, h.place.size());
  text += fmt::format("\n{:<{}}  head  focus  {:<14}  strongest links\n", "place", width, "largest at");
  for (const HeadReport& h : report.heads)
    text += fmt::format("{:<{}}  {:>4}  {:>5.2f}  {:<14}  {}\n", h.place, width, h.head, focus_of(h), offset_of(h),
                        links_of(h, 3));
  return text;
}

}  // namespace fovea
