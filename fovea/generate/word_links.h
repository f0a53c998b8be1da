// Which word of a translation was made from which word of its source, by what was looked at.
//
//   WordLinks links(source, source_tokens, translation);
//   links.made_from({4, 8});                           // the bytes of the translation's words that looked at these most
#pragma once

#include <optional>

#include "fovea/generate/translate.h"

namespace fovea {

// Runs of letters and digits, with the hyphens and apostrophes between them.
std::vector<Span> plain_words(std::string_view text);

class WordLinks final {
 public:
  WordLinks(std::string_view source, const std::vector<Span>& source_tokens, const Translation&);  // with its attention

  const std::vector<Span>& source() const { return source_; }
  const std::vector<Span>& target() const { return target_; }
  std::optional<Span> best_for(size_t source_word) const;  // the word of the target that looked at it most
  // From the first to the last word of the target that looked most at a word in these bytes of the source.
  std::optional<Span> made_from(Span source) const;

 private:
  double weight(size_t target, size_t source) const { return weights_[target * source_.size() + source]; }

  std::vector<Span> source_, target_;
  std::vector<double> weights_;  // [target words, source words]
};

}  // namespace fovea
