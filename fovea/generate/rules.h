// Which tokens may come next, and what repetition costs: what Transformers calls logits processors.
//
//   Rules rules(config, special_ids);   rules.exclude(row, history, written);   // the others become −∞
#pragma once

#include <span>
#include <vector>

#include "fovea/data/text/special_ids.h"
#include "fovea/generate/config.h"

namespace fovea {

// Logits of tokens that occurred become smaller.
void penalise_repetition(std::span<float> logits, const std::vector<int64_t>& ids, double penalty);

// The tokens that would complete an n-gram for the second time.
std::vector<int64_t> repeating(const std::vector<int64_t>& ids, int64_t n);

class Rules final {
 public:
  Rules(const GenerationConfig&, const SpecialIds&);

  bool is_end(int64_t id) const;
  // Of a row of logits: what may not follow `history`, which is the prompt and the tokens written so far. Whatever is excluded, the
  // ends only are until there are `min_length` tokens.
  void exclude(std::span<float> row, const std::vector<int64_t>& history, int64_t written, int64_t min_length) const;
  const std::vector<int64_t>& ends() const { return ends_; }

 private:
  const GenerationConfig& config_;
  std::vector<int64_t> ends_, never_;
};

}  // namespace fovea
