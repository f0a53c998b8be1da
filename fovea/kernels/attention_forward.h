// How a forward call is cut: units that share keys, tasks that share scores. Internal to the attention kernels.
#pragma once

#include <atomic>
#include <vector>

#include "fovea/kernels/attention_plan.h"

namespace fovea::kernels {

// The keys and values of one (sequence, key head) as the tiles read them: in pages, or in one long page that is packed here, from
// pages where halves are read by many rows.
struct ForwardUnit {
  int64_t sequence = 0, key_head = 0;
  const float* const* pages = nullptr;
  int64_t page_tokens = 0;                 // a long page has no end
  int64_t first_key = 0, first_value = 0;  // where this head's panels and values begin in a page
  int64_t width = 0,
          value_stride = 0;  // floats of a key in a panel and of a value; on tiles words, 8 for 16 columns of a value
  bool halves = false;       // read from pages as they are
  const float *panels = nullptr, *values = nullptr;    // of the long page
  float *own_panels = nullptr, *own_values = nullptr;  // to be packed, or nothing
  int64_t column_stride = 0;                           // of own values on tiles: from 16 columns to the next 16
  uint8_t* odd = nullptr;  // per key block: V holds a NaN or an infinity; nothing: not known

  // The panel that begins with this key, and the value of a key.
  const float* panel_at(int64_t key) const {
    return panels ? panels + key * width : pages[key / page_tokens] + first_key + key % page_tokens * width;
  }
  const float* value_at(int64_t key) const {
    return values ? values + key * value_stride
                  : pages[key / page_tokens] + first_value + key % page_tokens * value_stride;
  }
  // How many of the values [begin, end) stand one after another.
  int64_t neighbours(int64_t begin, int64_t end) const {
    return values ? end - begin : std::min(end - begin, page_tokens - begin % page_tokens);
  }
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
  bool on_tiles = false;                  // in bf16: keys and values are words (attention_words-inl.h)
  bool halves = false;                    // in f16
  std::vector<int64_t> probe_slots = {};  // per query head, −1: not probed
  std::vector<std::atomic<int64_t>> mass_turn =
      {};                               // per (sequence, probed head): the query whose turn it is to add its mass
  std::vector<ForwardUnit> units = {};  // of the wave at work
  std::vector<ForwardTask> tasks = {};
};

// How the pages of a call are laid out.
inline PageLayout page_of(const Attention& a) {
  return {a.pages.tokens, a.shape.key_heads, a.shape.width, a.shape.value_width, a.pages.precision};
}

// Checks the probe, finds its heads and clears what no row will write.
void prepare_probe(ForwardJob&);

}  // namespace fovea::kernels
