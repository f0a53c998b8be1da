#include "fovea/generate/careful_sentence.h"

#include <algorithm>

#include "fovea/data/text/number_forms.h"
#include "fovea/data/text/place_names.h"
#include "fovea/generate/letter_case.h"
#include "fovea/generate/word_links.h"

namespace fovea {
namespace {

// Bytes; what has more is no sentence, and looking for everything in it would take long.
constexpr size_t longest = 4000;

bool share_bytes(Span a, Span b) { return a.begin < b.end && b.begin < a.end; }

bool is_letter_at(std::string_view text, int64_t byte, bool before) {
  if (before ? byte <= 0 : byte >= static_cast<int64_t>(text.size())) return false;
  size_t begin = static_cast<size_t>(byte);
  if (before) do
      --begin;
    while (begin > 0 && (text[begin] & 0xC0) == 0x80);
  size_t end = begin + 1;
  while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
  const std::string_view one = text.substr(begin, end - begin);
  return invalid_utf8(one) == std::string_view::npos && is_word_character(code_points(one)[0].value);
}

// Where a text stands as whole words.
std::vector<Span> places_of(std::string_view text, std::string_view in) {
  std::vector<Span> places;
  for (size_t at = in.find(text); at != in.npos; at = in.find(text, at + 1)) {
    const Span span = {static_cast<int64_t>(at), static_cast<int64_t>(at + text.size())};
    const bool first = is_letter_at(text, 0, false), last = is_letter_at(text, static_cast<int64_t>(text.size()), true);
    if (!(first && is_letter_at(in, span.begin, true)) && !(last && is_letter_at(in, span.end, false)))
      places.push_back(span);
  }
  return places;
}

bool has_one_of(std::string_view text, const std::string& wanted, const std::vector<std::string>& others) {
  return !places_of(wanted, text).empty() ||
         std::ranges::any_of(others, [&](const std::string& o) { return !places_of(o, text).empty(); });
}

}  // namespace

CarefulSentence::CarefulSentence(std::string_view sentence, const Manner& manner)
    : sentence_(sentence), manner_(manner) {
  find_items();
  const bool names = std::ranges::any_of(items_, [](const Item& i) { return i.kind == Carrier::name; });
  const bool forms = std::ranges::any_of(items_, &Item::has_form);
  attempts_.push_back({false, false, 0, true});
  if (names) attempts_.push_back({false, forms, 0, false});
  for (size_t turn : {2, 1, 0})
    if (forms) attempts_.push_back({names, true, turn, false});
  if (std::ranges::any_of(items_, [](const Item& i) { return !i.plain.empty(); }))
    attempts_.push_back({names, false, 0, false, true});
  for (size_t turn : {2, 1, 0})
    if (!items_.empty() && (turn == 0 || !forms)) attempts_.push_back({names, false, turn, false});
  while (!attempts_.empty() && !prepare()) attempts_.pop_back();
}

void CarefulSentence::find_items() {
  if (sentence_.size() > longest) return;
  std::vector<Span> apart;
  const auto add = [&](Carrier::Kind kind, Span span, std::string text, std::vector<std::string> accepted = {},
                       std::string plain = {}) {
    if (std::ranges::any_of(apart, [&](Span s) { return share_bytes(s, span); })) return;
    items_.push_back({kind, span, std::move(text), std::move(accepted), std::move(plain)});
    apart.push_back(span);
  };
  for (const KeptText& kept : find_kept_text(sentence_)) {
    if (kept.kind == KeptText::word)
      add(Carrier::text, kept.span, std::string(piece_of(sentence_, kept.span)));
    else
      asides_.push_back(kept), apart.push_back(kept.span);
  }
  for (NumberForm& f : number_forms(sentence_, manner_.from, manner_.to)) {
    const Carrier::Kind kind = f.kind == NumberForm::date     ? Carrier::date
                               : f.kind == NumberForm::time   ? Carrier::time
                               : f.kind == NumberForm::amount ? Carrier::amount
                               : f.kind == NumberForm::decade ? Carrier::place
                                                              : Carrier::number;
    add(kind, f.span, f.text, f.accepted, f.plain);
  }
  for (PlaceName& p : place_names(sentence_, manner_.from, manner_.to)) add(Carrier::place, p.span, p.text, p.accepted);
  const Reader reader = {manner_.tokenizer, manner_.from};
  if (can_carry(Carrier::text))
    for (Span s : unknown_writing(sentence_, apart, reader)) add(Carrier::text, s, std::string(piece_of(sentence_, s)));
  if (can_carry(Carrier::text))
    for (Span s : unknown_abbreviations(sentence_, apart, reader))
      add(Carrier::name, s, std::string(piece_of(sentence_, s)));
  if (can_carry(Carrier::name))
    for (Span s : unknown_names(sentence_, apart, reader)) {
      TitledName name = with_title(sentence_, s, manner_.from, manner_.to);
      add(Carrier::name, name.span, std::move(name.text));
    }
  std::ranges::sort(items_, {}, [](const Item& i) { return i.span.begin; });
}

bool CarefulSentence::can_carry(Carrier::Kind kind) const {
  return std::ranges::any_of(manner_.carriers, [&](const Carrier& c) { return c.kind == kind; });
}

// Carriers of the kind, or of one that stands in for it, that the sentence does not have already.
bool CarefulSentence::assign(Item& item, std::vector<const Carrier*>& used, size_t& number) const {
  const auto candidates = [&](Carrier::Kind kind) {
    std::vector<const Carrier*> found;
    for (const Carrier& c : manner_.carriers)
      if (c.kind == kind && sentence_.find(c.source) == sentence_.npos) found.push_back(&c);
    return found;
  };
  std::vector<const Carrier*> all = candidates(item.kind);
  if (all.empty() && item.kind == Carrier::place) all = candidates(Carrier::name);
  if (all.empty() && (item.kind == Carrier::name || item.kind == Carrier::place)) all = candidates(Carrier::text);
  if (all.empty() && item.has_form()) all = candidates(Carrier::number);
  for (size_t i = 0; i < all.size(); ++i) {
    const Carrier* c = all[(attempts_.back().turn + number + i) % all.size()];
    const auto alike = [&](const Carrier* o) {
      return o->source.find(c->source) != o->source.npos || c->source.find(o->source) != c->source.npos;
    };
    if (std::ranges::any_of(used, alike)) continue;
    used.push_back(item.carrier = c), ++number;
    return true;
  }
  return false;
}

// Of an aside between two blanks one goes with it.
Edit CarefulSentence::without(const KeptText& aside) const {
  Span span = aside.span;
  if (aside.kind != KeptText::aside) return {span, ""};
  const auto blank = [&](int64_t i) {
    return i < 0 || i >= static_cast<int64_t>(sentence_.size()) || sentence_[static_cast<size_t>(i)] == ' ';
  };
  if (blank(span.begin - 1) && span.begin > 0)
    --span.begin;
  else if (span.begin == 0 && blank(span.end) && span.end < static_cast<int64_t>(sentence_.size()))
    ++span.end;
  return {span, ""};
}

bool CarefulSentence::prepare() {
  const Attempt& attempt = attempts_.back();
  std::vector<const Carrier*> used;
  std::vector<Edit> edits;
  std::vector<Span> apart;
  size_t number = 0;
  for (Item& item : items_) {
    item.carrier = nullptr;
    const bool carry = item.has_form() ? attempt.forms : item.kind == Carrier::name ? attempt.names : true;
    const bool found = carry && assign(item, used, number);
    if (item.kind == Carrier::text && !found) return false;
    if (found) edits.push_back({item.span, item.carrier->source});
    if (!found && attempt.plain && !item.plain.empty()) edits.push_back({item.span, item.plain});
    if (found || item.has_form()) apart.push_back(item.span);
  }
  for (const KeptText& aside : asides_) edits.push_back(without(aside)), apart.push_back(edits.back().span);
  std::ranges::sort(apart, {}, &Span::begin);
  tidied_ = tidy(sentence_, apart, {manner_.tokenizer, manner_.from});
  edits.insert(edits.end(), tidied_.edits.begin(), tidied_.edits.end());
  std::ranges::stable_sort(edits, {}, [](const Edit& e) { return std::pair(e.span.begin, e.span.end); });
  edited_ = EditedText(sentence_, edits);
  return true;
}

bool CarefulSentence::next_attempt() {
  if (!attempts_.empty()) attempts_.pop_back();
  while (!attempts_.empty() && !prepare()) attempts_.pop_back();
  return !attempts_.empty();
}

bool CarefulSentence::mends(const Translation& found) {
  if (mended_ || !can_carry(Carrier::name) || invalid_utf8(found.text) != std::string_view::npos) return false;
  if (sentence_.size() > longest || found.text.size() > longest) return false;
  std::vector<Span> apart;
  for (const Item& item : items_) apart.push_back(item.span);
  for (const KeptText& aside : asides_) apart.push_back(aside.span);
  const auto alike = look_alikes(sentence_, apart, found.text, {manner_.tokenizer, manner_.from});
  mended_ = alike.empty() || found.copied || looks_closer_;
  if (!mended_) return looks_closer_ = true;
  const size_t before = items_.size();
  for (const LookAlike& a : alike) {
    const bool copied =
        found.copied && std::ranges::any_of(*found.copied, [&](Span s) { return share_bytes(s, a.found); });
    const bool known = std::ranges::any_of(items_, [&](const Item& i) { return i.span == a.source; });
    if (copied && !known)
      items_.push_back({Carrier::name, a.source, std::string(piece_of(sentence_, a.source)), {}, {}, true});
  }
  if (items_.size() == before) return false;
  std::ranges::sort(items_, {}, [](const Item& i) { return i.span.begin; });
  const Attempt now = attempts_.back();
  for (size_t turn : {2, 1, 0}) attempts_.push_back({true, now.forms, turn, now.anyhow});
  while (!prepare()) attempts_.pop_back();
  return true;
}

// What the carriers stand for in their place; nothing if one is lost, or there more than once.
std::optional<std::vector<Edit>> CarefulSentence::carried_back(const std::string& found) const {
  std::vector<Edit> edits;
  for (const Item& item : items_) {
    if (!item.carrier) {
      if (item.has_form() && !attempts_.back().anyhow && !has_one_of(found, item.text, item.accepted)) return {};
      continue;
    }
    std::vector<Span> places;
    for (const std::string& target : item.carrier->targets)
      for (Span place : places_of(target, found))
        if (std::ranges::none_of(places, [&](Span p) { return share_bytes(p, place); })) places.push_back(place);
    if (places.size() != 1) return {};
    if (std::ranges::any_of(edits, [&](const Edit& e) { return share_bytes(e.span, places[0]); })) return {};
    edits.push_back({places[0], item.text});
  }
  std::ranges::sort(edits, {}, [](const Edit& e) { return e.span.begin; });
  return edits;
}

bool CarefulSentence::put_back_asides(const Translation& t, const std::vector<Span>& tokens,
                                      std::vector<Edit>& edits) const {
  if (asides_.empty()) return true;
  if (!t.attention) return false;
  const WordLinks links(edited_.text(), tokens, t);
  const std::vector<Edit> carried = edits;
  const auto insert = [&](int64_t at, std::string text, bool behind) {
    for (const Edit& e : carried)
      if (at > e.span.begin && at < e.span.end) at = behind ? e.span.end : e.span.begin;
    edits.push_back({{at, at}, std::move(text)});
  };
  std::vector<Span> open;
  for (const KeptText& aside : asides_) {
    const std::string text(piece_of(sentence_, aside.span));
    const Span place = edited_.edited(aside.span);
    if (aside.kind == KeptText::opening) {
      open.push_back(aside.span);
    } else if (aside.kind == KeptText::closing) {
      if (open.empty()) return false;
      const std::optional<Span> words = links.made_from({edited_.edited(open.back()).end, place.begin});
      if (!words) return false;
      insert(words->begin, std::string(piece_of(sentence_, open.back())), false), insert(words->end, text, true);
      open.pop_back();
    } else {
      const auto size = static_cast<int64_t>(t.text.size());
      const auto next = std::ranges::find_if(links.source(), [&](Span w) { return w.begin >= place.begin; });
      const bool first = next == links.source().begin(), last = next == links.source().end();
      const std::optional<Span> word =
          first || last ? std::nullopt : links.best_for(static_cast<size_t>(next - links.source().begin()) - 1);
      const bool tight = aside.span.begin > 0 && sentence_[static_cast<size_t>(aside.span.begin - 1)] != ' ';
      if (first)
        insert(0, text + " ", false);
      else
        insert(word ? word->end : size, (tight ? "" : " ") + text, true);
    }
  }
  return open.empty();
}

void CarefulSentence::set_capitals(Translation& t, const std::vector<Span>& tokens,
                                   const std::vector<Edit>& carried) const {
  const auto raise = [&](Span span) {
    const std::string capitals = in_capitals(piece_of(t.text, span));
    t.text.replace(static_cast<size_t>(span.begin), static_cast<size_t>(span.size()), capitals);
  };
  if (tidied_.capitals) {
    int64_t at = 0;
    for (const Edit& e : carried) raise({at, e.span.begin}), at = e.span.end;
    return raise({at, static_cast<int64_t>(t.text.size())});
  }
  if (tidied_.emphasised.empty() || !t.attention) return;
  const WordLinks links(edited_.text(), tokens, t);
  for (Span word : tidied_.emphasised) {
    const auto found = std::ranges::find(links.source(), edited_.edited(word));
    if (found == links.source().end()) continue;
    if (const std::optional<Span> made = links.best_for(static_cast<size_t>(found - links.source().begin())))
      raise(*made);
  }
}

std::optional<Translation> CarefulSentence::restored(const Translation& found, const std::vector<Span>& tokens) const {
  if (invalid_utf8(found.text) != std::string_view::npos) return found;
  std::optional<std::vector<Edit>> edits = carried_back(found.text);
  if (!edits) return {};
  Translation t = found;
  set_capitals(t, tokens, *edits);
  if (!put_back_asides(t, tokens, *edits)) return {};
  const auto end = static_cast<int64_t>(t.text.size());
  const bool stopped = t.text.ends_with('.') || t.text.ends_with('?') || t.text.ends_with('!');
  const bool free = std::ranges::none_of(*edits, [&](const Edit& e) { return e.span.size() > 0 && e.span.end == end; });
  if (tidied_.added_mark && stopped && !t.text.ends_with("..") && free) {
    for (Edit& e : *edits)
      if (e.span.begin == end) --e.span.begin, --e.span.end;
    edits->push_back({{end - 1, end}, ""});
  }
  std::ranges::stable_sort(*edits, {}, [](const Edit& e) { return std::pair(e.span.begin, e.span.end); });
  const EditedText restored(t.text, *edits);
  t.text = restored.text();
  t.tokens = restored.edited(found.tokens);
  if (t.copied) t.copied = restored.edited(*found.copied);
  for (Span& span : t.unsure) span = edited_.original(span);
  const bool lost = attempts_.back().anyhow && std::ranges::any_of(items_, [&](const Item& i) {
                      return i.has_form() && !has_one_of(t.text, i.text, i.accepted);
                    });
  if (t.unsure.empty())
    for (const Item& item : items_)
      if (item.broken) t.unsure.push_back(item.span);
  if (lost && t.unsure.empty()) t.unsure = {without_spaces(sentence_, {0, static_cast<int64_t>(sentence_.size())})};
  return t;
}

std::vector<Span> CarefulSentence::pieces() const {
  std::vector<Span> apart, all;
  for (const Item& item : items_)
    if (item.kind == Carrier::text) apart.push_back(item.span);
  for (const KeptText& aside : asides_) apart.push_back(aside.span);
  std::ranges::sort(apart, {}, &Span::begin);
  int64_t at = 0;
  const auto add = [&](Span span) {
    if (const Span s = without_spaces(sentence_, span); s.size() > 0) all.push_back(s);
  };
  for (Span span : apart) add({at, span.begin}), add(span), at = span.end;
  add({at, static_cast<int64_t>(sentence_.size())});
  return all;
}

}  // namespace fovea
