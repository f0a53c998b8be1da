// What a query sees and how an attention call is cut into pieces; shared by the forward and the backward kernels.
//
//   std::vector<SequenceSpan> sequences = sequences_of(attention);
//   KeyRange seen = visible_keys(attention, sequences[0], query);      // before any explicit mask
#pragma once

#include <algorithm>
#include <vector>

#include "fovea/kernels/attention.h"

namespace fovea::kernels {

inline constexpr float log2_e = 1.44269504088896340736f;
inline constexpr float additive_clamp = 21;  // e^{2·(21 + 21)} and its reciprocal are still ordinary numbers

struct KeyRange {
  int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};

// Keys that causality and the window leave to queries [first, last] together, counted from the sequence's first key;
// the ranges move to the right with the query.
inline KeyRange visible_keys(const Attention& a, const SequenceSpan& s, int64_t first, int64_t last) {
  int64_t shift = s.shift(), right = a.causal ? 0 : a.window_right;
  KeyRange r = {0, s.keys};
  if (a.window_left >= 0) r.begin = std::clamp<int64_t>(first + shift - a.window_left, 0, s.keys);
  if (right >= 0) r.end = std::clamp<int64_t>(last + shift + right + 1, 0, s.keys);
  return r.empty() ? KeyRange{} : r;
}
inline KeyRange visible_keys(const Attention& a, const SequenceSpan& s, int64_t query) {
  return visible_keys(a, s, query, query);
}

// One element of the explicit mask and of a bias of −∞.
inline bool unmasked(const Attention& a, int64_t sequence, int64_t head, int64_t query, int64_t key) {
  auto at = [&](const auto& g) { return g.data[sequence * g.batch + head * g.head + query * g.query + key * g.key]; };
  if (a.mask.data && !at(a.mask)) return false;
  return !a.bias.data || at(a.bias) != -std::numeric_limits<float>::infinity();
}

// What the products q·k are multiplied by: their scale, and for a softcap what its tanh takes (see tanh_of_exponent).
inline float score_factor(const Attention& a) {
  float scale = a.score == ScoreKind::dot ? a.scale : 1;
  return a.softcap > 0 ? scale * (2 * log2_e / a.softcap) : scale;
}

std::vector<SequenceSpan> sequences_of(const Attention&);

// Throws an Error for a call whose parts do not fit together.
void check(const Attention&, const char* where);

}  // namespace fovea::kernels
