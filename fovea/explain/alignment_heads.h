// Which heads of a translator's attention to the source say what each word was made from.
//
//   AlignmentHeadSearch search;
//   for (…) search.add(record_pair(model, tokenizer, source, target), gold);       // or without gold
//   const FoundAlignmentHeads found = search.find();   found.heads;                // {{2, 0}, {2, 3}}: layer, head
//
// With gold alignments those are taken whose mean weights make the fewest errors (AER), one after another as long as each makes them
// fewer. Without: heads that go along with the words (monotonicity) and agree with the others that do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/explain/recording.h"
#include "fovea/explain/word_weights.h"
#include "fovea/models/alignment_head.h"
#include "fovea/train/metrics/alignment.h"

namespace fovea {

struct FoundAlignmentHeads {
  struct Candidate {
    AlignmentHead head;
    std::string place;
    double monotonicity = 0;  // Kendall's τ, the mean over sentences
    double agreement = 0;     // with the heads that go along with the words, each by how much it does
    std::optional<AlignmentScores> scores = {};  // with gold
  };
  std::vector<Candidate> candidates;
  std::vector<AlignmentHead> heads;
  std::optional<AlignmentScores> scores = {},
                                 last_layer = {};  // with gold: of their mean, and of the mean over the last layer
};

class AlignmentHeadSearch final {
 public:
  void add(const Recording&, std::optional<GoldAlignment> gold = {});
  FoundAlignmentHeads find() const;  // an Error if nothing with cross-attention was added

  // The error rate of the mean of these heads on what was added with gold.
  AlignmentScores score(const std::vector<AlignmentHead>&) const;

 private:
  struct Sentence {
    std::vector<WordWeights> weights;  // of each head
    std::optional<GoldAlignment> gold;
  };
  std::vector<size_t> numbers_of(const std::vector<AlignmentHead>&) const;
  AlignmentScores score(const std::vector<size_t>&) const;
  std::vector<size_t> by_gold() const;
  std::vector<size_t> by_agreement(const std::vector<FoundAlignmentHeads::Candidate>&) const;

  std::vector<AlignmentHead> heads_;
  std::vector<std::string> places_;
  std::vector<Sentence> sentences_;
};

}  // namespace fovea
