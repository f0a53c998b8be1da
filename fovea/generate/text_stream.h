// Text as it is written, token by token: what is handed on never changes again. No half characters, and nothing that may still turn
// into a stop string.
//
//   TextStream stream(tokenizer, prompt_ids, {"\n\n"});
//   for (int64_t id : ids) print(stream.add(id));   print(stream.finish());
#pragma once

#include <string>
#include <vector>

#include "fovea/data/text/tokenizer.h"

namespace fovea {

class TextStream final {
 public:
  // What stands before decides whether the first token begins with a space.
  TextStream(const Tokenizer&, const std::vector<int64_t>& before, std::vector<std::string> stops = {});

  std::string add(int64_t id);                               // what is new and certain
  std::string finish();                                      // the rest
  bool stopped() const { return stopped_; }                  // a stop string came: the text ends before it
  const std::string& text() const { return text_; }          // with what is not yet certain
  const std::vector<Span>& spans() const { return spans_; }  // the bytes of text() by which each token made it longer

 private:
  void take(const std::string& more);
  std::string certain(size_t end);

  const Tokenizer& tokenizer_;
  std::vector<std::string> stops_;
  std::vector<int64_t> ids_;  // those that the next ones are decoded with
  size_t settled_ = 0;        // how many of them have given their text
  std::string text_;
  std::vector<Span> spans_;
  size_t handed_on_ = 0;  // bytes
  bool stopped_ = false;
};

}  // namespace fovea
