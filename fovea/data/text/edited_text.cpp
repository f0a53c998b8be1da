#include "fovea/data/text/edited_text.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {

EditedText::EditedText(std::string_view text, const std::vector<Edit>& edits) {
  const auto size = static_cast<int64_t>(text.size());
  int64_t at = 0;
  const auto add = [&](int64_t end, std::string_view with, bool replaced) {
    if (end == at && with.empty()) return;
    const auto begin = static_cast<int64_t>(text_.size());
    text_ += with;
    parts_.push_back({{at, end}, {begin, static_cast<int64_t>(text_.size())}, replaced});
    at = end;
  };
  for (const Edit& edit : edits) {
    require(edit.span.begin >= at && edit.span.end >= edit.span.begin && edit.span.end <= size,
            "text: found an edit of the bytes {} to {}, expected them behind {} and up to {}", edit.span.begin,
            edit.span.end, at, size);
    add(edit.span.begin, piece_of(text, {at, edit.span.begin}), false);
    add(edit.span.end, edit.text, true);
  }
  add(size, piece_of(text, {at, size}), false);
}

Span EditedText::mapped(Span span, bool back) const {
  const auto from = [&](const Part& p) { return back ? p.after : p.before; };
  const auto to = [&](const Part& p) { return back ? p.before : p.after; };
  if (parts_.empty()) return {};
  // Where a span begins is part of what stands behind it, where it ends of what stands before it.
  const auto first = std::ranges::find_if(parts_, [&](const Part& p) { return span.begin < from(p).end; });
  const Part& a = first == parts_.end() ? parts_.back() : *first;
  const int64_t begin = a.replaced                    ? (span.begin >= from(a).end ? to(a).end : to(a).begin)
                        : span.begin <= from(a).begin ? to(a).begin
                                                      : to(a).begin + std::min(span.begin, from(a).end) - from(a).begin;
  if (span.size() == 0) return {begin, begin};
  const auto last = std::ranges::find_if(parts_, [&](const Part& p) { return span.end <= from(p).end; });
  const Part& b = last == parts_.end() ? parts_.back() : *last;
  const int64_t end = b.replaced ? to(b).end : to(b).begin + std::min(span.end, from(b).end) - from(b).begin;
  return {begin, std::max(begin, end)};
}

std::vector<Span> EditedText::mapped_in_order(const std::vector<Span>& spans, bool back) const {
  std::vector<Span> result;
  int64_t behind = 0;
  for (Span span : spans) {
    Span s = mapped(span, back);
    s.begin = std::max(s.begin, behind), s.end = std::max(s.end, s.begin);
    behind = s.end;
    result.push_back(s);
  }
  return result;
}

}  // namespace fovea
