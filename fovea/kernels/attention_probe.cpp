#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/kernels/attention_forward.h"

namespace fovea::kernels {
namespace {

// What stands for a row that its sequence does not have.
void clear_row(const AttentionProbe& p, int64_t row) {
  int64_t width = p.key_end - p.key_begin;
  if (p.weights) std::fill_n(p.weights + row * width, width, 0.0f);
  if (p.top_values) std::fill_n(p.top_values + row * p.top, p.top, 0.0f);
  if (p.top_keys) std::fill_n(p.top_keys + row * p.top, p.top, -1);
  if (p.argmax) p.argmax[row] = -1;
  if (p.entropy) p.entropy[row] = 0;
  if (p.sampled) p.sampled[row] = -1;
  if (p.log_probability) p.log_probability[row] = 0;
}

}  // namespace

void prepare_probe(ForwardJob& job) {
  const AttentionProbe& p = job.probe;
  if (p.heads.empty()) return;
  int64_t heads = p.heads.size(), sequences = job.sequences.size(), width = p.key_end - p.key_begin;
  require(p.key_begin >= 0 && width >= 0 && p.row_begin >= 0,
          "attention probe: found keys [{}, {}) and rows from {}, expected a range from 0 up", p.key_begin, p.key_end,
          p.row_begin);
  require(std::is_sorted(p.rows.begin(), p.rows.end()), "attention probe: found unsorted rows, expected rising ones");
  job.probe_slots.assign(job.attention.shape.heads, -1);
  for (int64_t i = 0; i < heads; ++i) {
    require(p.heads[i] >= 0 && p.heads[i] < job.attention.shape.heads,
            "attention probe: found head {}, expected 0 to {}", p.heads[i], job.attention.shape.heads - 1);
    job.probe_slots[p.heads[i]] = i;
  }
  int64_t rows = p.rows.empty() ? std::max<int64_t>(0, p.row_end - p.row_begin) : p.rows.size();
  for (int64_t s = 0; s < sequences; ++s) {
    for (int64_t r = 0; r < rows; ++r) {
      int64_t query = p.rows.empty() ? p.row_begin + r : p.rows[r];
      if (query < job.sequences[s].queries) continue;
      for (int64_t h = 0; h < heads; ++h) clear_row(p, (s * heads + h) * rows + r);
    }
  }
  if (!p.mass) return;
  std::fill_n(p.mass, sequences * heads * width, 0.0f);
  job.mass_turn = std::vector<std::atomic<int64_t>>(sequences * heads);
}

}  // namespace fovea::kernels
