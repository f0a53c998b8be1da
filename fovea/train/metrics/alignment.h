// The alignment error rate (Och and Ney 2003) of word alignments A against sure links S and possible links P ⊇ S:
//
//   AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)     precision = |A ∩ P| / |A|     recall = |A ∩ S| / |S|
//
//   AlignmentScores scores = score_alignments({parse_gold_alignment("0-0 1-1 2p1", "")}, {parse_alignment("0-0 2-1", "")});
//   scores.error_rate();
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct Link {
  int64_t source = 0, target = 0;  // positions of words, from 0
  auto operator<=>(const Link&) const = default;
};
using Alignment = std::set<Link>;

struct GoldAlignment {
  Alignment sure, possible;  // the sure links are possible too
};

struct AlignmentScores {
  int64_t links = 0, sure = 0, links_sure = 0, links_possible = 0;  // |A|, |S|, |A ∩ S|, |A ∩ P|

  double error_rate() const;  // 0 if there are no links at all
  double precision() const;   // 1 without links
  double recall() const;      // 1 without sure links
  std::string text() const;
};

// Sums over all sentences. Links are compared as they are: both sides count words alike.
AlignmentScores score_alignments(const std::vector<GoldAlignment>& references,
                                 const std::vector<Alignment>& hypotheses);

// Pharaoh's "0-0 1-2"; in a gold alignment 1p2 (or 1?2) is a possible link. `where` names the line in errors.
Alignment parse_alignment(std::string_view line, std::string_view where);
GoldAlignment parse_gold_alignment(std::string_view line, std::string_view where);

}  // namespace fovea
