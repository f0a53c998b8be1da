#include "fovea/generate/translate.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

Span end_of(const std::string& text) {
  const auto size = static_cast<int64_t>(text.size());
  return {size, size};
}

// A token's bytes are those by which it makes the text longer.
std::vector<Span> spans_of(const Tokenizer& tokenizer, const std::vector<int64_t>& ids, const std::string& text) {
  std::vector<Span> spans;
  int64_t begin = 0;
  const int64_t size = static_cast<int64_t>(text.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto decoded = static_cast<int64_t>(tokenizer.decode(std::span(ids).first(i + 1)).size());
    const int64_t end = i + 1 == ids.size() ? size : std::clamp(decoded, begin, size);
    while (begin < end && text[static_cast<size_t>(begin)] == ' ') ++begin;
    spans.push_back({begin, end});
    begin = end;
  }
  return spans;
}

Translation translation_of(const Tokenizer& tokenizer, const Hypothesis& h) {
  Translation t = {.text = tokenizer.decode(h.ids), .score = h.score, .log_probabilities = h.log_probabilities};
  t.tokens = spans_of(tokenizer, h.ids, t.text);
  if (h.ended) t.tokens.push_back(end_of(t.text));
  t.attention = h.attention;
  return t;
}

bool ends_sentence(std::string_view text) {
  for (const char* quote : {"\"", "'", ")", "“", "”", "’", "»", "«"})
    if (text.ends_with(quote)) return ends_sentence(text.substr(0, text.size() - std::string_view(quote).size()));
  for (const char* mark : {".", "!", "?", "…", "。", "！", "？"})
    if (text.ends_with(mark)) return true;
  return false;
}

bool knows_a_letter(const Tokenizer& tokenizer, std::string_view text, const Tokens& tokens) {
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    if (tokens.ids[i] == tokenizer.special().unk) continue;
    const std::string_view piece = piece_of(text, tokens.spans[i]);
    if (invalid_utf8(piece) != std::string_view::npos) return true;  // one byte of a character, all of which are known
    for (const CodePoint& c : code_points(piece))
      if (is_word_character(c.value) && (c.value < U'0' || c.value > U'9')) return true;
  }
  return false;
}

// A piece that stays as it is: each token looked at itself.
Translation copied(std::string_view text, const std::vector<Span>& spans, bool attention) {
  const int64_t begin = spans.front().begin, count = static_cast<int64_t>(spans.size()) + 1;
  Translation t = {
      .text = std::string(text.substr(static_cast<size_t>(begin), static_cast<size_t>(spans.back().end - begin)))};
  for (Span span : spans) t.tokens.push_back({span.begin - begin, span.end - begin});
  t.tokens.push_back(end_of(t.text));
  t.log_probabilities.resize(t.tokens.size());
  if (!attention) return t;
  t.attention = zeros({count, count});
  for (int64_t i = 0; i < count; ++i) t.attention.data<float>()[i * count + i] = 1;
  return t;
}

// The k-th best of each piece behind one another, with a space between.
Translation joined(const std::vector<Translations>& pieces, size_t k, const GenerationConfig& config) {
  Translation all;
  double sum = 0;
  for (const Translations& piece : pieces) {
    const Translation& t = piece.found[std::min(k, piece.found.size() - 1)];
    if (!all.text.empty() && !t.text.empty()) all.text += ' ';
    const auto offset = static_cast<int64_t>(all.text.size());
    all.text += t.text;
    for (Span span : t.tokens) all.tokens.push_back({offset + span.begin, offset + span.end});
    for (double p : t.log_probabilities) all.log_probabilities.push_back(p), sum += p;
  }
  all.score = sum / std::pow(static_cast<double>(all.log_probabilities.size()), config.length_penalty);
  if (!pieces[0].found[0].attention) return all;
  // Each piece looked at its own tokens, and at an end that stands at the end of all.
  int64_t tokens = 1, row = 0, column = 0;
  for (const Translations& piece : pieces) tokens += static_cast<int64_t>(piece.source.size()) - 1;
  all.attention = zeros({static_cast<int64_t>(all.log_probabilities.size()), tokens});
  for (const Translations& piece : pieces) {
    const Tensor part = piece.found[std::min(k, piece.found.size() - 1)].attention.contiguous();
    const int64_t rows = part.size(0), width = part.size(1);
    for (int64_t i = 0; i < rows; ++i) {
      const float* from = part.data<float>() + i * width;
      float* to = all.attention.data<float>() + (row + i) * tokens;
      std::copy(from, from + width - 1, to + column);
      to[tokens - 1] = from[width - 1];
    }
    row += rows, column += width - 1;
  }
  return all;
}

// Texts cut into pieces, and what is found for the pieces put together and handed on, text after text.
class PieceByPiece {
 public:
  PieceByPiece(const Tokenizer& tokenizer, const std::vector<std::string>& texts, const GenerationConfig& config,
               const TranslateOptions& options)
      : tokenizer_(tokenizer), texts_(texts), config_(config), options_(options), results_(texts.size()) {
    for (size_t i = 0; i < texts.size(); ++i) cut(i);
    add_kept();
  }

  // Of the pieces that are not kept as they are.
  const std::vector<Request>& requests() const { return requests_; }

  // The answer to the next request.
  void add(const Hypotheses& hypotheses) {
    std::vector<Translation> found;
    for (const Hypothesis& h : hypotheses) found.push_back(translation_of(tokenizer_, h));
    add(std::move(found));
    add_kept();
  }

  std::vector<Translations> finish() {
    hand_on(texts_.size());
    return std::move(results_);
  }

 private:
  struct Piece {
    size_t text;
    std::vector<Span> spans;
    bool last;  // of its text
    bool kept;
  };

  void cut(size_t text) {
    const Tokens tokens = tokenizer_.encode(texts_[text]);
    Translations& result = results_[text];
    result.source = tokens.spans;
    result.source.push_back(end_of(texts_[text]));
    result.found.emplace_back();
    if (tokens.ids.empty()) return;
    const std::vector<int64_t> prefix = tokenizer_.encode(options_.prefix).ids;
    for (const auto& [begin, end] : pieces_of(texts_[text], tokens.spans, config_.piece_tokens)) {
      const auto first = static_cast<std::ptrdiff_t>(begin), behind = static_cast<std::ptrdiff_t>(end);
      const Tokens part = {{tokens.ids.begin() + first, tokens.ids.begin() + behind},
                           {tokens.spans.begin() + first, tokens.spans.begin() + behind}};
      const bool kept = config_.keep_wordless && prefix.empty() && !knows_a_letter(tokenizer_, texts_[text], part);
      pieces_.push_back({text, part.spans, end == tokens.ids.size(), kept});
      if (kept) continue;
      requests_.push_back(
          {.source = source_ids(tokenizer_, part), .prefix = begin == 0 ? prefix : std::vector<int64_t>{}});
    }
  }

  void add(std::vector<Translation> found) {
    const Piece& piece = pieces_[at_++];
    ready_.push_back({std::vector<Span>(piece.spans.size() + 1), std::move(found)});
    if (!piece.last) return;
    std::vector<Translation>& all = results_[piece.text].found;
    all.clear();
    size_t most = 0;
    for (const Translations& r : ready_) most = std::max(most, r.found.size());
    if (ready_.size() == 1) all = std::move(ready_[0].found);
    for (size_t k = 0; ready_.size() > 1 && k < most; ++k) all.push_back(joined(ready_, k, config_));
    ready_.clear();
    hand_on(piece.text + 1);
  }

  void add_kept() {
    while (at_ < pieces_.size() && pieces_[at_].kept)
      add({copied(texts_[pieces_[at_].text], pieces_[at_].spans, options_.attention)});
  }

  void hand_on(size_t end) {
    for (; handed_on_ < end; ++handed_on_)
      if (options_.on_result) options_.on_result(handed_on_, results_[handed_on_]);
  }

  const Tokenizer& tokenizer_;
  const std::vector<std::string>& texts_;
  const GenerationConfig& config_;
  const TranslateOptions& options_;
  std::vector<Translations> results_;
  std::vector<Piece> pieces_;
  std::vector<Request> requests_;
  std::vector<Translations> ready_;  // pieces of the text that is being put together
  size_t at_ = 0;                    // the piece whose translation comes next
  size_t handed_on_ = 0;             // texts
};

}  // namespace

std::vector<std::pair<size_t, size_t>> pieces_of(std::string_view text, const std::vector<Span>& tokens, int64_t most) {
  if (most == 0 || tokens.size() <= static_cast<size_t>(most)) return {{0, tokens.size()}};
  std::vector<std::pair<size_t, size_t>> pieces;
  size_t begin = 0, word = 0, sentence = 0;  // where the last word and sentence ended that fit into the piece
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > begin && tokens[i].begin > tokens[i - 1].end) {
      word = i;
      if (ends_sentence(text.substr(0, static_cast<size_t>(tokens[i - 1].end)))) sentence = i;
    }
    if (i - begin < static_cast<size_t>(most)) continue;
    const size_t end = sentence > begin ? sentence : word > begin ? word : i;
    pieces.emplace_back(begin, end);
    begin = end;
  }
  pieces.emplace_back(begin, tokens.size());
  return pieces;
}

std::vector<int64_t> source_ids(const Tokenizer& tokenizer, const Tokens& tokens) {
  std::vector<int64_t> ids = tokens.ids;
  ids.push_back(tokenizer.special().eos);
  return ids;
}

std::vector<Translations> translate(const Generator& model, const Tokenizer& tokenizer,
                                    const std::vector<std::string>& texts, const GenerationConfig& config,
                                    const TranslateOptions& options) {
  GenerationConfig limited = config;
  if (const int64_t most = model.longest() - 1; most > 0)  // its last position is the end's
    limited.piece_tokens = config.piece_tokens > 0 ? std::min(config.piece_tokens, most) : most;
  PieceByPiece pieces(tokenizer, texts, limited, options);
  generate(model, pieces.requests(), limited,
           {.attention = options.attention,
            .unknown = tokenizer.special().unk,
            .on_result = [&](size_t, const Hypotheses& hypotheses) { pieces.add(hypotheses); }});
  return pieces.finish();
}

}  // namespace fovea
