#include "fovea/explain/alignment_heads.h"

#include <algorithm>
#include <map>

#include "fovea/explain/alignment.h"

namespace fovea {
namespace {

constexpr size_t most_heads = 8;
constexpr double worth = 0.001;  // what one more head must bring
constexpr double monotone_share = 0.5, taken_share = 0.8;

Alignment links_of(const std::vector<WordWeights>& all, const std::vector<size_t>& heads) {
  WordWeights sum = all[heads[0]];
  for (size_t h = 1; h < heads.size(); ++h)
    for (size_t i = 0; i < sum.weights.size(); ++i) sum.weights[i] += all[heads[h]].weights[i];
  return hard_alignment(sum);
}

// Kendall's τ of the target's words and the source's that they are linked to.
double monotonicity(const Alignment& links) {
  double sum = 0, pairs = 0;
  for (const Link& a : links)
    for (const Link& b : links) {
      if (a.target >= b.target) continue;
      sum += (b.source > a.source) - (b.source < a.source), ++pairs;
    }
  return pairs > 0 ? sum / pairs : 0;
}

double shared(const Alignment& a, const Alignment& b) {
  if (a.empty() || b.empty()) return 0;
  const auto both = std::count_if(a.begin(), a.end(), [&](const Link& link) { return b.contains(link); });
  return static_cast<double>(both) / static_cast<double>(std::max(a.size(), b.size()));
}

}  // namespace

void AlignmentHeadSearch::add(const Recording& seen, std::optional<GoldAlignment> gold) {
  Sentence sentence = {{}, std::move(gold)};
  std::vector<AlignmentHead> heads;
  int64_t layer = 0;
  for (const RecordedPlace& p : seen.places) {
    if (p.place.kind != Place::Kind::cross) continue;
    const RecordedSequence &target = seen.rows_of(p), &source = seen.columns_of(p);
    for (size_t n = 0; n < p.heads.size(); ++n) {
      heads.push_back({layer, p.heads[n]});
      if (sentences_.empty()) places_.push_back(p.place.path);
      sentence.weights.push_back(by_words({target.text, target.spans}, {source.text, source.spans}, p.part(n, {}, {})));
    }
    ++layer;
  }
  if (heads.empty())
    throw Error(Error::unsupported, "alignment heads: found a model of family '{}' without attention to a source",
                seen.family);
  if (sentences_.empty()) heads_ = heads;
  require(heads == heads_, "alignment heads: found recordings of different models, expected them of one");
  sentences_.push_back(std::move(sentence));
}

AlignmentScores AlignmentHeadSearch::score(const std::vector<size_t>& heads) const {
  std::vector<GoldAlignment> references;
  std::vector<Alignment> found;
  for (const Sentence& s : sentences_) {
    if (!s.gold) continue;
    references.push_back(*s.gold), found.push_back(links_of(s.weights, heads));
  }
  return score_alignments(references, found);
}

std::vector<size_t> AlignmentHeadSearch::numbers_of(const std::vector<AlignmentHead>& heads) const {
  std::vector<size_t> numbers;
  for (const AlignmentHead& h : heads) {
    const auto at = std::find(heads_.begin(), heads_.end(), h);
    require(at != heads_.end(), "alignment heads: found layer {}, head {}, which the model has not", h.layer, h.head);
    numbers.push_back(static_cast<size_t>(at - heads_.begin()));
  }
  return numbers;
}

AlignmentScores AlignmentHeadSearch::score(const std::vector<AlignmentHead>& heads) const {
  return score(numbers_of(heads));
}

std::vector<size_t> AlignmentHeadSearch::by_gold() const {
  std::vector<size_t> taken;
  double error = 1 + worth;
  while (taken.size() < most_heads) {
    std::vector<size_t> best;
    double least = error - worth;
    for (size_t h = 0; h < heads_.size(); ++h) {
      if (std::count(taken.begin(), taken.end(), h) > 0) continue;
      std::vector<size_t> more = taken;
      more.push_back(h);
      if (const double e = score(more).error_rate(); e < least) least = e, best = more;
    }
    if (best.empty()) break;
    taken = best, error = least;
  }
  return taken;
}

std::vector<size_t> AlignmentHeadSearch::by_agreement(const std::vector<FoundAlignmentHeads::Candidate>& all) const {
  const auto value = [&](size_t h) { return all[h].monotonicity * all[h].agreement; };
  double best = 0;
  for (size_t h = 0; h < all.size(); ++h) best = std::max(best, value(h));
  std::vector<size_t> taken;
  for (size_t h = 0; h < all.size(); ++h)
    if (value(h) > 0 && value(h) >= taken_share * best) taken.push_back(h);
  std::stable_sort(taken.begin(), taken.end(), [&](size_t a, size_t b) { return value(a) > value(b); });
  if (taken.size() > most_heads) taken.resize(most_heads);
  return taken;
}

FoundAlignmentHeads AlignmentHeadSearch::find() const {
  require(!sentences_.empty(), "alignment heads: found no sentences, expected some");
  FoundAlignmentHeads found;
  const auto count = static_cast<double>(sentences_.size());
  const bool gold =
      std::any_of(sentences_.begin(), sentences_.end(), [](const Sentence& s) { return s.gold.has_value(); });
  for (size_t h = 0; h < heads_.size(); ++h) {
    found.candidates.push_back({.head = heads_[h], .place = places_[h]});
    FoundAlignmentHeads::Candidate& c = found.candidates.back();
    for (const Sentence& s : sentences_) c.monotonicity += monotonicity(links_of(s.weights, {h})) / count;
    if (gold) c.scores = score(std::vector<size_t>{h});
  }
  double most = 0;
  for (const auto& c : found.candidates) most = std::max(most, c.monotonicity);
  for (size_t h = 0; h < heads_.size(); ++h) {
    double sum = 0, weight = 0;
    for (size_t o = 0; o < heads_.size(); ++o) {
      const double counts = found.candidates[o].monotonicity;
      if (o == h || counts < monotone_share * most || counts <= 0) continue;
      for (const Sentence& s : sentences_)
        sum += counts * shared(links_of(s.weights, {h}), links_of(s.weights, {o})) / count;
      weight += counts;
    }
    found.candidates[h].agreement = weight > 0 ? sum / weight : 1;  // of the only one
  }
  const std::vector<size_t> taken = gold ? by_gold() : by_agreement(found.candidates);
  for (size_t h : taken) found.heads.push_back(heads_[h]);
  if (!gold) return found;
  std::vector<size_t> last;
  for (size_t h = 0; h < heads_.size(); ++h)
    if (heads_[h].layer == heads_.back().layer) last.push_back(h);
  if (!taken.empty()) found.scores = score(taken);
  found.last_layer = score(last);
  return found;
}

}  // namespace fovea
