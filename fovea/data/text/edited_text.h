// A text with some of its bytes replaced, and where the bytes of the one stand in the other.
//
//   EditedText e("Write to a@b.org.", {{{9, 16}, "Tom"}});
//   e.text();                e.original({9, 12});       // "Write to Tom.", and the bytes of a@b.org
#pragma once

#include <string>
#include <vector>

#include "fovea/data/text/utf8.h"

namespace fovea {

struct Edit {
  Span span;
  std::string text;  // what stands in its place; nothing: it is left out
};

class EditedText final {
 public:
  EditedText() = default;
  EditedText(std::string_view text, const std::vector<Edit>& edits);  // in order, without overlaps; an Error otherwise

  const std::string& text() const { return text_; }

  // Part of a replacement stands for all that was replaced, and the other way round.
  Span original(Span edited) const { return mapped(edited, true); }
  Span edited(Span original) const { return mapped(original, false); }
  // The same of spans in order: of those that would share bytes the first gets them, the others are empty behind it.
  std::vector<Span> original(const std::vector<Span>& edited) const { return mapped_in_order(edited, true); }
  std::vector<Span> edited(const std::vector<Span>& original) const { return mapped_in_order(original, false); }

 private:
  struct Part {
    Span before, after;
    bool replaced;
  };
  Span mapped(Span span, bool back) const;
  std::vector<Span> mapped_in_order(const std::vector<Span>& spans, bool back) const;

  std::string text_;
  std::vector<Part> parts_;  // in order; together they cover both texts
};

}  // namespace fovea
