// How a backward call is cut: units that share keys, their query heads, tasks of one key block. Internal to the
// kernels.
#pragma once

#include <atomic>
#include <vector>

#include "fovea/kernels/attention_plan.h"

namespace fovea::kernels {

// A query head of a unit as the tiles read it; rows are padded to whole vectors, groups are as in
// attention_panels-inl.h.
struct BackwardHead {
  int64_t head = 0;
  float *query_groups = nullptr, *gradient_groups = nullptr;  // scaled q, and d_out
  float *query_rows = nullptr, *gradient_rows = nullptr;
  float* d_query = nullptr;                      // the sums so far
  float *maximum = nullptr, *inverse = nullptr;  // of each row: P = exp(S − maximum) · inverse
  float* delta = nullptr;                        // D_i + selected_gradient_i
  int64_t first_turn = 0;                        // of its query blocks, in BackwardJob::turns
};

// The keys of one (sequence, key head) with some of its query heads.
struct BackwardUnit {
  int64_t sequence = 0, key_head = 0;
  bool first = true, last = true;  // of the waves that share d_k and d_v
  float *key_panels = nullptr, *value_panels = nullptr, *key_rows = nullptr;
  uint8_t* odd = nullptr;  // per key block: K holds a NaN or an infinity
  std::vector<BackwardHead> heads = {};
};

struct BackwardTask {
  int64_t unit = 0, block = 0;
  int64_t turn = 0;  // among the tasks of its key head, in which order they add to what all sequences share
};

struct BackwardJob {
  const Attention& attention;
  const AttentionGradients& gradients;
  std::vector<SequenceSpan> sequences;
  std::vector<BackwardUnit> units = {};  // of the wave at work
  std::vector<BackwardTask> tasks = {};
  std::vector<std::atomic<int64_t>> turns = {};  // per head and query block: how many key blocks have added to d_query
  std::vector<std::atomic<int64_t>> shared_turns = {};  // per key head
};

inline constexpr int64_t backward_keys = 128, backward_queries = 48;

// The key blocks that queries [first, last] of a sequence see.
inline KeyRange visible_blocks(const Attention& a, const SequenceSpan& s, int64_t first, int64_t last) {
  KeyRange keys = visible_keys(a, s, first, last);
  return keys.empty() ? KeyRange{} : KeyRange{keys.begin / backward_keys, (keys.end - 1) / backward_keys + 1};
}

}  // namespace fovea::kernels
