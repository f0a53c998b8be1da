// How a forward call is cut: units that share keys, tasks that share scores. Internal to the attention kernels.
#pragma once

#include <atomic>
#include <vector>

#include "fovea/kernels/attention_plan.h"

namespace fovea::kernels {

// The keys and values of one (sequence, key head) as the tiles read them.
struct ForwardUnit {
  int64_t sequence = 0, key_head = 0;
  const float* panels = nullptr;
  const float* values = nullptr;
  int64_t value_stride = 0;
  float* own_panels = nullptr;  // to be packed, or nothing
  float* own_values = nullptr;
  uint8_t* odd = nullptr;  // per key block: V holds a NaN or an infinity; nothing: not known
};

// Rows of one unit: `heads` query heads from `head` on, each with `queries` queries from `query` on.
struct ForwardTask {
  int64_t unit = 0, head = 0, heads = 1, query = 0, queries = 0;
  int64_t rows() const { return heads * queries; }
};

struct ForwardJob {
  const Attention& attention;
  const AttentionOutput& result;
  const AttentionProbe& probe;
  std::vector<SequenceSpan> sequences;
  std::vector<int64_t> probe_slots = {};  // per query head, −1: not probed
  std::vector<std::atomic<int64_t>> mass_turn =
      {};                               // per (sequence, probed head): the query whose turn it is to add its mass
  std::vector<ForwardUnit> units = {};  // of the wave at work
  std::vector<ForwardTask> tasks = {};
};

// Checks the probe, finds its heads and clears what no row will write.
void prepare_probe(ForwardJob&);

}  // namespace fovea::kernels
