#include "fovea/data/text/unknown_words.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// A token that is written as it is spelled, so that blanks stand around it as around an unknown one.
int64_t stand_in(const Tokenizer& tokenizer) {
  for (int64_t id = SpecialIds::count; id < tokenizer.size(); ++id) {
    const std::string piece = tokenizer.piece(id);
    const std::vector<int64_t> alone = {id};
    if (!piece.empty() && tokenizer.decode(alone) == piece && piece.find_first_of(" <") == std::string::npos) return id;
  }
  throw Error(Error::unsupported, "tokenizer: found no piece without marks, expected one where words are unknown");
}

}  // namespace

DecodedText decode_with_spans(const Tokenizer& tokenizer, const std::vector<int64_t>& ids) {
  DecodedText d = {tokenizer.decode(ids), {}};
  int64_t begin = 0;
  const int64_t size = static_cast<int64_t>(d.text.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto decoded = static_cast<int64_t>(tokenizer.decode(std::span(ids).first(i + 1)).size());
    const int64_t end = i + 1 == ids.size() ? size : std::clamp(decoded, begin, size);
    while (begin < end && d.text[static_cast<size_t>(begin)] == ' ') ++begin;
    d.spans.push_back({begin, end});
    begin = end;
  }
  return d;
}

std::vector<int64_t> UnknownWords::add(std::string_view text, const Tokens& tokens) {
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    if (tokens.ids[i] != tokenizer_->special().unk || tokens.spans[i].size() == 0) continue;
    const auto next = tokenizer_->size() + static_cast<int64_t>(words_.size());
    if (const auto [at, fresh] = ids_.emplace(piece_of(text, tokens.spans[i]), next); fresh)
      words_.push_back(at->first);
  }
  return find(text, tokens);
}

std::vector<int64_t> UnknownWords::find(std::string_view text, const Tokens& tokens) const {
  std::vector<int64_t> ids = tokens.ids;
  for (size_t i = 0; i < ids.size() && !ids_.empty(); ++i) {
    if (ids[i] != tokenizer_->special().unk) continue;
    if (const auto found = ids_.find(std::string(piece_of(text, tokens.spans[i]))); found != ids_.end())
      ids[i] = found->second;
  }
  return ids;
}

DecodedText UnknownWords::decode(const std::vector<int64_t>& ids) const {
  const int64_t first = tokenizer_->size();
  if (std::none_of(ids.begin(), ids.end(), [=](int64_t id) { return id >= first; }))
    return decode_with_spans(*tokenizer_, ids);
  std::vector<int64_t> known = ids;
  std::replace_if(
      known.begin(), known.end(), [=](int64_t id) { return id >= first; }, stand_in(*tokenizer_));
  const DecodedText plain = decode_with_spans(*tokenizer_, known);
  DecodedText d;
  int64_t before = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Span span = plain.spans[i];
    const int64_t number = ids[i] - first;
    require(number < static_cast<int64_t>(words_.size()), "unknown words: found number {} of {}", number,
            words_.size());
    d.text += piece_of(plain.text, {before, span.begin});
    const auto begin = static_cast<int64_t>(d.text.size());
    d.text += number < 0 ? piece_of(plain.text, span) : std::string_view(words_[static_cast<size_t>(number)]);
    d.spans.push_back({begin, static_cast<int64_t>(d.text.size())});
    before = span.end;
  }
  return d;
}

}  // namespace fovea
