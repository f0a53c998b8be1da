// Tokens that are found in a text before anything else is done to it, such as "<|endoftext|>".
//
//   AddedTokens added({{.id = 50256, .content = "<|endoftext|>", .special = true}}, nullptr);
//   added.as_given().each_part(text, [&](int64_t id, size_t begin, size_t end) { … });     // id −1: what lies between
#pragma once

#include <functional>

#include "fovea/data/text/pretrained/normalizer.h"
#include "fovea/data/text/pretrained/vocabulary.h"

namespace fovea {

struct AddedToken {
  int64_t id = -1;
  std::string content;
  bool single_word = false;  // found only where no letter stands beside it
  bool lstrip = false;       // takes the white space before it in
  bool rstrip = false;       // … behind it
  bool normalized = false;   // looked for in the text after its normalisation
  bool special = false;      // decoding leaves it out
};

// Of several that begin at the same place the longest is found.
class TokenFinder final {
 public:
  void add(std::string_view content, const AddedToken& token);
  bool empty() const { return tokens_.empty(); }
  void each_part(std::string_view text, const std::function<void(int64_t id, size_t begin, size_t end)>& part) const;

 private:
  std::vector<AddedToken> tokens_;
  Trie trie_;
};

class AddedTokens final {
 public:
  AddedTokens() = default;
  AddedTokens(std::vector<AddedToken> tokens, const NormalizerPointer& normalizer, std::string_view where);

  const TokenFinder& as_given() const { return as_given_; }
  const TokenFinder& normalized() const { return normalized_; }
  const std::vector<AddedToken>& tokens() const { return tokens_; }  // as they are looked for

 private:
  std::vector<AddedToken> tokens_;
  TokenFinder as_given_, normalized_;
};

}  // namespace fovea
