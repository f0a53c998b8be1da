#include "fovea/generate/by_sentences.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "fovea/base/threads.h"
#include "fovea/data/text/sentences.h"
#include "fovea/generate/careful_sentence.h"
#include "fovea/generate/joining.h"
#include "fovea/generate/known_letters.h"
#include "fovea/generate/piece_by_piece.h"

namespace fovea {
namespace {

bool has_a_letter(std::string_view text) {
  return std::ranges::any_of(code_points(text), [](const CodePoint& c) { return is_word_character(c.value); });
}

// A part of a text: a sentence, or what stays as it is.
struct Unit {
  Span span;
  std::optional<CarefulSentence> sentence = {};
  std::vector<Span> source = {};        // tokens, as bytes of the text, the end not counted
  std::vector<Translation> found = {};  // nothing as long as it is not known
};

class BySentences {
 public:
  BySentences(const Generator& model, const Tokenizer& tokenizer, const GenerationConfig& config,
              const TranslateOptions& options)
      : model_(model),
        tokenizer_(tokenizer),
        config_(config),
        options_(options),
        carriers_(parse_carriers(config.carriers)) {}

  void add(std::span<const std::string> texts) {
    const size_t before = texts_.size();
    for (const std::string& text : texts) texts_.push_back({&text, {}});
    parallel_for(static_cast<int64_t>(texts.size()), [&](int64_t i) {
      OfText& t = texts_[before + static_cast<size_t>(i)];
      t.units = units_of(*t.text);
    });
  }

  // One round of all units that are not translated yet. What is not right then waits for the next round, beside other texts.
  void attempt() {
    for (const bool attention : {false, true}) {
      std::vector<Unit*> open;
      std::vector<std::string> sources;
      for (OfText& t : texts_)
        for (Unit& u : t.units)
          if (u.found.empty() && attention == (options_.attention ||
                                               (u.sentence->needs_attention() && !model_.source_attention().empty())))
            open.push_back(&u), sources.push_back(u.sentence->text());
      if (open.empty()) continue;
      const auto results = translate_pieces(model_, tokenizer_, sources, config_, {.attention = attention});
      for (size_t i = 0; i < open.size(); ++i) restore(*open[i], results[i]);
    }
    for (OfText& t : texts_) cut_lost(*t.text, t.units);
  }

  // The next text, in their order, if it is done.
  std::optional<Translations> next() {
    if (texts_.empty() || !std::ranges::all_of(texts_.front().units, [](const Unit& u) { return !u.found.empty(); }))
      return {};
    Translations result = put_together(*texts_.front().text, texts_.front().units);
    texts_.pop_front();
    return result;
  }

  bool empty() const { return texts_.empty(); }

 private:
  struct OfText {
    const std::string* text;
    std::vector<Unit> units;
  };

  std::vector<Unit> units_of(const std::string& text) const {
    const Span whole = without_spaces(text, {0, static_cast<int64_t>(text.size())});
    std::vector<Unit> units;
    if (whole.size() == 0) return units;
    for (Span span : config_.piece_tokens > 0 ? split_sentences(text) : std::vector<Span>{whole})
      units.push_back(unit_of(text, span, false));
    return units;
  }

  Unit unit_of(const std::string& text, Span span, bool kept) const {
    Unit unit = {span};
    const std::string_view piece = piece_of(text, span);
    Tokens tokens = tokenizer_.encode(piece);
    if (kept || !has_a_letter(piece) || (config_.keep_wordless && !knows_a_letter(tokenizer_, piece, tokens))) {
      unit.source = offset(std::move(tokens.spans), span.begin);
      if (unit.source.empty()) unit.source = {span};
      unit.found = {kept_translation(text, unit.source, options_.attention)};
    } else {
      unit.sentence.emplace(
          piece, CarefulSentence::Manner{tokenizer_, config_.source_language, config_.target_language, carriers_});
    }
    return unit;
  }

  static std::vector<Span> offset(std::vector<Span> spans, int64_t by) {
    for (Span& s : spans) s.begin += by, s.end += by;
    return spans;
  }

  void restore(Unit& unit, const Translations& result) const {
    for (const Translation& t : result.found)
      if (std::optional<Translation> restored = unit.sentence->restored(t, result.source)) {
        for (Span& s : restored->unsure) s.begin += unit.span.begin, s.end += unit.span.begin;
        if (!options_.attention) restored->attention = {};
        unit.found.push_back(std::move(*restored));
      } else if (unit.found.empty()) {
        break;
      }
    if (unit.found.empty()) {
      if (!unit.sentence->next_attempt()) unit.sentence.reset();
      return;
    }
    if (unit.sentence->mends(result.found[0])) return unit.found.clear();
    unit.source = offset(unit.sentence->original(result.source), unit.span.begin);
    unit.source.pop_back();
  }

  // What has come through no attempt is cut: what is to be kept stands by itself.
  void cut_lost(const std::string& text, std::vector<Unit>& units) const {
    std::vector<Unit> all;
    for (Unit& u : units) {
      if (!u.found.empty() || u.sentence) {
        all.push_back(std::move(u));
        continue;
      }
      const CarefulSentence lost(piece_of(text, u.span),
                                 {tokenizer_, config_.source_language, config_.target_language, carriers_});
      const std::vector<KeptText> kept = find_kept_text(piece_of(text, u.span));
      for (Span s : lost.pieces()) {
        const bool stays = std::ranges::any_of(kept, [&](const KeptText& k) { return k.span == s; });
        all.push_back(unit_of(text, {u.span.begin + s.begin, u.span.begin + s.end}, stays));
      }
    }
    units = std::move(all);
  }

  Translations put_together(const std::string& text, std::vector<Unit>& units) const {
    Translations result;
    std::vector<JoinedPart> parts;
    for (size_t i = 0; i < units.size(); ++i) {
      JoinedPart part = {"", static_cast<int64_t>(units[i].source.size()), std::move(units[i].found)};
      if (i > 0) part.gap = std::string(piece_of(text, {units[i - 1].span.end, units[i].span.begin}));
      result.source.insert(result.source.end(), units[i].source.begin(), units[i].source.end());
      parts.push_back(std::move(part));
    }
    const auto size = static_cast<int64_t>(text.size());
    result.source.push_back({size, size});
    if (parts.empty())
      result.found.emplace_back();
    else
      result.found = join(std::move(parts), config_.length_penalty);
    return result;
  }

  const Generator& model_;
  const Tokenizer& tokenizer_;
  const GenerationConfig& config_;
  const TranslateOptions& options_;
  const std::vector<Carrier> carriers_;
  std::deque<OfText> texts_;  // that are not handed on yet
};

}  // namespace

std::vector<Translations> translate_by_sentences(const Generator& model, const Tokenizer& tokenizer,
                                                 const std::vector<std::string>& texts, const GenerationConfig& config,
                                                 const TranslateOptions& options) {
  // So many texts at a time: enough for full batches, and the first results come before the last text was looked at.
  const size_t together = 8 * static_cast<size_t>(config.batch_size);
  BySentences work(model, tokenizer, config, options);
  std::vector<Translations> all;
  for (size_t begin = 0; begin < texts.size() || !work.empty();) {
    const auto some = std::span(texts).subspan(begin, std::min(together, texts.size() - begin));
    begin += some.size();
    work.add(some);
    work.attempt();
    while (std::optional<Translations> t = work.next()) {
      if (options.on_result) options.on_result(all.size(), *t);
      all.push_back(std::move(*t));
    }
  }
  return all;
}

}  // namespace fovea
