#include "fovea/data/text/pretrained/added_tokens.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/data/text/pretrained/character_kinds.h"

namespace fovea {
namespace {

constexpr size_t longest_content = 1024;  // bytes: what is looked for at each place of a text

char32_t last_character(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && !begins_character(text[at])) --at;
  return character_at(text, at).value;
}

bool letter_before(std::string_view text, size_t at) {
  return at > 0 && is_letter_of_word(last_character(text.substr(0, at)));
}

bool letter_at(std::string_view text, size_t at) {
  return at < text.size() && is_letter_of_word(character_at(text, at).value);
}

size_t without_space_before(std::string_view text, size_t at, size_t least) {
  while (at > least) {
    size_t begin = at - 1;
    while (begin > 0 && !begins_character(text[begin])) --begin;
    if (begin < least || !is_white_space(character_at(text, begin).value)) break;
    at = begin;
  }
  return at;
}

size_t behind_space(std::string_view text, size_t at) {
  while (at < text.size()) {
    const auto [value, size] = character_at(text, at);
    if (!is_white_space(value)) break;
    at += size;
  }
  return at;
}

}  // namespace

void TokenFinder::add(std::string_view content, const AddedToken& token) {
  if (content.empty()) return;
  uint32_t node = 0;
  for (size_t i = 0; i < content.size() && node != Trie::none; ++i)
    node = trie_.next(node, static_cast<unsigned char>(content[i]));
  if (node != Trie::none && trie_.id(node) >= 0) return;  // the first one of the same content stays
  trie_.add(content, static_cast<int64_t>(tokens_.size()));
  tokens_.push_back(token);
}

void TokenFinder::each_part(std::string_view text, const std::function<void(int64_t, size_t, size_t)>& part) const {
  size_t done = 0;
  for (size_t at = 0; at < text.size() && !empty();) {
    size_t end = at;
    int64_t found = -1;
    uint32_t node = 0;
    for (size_t i = at; i < text.size();) {
      node = trie_.next(node, static_cast<unsigned char>(text[i++]));
      if (node == Trie::none) break;
      if (trie_.id(node) >= 0) found = trie_.id(node), end = i;
    }
    if (found < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(found)];
    size_t begin = at;
    at = end;
    if (token.single_word && (letter_before(text, begin) || letter_at(text, end))) continue;
    if (token.lstrip) begin = without_space_before(text, begin, std::min(done, begin));
    if (token.rstrip) end = behind_space(text, end);
    if (done < begin) part(-1, done, begin);
    part(token.id, begin, end);
    done = end;
  }
  if (done < text.size()) part(-1, done, text.size());
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const NormalizerPointer& normalizer, std::string_view where) {
  for (AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    check_utf8(token.content, where);
    if (token.content.size() > longest_content)
      throw Error(Error::unsupported, "{}: found an added token of {} bytes, expected at most {}", where,
                  token.content.size(), longest_content);
    if (!token.normalized) {
      as_given_.add(token.content, token);
    } else if (normalizer) {
      AlignedText content(token.content, 0);
      normalizer->apply(content);
      if (content.text().size() > longest_content)
        throw Error(Error::unsupported, "{}: found an added token of {} bytes, expected at most {}", where,
                    content.text().size(), longest_content);
      normalized_.add(content.text(), token);
      token.content = content.text();
    } else {
      normalized_.add(token.content, token);
    }
    tokens_.push_back(std::move(token));
  }
}

}  // namespace fovea
