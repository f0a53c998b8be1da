// Documents as one stream of tokens, with the end of a text between them, cut into windows of a language model's context.
//
//   tokens t₀ … t₍N−1₎;  window k: t₍kS₎ … t₍kS+C₎       inputs are its first C tokens, what is to be predicted its last C
//
//   TokenStream stream(writer, tokenizer);   stream.add("To be, or not to be");
//   for (const StreamWindow& w : windows(stream.size(), {.context = 64})) stream.ids(w);
//
// With a stride S of the context C every token but the first is predicted once.
#pragma once

#include "fovea/data/text/tokenizer.h"
#include "fovea/models/abilities.h"

namespace fovea {

struct StreamWindow {
  int64_t begin = 0, end = 0;  // tokens of the stream
  int64_t fresh = 1;           // the first that no window before predicts
};

struct StreamWindowOptions {
  int64_t context = 0;
  int64_t stride = 0;  // 0: the context
};
std::vector<StreamWindow> windows(int64_t tokens, const StreamWindowOptions&);

class TokenStream final {
 public:
  TokenStream(const Generator& model, const Tokenizer& tokenizer) : model_(model), tokenizer_(tokenizer) {}

  void add(std::string_view document);  // as the model reads it when it is a prompt
  int64_t size() const { return static_cast<int64_t>(ids_.size()); }
  const std::vector<int64_t>& starts() const { return starts_; }  // of each document; its end belongs to it
  // Where the tokenizer puts a start before every text, a window has it in the place of its first token.
  std::vector<int64_t> ids(const StreamWindow&) const;

 private:
  const Generator& model_;
  const Tokenizer& tokenizer_;
  std::vector<int64_t> ids_, starts_;
};

}  // namespace fovea
