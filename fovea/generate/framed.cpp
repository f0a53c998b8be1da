#include "fovea/generate/framed.h"

#include <algorithm>

#include "fovea/data/batches.h"

namespace fovea {
namespace {

void cut(Tokens& tokens, size_t size) { tokens.ids.resize(size), tokens.spans.resize(size); }

// Special tokens have no bytes, so the second text begins with the token behind the first text's that has some.
size_t second_begins(const Tokens& framed, size_t first_size) {
  size_t seen = 0;
  for (size_t i = 0; i < framed.spans.size(); ++i) {
    if (framed.spans[i].size() == 0) continue;
    if (seen++ == first_size) return i;
  }
  return framed.ids.size();
}

}  // namespace

Framed framed(const Tokenizer& tokenizer, Tokens text, std::optional<Tokens> second, int64_t longest) {
  const Tokens nothing;
  const size_t frame = tokenizer.frame(nothing, second ? &nothing : nullptr).ids.size();
  require(longest == 0 || longest > static_cast<int64_t>(frame), "text: found {} positions, expected more than {}",
          longest, frame);
  Framed result;
  const size_t most = longest == 0 ? SIZE_MAX : static_cast<size_t>(longest) - frame;
  while (text.ids.size() + (second ? second->ids.size() : 0) > most) {
    Tokens& longer = second && second->ids.size() > text.ids.size() ? *second : text;
    const size_t other = text.ids.size() + (second ? second->ids.size() : 0) - longer.ids.size();
    const size_t kept = std::max(other < most ? most - other : size_t{0}, std::min(longer.ids.size() - 1, other));
    result.unread += longer.ids.size() - kept;
    cut(longer, kept);
  }
  const size_t first_size = text.ids.size();
  result.tokens = tokenizer.frame(text, second ? &*second : nullptr);
  result.second = second ? second_begins(result.tokens, first_size) : result.tokens.ids.size();
  return result;
}

Framed framed(const Tokenizer& tokenizer, std::string_view text, std::optional<std::string_view> second,
              int64_t longest) {
  return framed(tokenizer, tokenizer.encode(text), second ? std::optional(tokenizer.encode(*second)) : std::nullopt,
                longest);
}

Source source_of(const std::vector<Framed>& texts, int64_t padding) {
  std::vector<Sequence> ids, types;
  for (const Framed& f : texts) {
    ids.push_back({.ids = f.tokens.ids});
    types.push_back({.ids = f.tokens.types});
    types.back().ids.resize(f.tokens.ids.size());
  }
  const Column column = collate(ids, std::max<int64_t>(0, padding));
  return {column.ids, column.lengths, collate(types).ids};
}

}  // namespace fovea
