#include "fovea/generate/piece_by_piece.h"

#include <algorithm>

#include "fovea/data/text/unknown_words.h"
#include "fovea/generate/joining.h"
#include "fovea/generate/known_letters.h"
#include "fovea/generate/pieces.h"
#include "fovea/models/copying.h"

namespace fovea {
namespace {

Span end_of(const std::string& text) {
  const auto size = static_cast<int64_t>(text.size());
  return {size, size};
}

// Runs of tokens that rather come from the source, the blanks between them included.
std::vector<Span> copied_runs(const std::vector<Span>& tokens, const std::vector<double>& shares) {
  std::vector<Span> runs;
  bool goes_on = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool copied = shares[i] > 0.5 && tokens[i].size() > 0;
    if (copied && goes_on)
      runs.back().end = tokens[i].end;
    else if (copied)
      runs.push_back(tokens[i]);
    goes_on = copied;
  }
  return runs;
}

Translation translation_of(const UnknownWords& words, const Hypothesis& h) {
  DecodedText decoded = words.decode(h.ids);
  Translation t = {.text = std::move(decoded.text),
                   .score = h.score,
                   .ids = h.ids,
                   .tokens = std::move(decoded.spans),
                   .log_probabilities = h.log_probabilities,
                   .attention = h.attention};
  if (h.ended) t.tokens.push_back(end_of(t.text));
  if (!h.copied.empty()) t.copied = copied_runs(t.tokens, h.copied);
  return t;
}

bool has_a_word(std::string_view text) {
  if (invalid_utf8(text) != std::string_view::npos) return true;  // part of a character
  for (const CodePoint& c : code_points(text))
    if (is_word_character(c.value)) return true;
  return false;
}

// What was looked at among the text's tokens and its end, which stands for all that is not of the text.
Tensor over_text(const Tensor& weights, int64_t before, int64_t tokens) {
  if (before == 0 && weights.size(1) == tokens + 1) return weights;
  const Tensor all = weights.contiguous();
  const int64_t columns = all.size(1);
  Tensor result = zeros({all.size(0), tokens + 1});
  float* to = result.data<float>();
  const float* from = all.data<float>();
  for (int64_t row = 0; row < all.size(0); ++row, from += columns, to += tokens + 1)
    for (int64_t j = 0; j < columns; ++j) to[j < before || j >= before + tokens ? tokens : j - before] += from[j];
  return result;
}

// A matrix of the weights of as many has some hundred megabytes.
constexpr size_t most_weighed_tokens = 8192;

struct Piece {
  size_t text;
  std::vector<Span> spans;
  int64_t before;  // tokens of its source that stand before those of the text
  bool last;       // of its text
  bool kept;
  UnknownWords words;  // that the model can copy
};

// What stands between the translations of two pieces: the white space between the pieces. Where there is none, an emoji has none
// either.
std::optional<std::string> gap_between(std::string_view text, const Piece& a, const Piece& b) {
  const auto visible = [&](const Piece& p) {
    return without_spaces(text, {p.spans.front().begin, p.spans.back().end});
  };
  const Span gap = {visible(a).end, visible(b).begin};
  if (gap.size() > 0 && without_spaces(text, gap).size() == 0) return std::string(piece_of(text, gap));
  if (a.kept || b.kept) return "";
  return {};
}

// Texts cut into pieces, and what is found for the pieces put together and handed on, text after text.
class PieceByPiece {
 public:
  PieceByPiece(const Generator& model, const Tokenizer& tokenizer, const std::vector<std::string>& texts,
               const GenerationConfig& config, const Cutting& cutting, const TranslateOptions& options)
      : tokenizer_(tokenizer),
        copies_(copies(model)),
        texts_(texts),
        config_(config),
        cutting_(cutting),
        options_(options),
        task_(tokenizer.encode(options.task).ids),
        results_(texts.size()) {
    for (size_t i = 0; i < texts.size(); ++i) cut(i);
    add_kept();
  }

  // Of the pieces that are not kept as they are.
  const std::vector<Request>& requests() const { return requests_; }

  // The answer to the next request.
  void add(const Hypotheses& hypotheses) {
    const std::vector<Span>& spans = pieces_[at_].spans;
    std::vector<Translation> found;
    for (const Hypothesis& h : hypotheses) {
      found.push_back(translation_of(pieces_[at_].words, h));
      if (h.attention)
        found.back().attention = over_text(h.attention, pieces_[at_].before, static_cast<int64_t>(spans.size()));
      if (config_.unsure_below < 0 && confidence(found.back()) < config_.unsure_below)
        found.back().unsure = {without_spaces(texts_[pieces_[at_].text], {spans.front().begin, spans.back().end})};
    }
    add(std::move(found));
    add_kept();
  }

  std::vector<Translations> finish() {
    hand_on(texts_.size());
    return std::move(results_);
  }

 private:
  void cut(size_t text) {
    const Tokens tokens = tokenizer_.encode(texts_[text]);
    Translations& result = results_[text];
    result.source = tokens.spans;
    result.source.push_back(end_of(texts_[text]));
    result.found.emplace_back();
    if (tokens.ids.empty()) return;
    require(
        !options_.attention || tokens.ids.size() <= most_weighed_tokens,
        "attention: found a text of {} tokens, expected at most {}; give it in several lines, or ask for no weights",
        tokens.ids.size(), most_weighed_tokens);
    const Tokens prefix = tokenizer_.encode(options_.prefix);
    const auto ranges = pieces_of(texts_[text], tokens.spans, cutting_);
    for (const auto& [begin, end] : ranges) {
      const auto first = static_cast<std::ptrdiff_t>(begin), behind = static_cast<std::ptrdiff_t>(end);
      Tokens part = {{tokens.ids.begin() + first, tokens.ids.begin() + behind},
                     {tokens.spans.begin() + first, tokens.spans.begin() + behind}};
      const bool kept = prefix.ids.empty() && is_kept(texts_[text], part, ranges.size() > 1);
      UnknownWords words(tokenizer_);
      if (copies_) part.ids = words.add(texts_[text], part);
      const Tokens source = source_tokens(tokenizer_, part, task_);
      const auto at = std::search(source.ids.begin() + static_cast<std::ptrdiff_t>(task_.size()), source.ids.end(),
                                  part.ids.begin(), part.ids.end());
      pieces_.push_back({text, part.spans, at - source.ids.begin(), end == tokens.ids.size(), kept, words});
      if (kept) continue;
      requests_.push_back(
          {.source = source.ids, .prefix = begin == 0 ? words.find(options_.prefix, prefix) : std::vector<int64_t>{}});
    }
  }

  // Marks and emoji between sentences are nothing to be translated.
  bool is_kept(std::string_view text, const Tokens& part, bool of_several) const {
    if (config_.keep_wordless) return !knows_a_letter(tokenizer_, text, part);
    return of_several && !has_a_word(piece_of(text, {part.spans.front().begin, part.spans.back().end}));
  }

  void add(std::vector<Translation> found) {
    const Piece& piece = pieces_[at_];
    const std::string& text = texts_[piece.text];
    JoinedPart part = {"", static_cast<int64_t>(piece.spans.size()), std::move(found)};
    if (!ready_.empty()) part.gap = gap_between(text, pieces_[at_ - 1], piece);
    ready_.push_back(std::move(part));
    ++at_;
    if (!piece.last) return;
    results_[piece.text].found = join(std::exchange(ready_, {}), config_.length_penalty);
    hand_on(piece.text + 1);
  }

  void add_kept() {
    while (at_ < pieces_.size() && pieces_[at_].kept)
      add({kept_translation(texts_[pieces_[at_].text], pieces_[at_].spans, options_.attention)});
  }

  void hand_on(size_t end) {
    for (; handed_on_ < end; ++handed_on_)
      if (options_.on_result) options_.on_result(handed_on_, results_[handed_on_]);
  }

  const Tokenizer& tokenizer_;
  const bool copies_;
  const std::vector<std::string>& texts_;
  const GenerationConfig& config_;
  const Cutting cutting_;
  const TranslateOptions& options_;
  const std::vector<int64_t> task_;
  std::vector<Translations> results_;
  std::vector<Piece> pieces_;
  std::vector<Request> requests_;
  std::vector<JoinedPart> ready_;  // pieces of the text that is being put together
  size_t at_ = 0;                  // the piece whose translation comes next
  size_t handed_on_ = 0;           // texts
};

}  // namespace

std::vector<Translations> translate_pieces(const Generator& model, const Tokenizer& tokenizer,
                                           const std::vector<std::string>& texts, const GenerationConfig& config,
                                           const TranslateOptions& options) {
  Cutting cutting = {.most = config.piece_tokens, .sentences = config.piece_tokens > 0};
  if (options.trace) cutting = {};
  // The last position is the end's, or more are those of a frame; a task's tokens stand before those of the text.
  const auto around = static_cast<int64_t>(
      source_tokens(tokenizer, tokenizer.encode(""), tokenizer.encode(options.task).ids).ids.size());
  require(model.longest() == 0 || around < model.longest(),
          "translation: found a task of {} tokens, expected less than the model's {} positions", around,
          model.longest());
  if (const int64_t most = model.longest() - around; model.longest() > 0)
    cutting.most = cutting.sentences ? std::min(cutting.most, most) : most;
  PieceByPiece pieces(model, tokenizer, texts, config, cutting, options);
  generate(model, pieces.requests(), config,
           {.attention = options.attention,
            .unknown = tokenizer.special().unk,
            .trace = pieces.requests().empty() ? nullptr : options.trace,
            .keep = false,
            .on_result = [&](size_t, const Hypotheses& hypotheses) { pieces.add(hypotheses); }});
  return pieces.finish();
}

}  // namespace fovea
